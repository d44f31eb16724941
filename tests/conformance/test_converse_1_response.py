"""OVOS-CONVERSE-1 §2.2, §4.1, §5: a question, and the answer to it."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from flow.dialogue import NOON, asks, chatty, dispatched, ids, in_dialogue, listed
from flow.stage import MakeAssistant, claims, matcher, silent, skill, turn_of
from hark.model import Handler, Match, Message, ResponseMode, Session
from hark.plugins import Turn
from hark.spec import topics
from hark.testing import settle


@pytest.fixture
def assistant(assistant: MakeAssistant) -> MakeAssistant:
    return in_dialogue(assistant)


def by_word(**handlers: Any) -> Any:
    """A matcher with handlers that are called by their name."""

    def match(utterances: Any, lang: str, session: Session) -> Match | None:
        return Match("words", utterances[0], lang, utterances[0]) if utterances[0] in handlers else None

    return matcher("words", match, **handlers)


# §5.1: asking.


@pytest.mark.spec("CONVERSE-1/2.2.a")
@pytest.mark.spec("CONVERSE-1/2.2.c")
@pytest.mark.spec("CONVERSE-1/5.1.a")
@pytest.mark.spec("CONVERSE-1/5.1.b")
@pytest.mark.spec("CONVERSE-1/5.1.c")
@pytest.mark.spec("CONVERSE-1/5.1.d")
@pytest.mark.parametrize("session", [None, "kitchen"])
async def test_a_question_is_spoken_forward_with_the_microphone_and_who_waits(
    assistant: MakeAssistant, session: str | None
) -> None:
    async with assistant(claims(handler=asks("which one?", timeout=20.0))) as hark:
        routing = {"source": "kitchen-mic", "destination": "core"}
        assert await hark.hears("choose", session=session, context=routing) == ["which one?"]
        [dispatch], [speak] = hark.of("claims:go"), hark.of(topics.UTTERANCE_SPEAK)
        assert speak.data == {"utterance": "which one?", "lang": "en-US", "listen": True}
        assert speak.session.response_mode == ResponseMode("claims", NOON + 20)
        for key in ("source", "destination", "utterance_id", "skill_id"):
            assert speak.context[key] == dispatch.context[key]
        assert speak.context["destination"] == "kitchen-mic"
        await hark.hears("this one", session=session)


@pytest.mark.spec("CONVERSE-1/2.2.e")
@pytest.mark.spec("CONVERSE-1/2.2.f")
@pytest.mark.spec("CONVERSE-1/5.2.a")
@pytest.mark.spec("CONVERSE-1/5.2.b")
@pytest.mark.spec("CONVERSE-1/5.2.c")
@pytest.mark.spec("CONVERSE-1/5.2.g")
@pytest.mark.spec("CONVERSE-1/5.2.h")
@pytest.mark.spec("CONVERSE-1/5.2.i")
@pytest.mark.spec("CONVERSE-1/8.a")
@pytest.mark.spec("CONVERSE-1/9.3.b")
@pytest.mark.parametrize("session", [None, "kitchen"])
async def test_the_answer_is_a_turn_of_its_own_while_the_handler_waits_and_is_delivered_once(
    assistant: MakeAssistant, session: str | None
) -> None:
    async with assistant(by_word(choose=asks("which one?"), go=lambda turn: "gone")) as hark:
        await hark.hears("choose", session=session)
        assert hark.of(topics.UTTERANCE_HANDLED) == [], "the handler waits"
        assert await hark.hears(["go", "Joe"], session=session) == ["words got go"]
        [dispatch] = hark.of("words:response")
        assert dispatch.data == {"lang": "en-US", "utterance": "go", "slots": {}}
        assert dispatch.session.response_mode is None
        assert dispatch.session.active_handlers == hark.of("words:choose")[0].session.active_handlers
        outer, inner = hark.of("words:choose")[0].utterance_id, dispatch.utterance_id
        assert outer != inner
        assert {message.utterance_id for message in hark.of(topics.UTTERANCE_HANDLED)} == {outer, inner}
        assert all(message.session.response_mode is None for message in hark.of(topics.UTTERANCE_HANDLED))
        told = {topic for topic in hark.topics() if "response" in topic and not topic.endswith("list.response")}
        assert told == {"words:response"}, "the session alone tells of the question"
        assert await hark.hears("go", session=session) == ["gone"], "matched like any other"


@pytest.mark.spec("CONVERSE-1/5.1.f")
@pytest.mark.spec("CONVERSE-1/5.1.g")
@pytest.mark.spec("CONVERSE-1/5.1.i")
@pytest.mark.spec("CONVERSE-1/2.2.h")
@pytest.mark.parametrize("session", [None, "kitchen"])
async def test_a_question_that_lapses_is_the_handlers_own_affair(assistant: MakeAssistant, session: str | None) -> None:
    async with assistant(by_word(choose=asks(timeout=20.0), go=lambda turn: "gone")) as hark:
        first = hark.say("choose", session=session)
        await hark.clock.advance(19.9)
        seen = len(hark.topics())
        await hark.clock.advance(0.1)
        new = hark.topics()[seen:]
        assert first.spoken == ["which one?", "words got None"]
        assert set(new) == {topics.UTTERANCE_SPEAK, topics.HANDLER_COMPLETE, topics.UTTERANCE_HANDLED}
        assert await hark.hears("go", session=session) == ["gone"]


@pytest.mark.spec("CONVERSE-1/5.1.f")
async def test_nothing_happens_in_the_house_when_a_strangers_question_lapses(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:
        await hark.hears("hello", session=listed("claims", waits="b.skill", until=5.0))
        seen = len(hark.messages)
        await hark.clock.advance(600.0)
        assert hark.messages[seen:] == []


@pytest.mark.spec("CONVERSE-1/5.1.e")
@pytest.mark.spec("CONVERSE-1/5.3.a")
@pytest.mark.parametrize("session", [None, "kitchen"])
async def test_a_handler_calls_its_question_off(assistant: MakeAssistant, session: str | None) -> None:
    async def choose(turn: Turn) -> None:
        turn.session = turn.session.replace(response_mode=ResponseMode("words", NOON + 60))
        await turn.speak("which one?", listen=True)
        turn.session = turn.session.without("response_mode")
        await turn.speak("never mind")

    async with assistant(by_word(choose=choose, go=lambda turn: "gone")) as hark:
        assert await hark.hears("choose", session=session) == ["which one?", "never mind"]
        assert hark.of(topics.UTTERANCE_SPEAK)[1].session.response_mode is None
        assert await hark.hears("go", session=session) == ["gone"]


@pytest.mark.spec("CONVERSE-1/2.2.e")
@pytest.mark.spec("CONVERSE-1/5.1.a")
@pytest.mark.parametrize("session", [None, "kitchen"])
async def test_a_handler_may_return_and_be_answered_later(assistant: MakeAssistant, session: str | None) -> None:
    async with assistant(skill("silent", go=silent), claims()) as hark:
        mode = ResponseMode("claims", NOON + 60)
        hark.say("hello", session=listed("claims", session_id=session or "default").replace(response_mode=mode))
        await settle()
        assert dispatched(hark) == ["claims:response"], "set by nothing but the session"


@pytest.mark.spec("CONVERSE-1/5.2.f")
@pytest.mark.parametrize("session", [None, "kitchen"])
async def test_asking_again_opens_the_question_again(assistant: MakeAssistant, session: str | None) -> None:
    async def choose(turn: Turn) -> str:
        first = await turn.ask("who?")
        return f"{first} and {await turn.ask('who else?')}"

    async with assistant(by_word(choose=choose)) as hark:
        assert await hark.hears("choose", session=session) == ["who?"]
        assert await hark.hears("Ann", session=session) == ["who else?"]
        assert await hark.hears("Bob", session=session) == ["Ann and Bob"]
        modes = [m.session.response_mode for m in hark.of(topics.UTTERANCE_SPEAK)]
        assert modes[2] is None
        assert modes[0] != modes[1]


@pytest.mark.spec("CONVERSE-1/2.2.g")
@pytest.mark.parametrize("session", [None, "kitchen"])
async def test_who_asks_last_is_answered(assistant: MakeAssistant, session: str | None) -> None:
    async def interrupts(turn: Turn) -> str:
        return f"second got {await turn.ask('second?')}"

    async with assistant(by_word(choose=asks("first?", timeout=60.0)), skill("second", go=interrupts)) as hark:
        first = hark.say("choose", session=session)
        await settle()
        asked = hark.of(topics.UTTERANCE_SPEAK)[0].session
        call = Message("second:go", {"lang": "en-US", "utterance": "x", "slots": {}}, {}, asked)
        # Dispatched to somebody else in the same session, as another turn of it would.
        handlers = (Handler("second", NOON + 1), *asked.converse_handlers)
        mode = ResponseMode("second", NOON + 30)
        taken = asked.replace(converse_handlers=handlers, response_mode=mode)
        hark.bus.emit(call.carrying(taken))
        await settle()
        hark.say("answer", session=taken)
        await settle()
        assert dispatched(hark) == ["words:choose", "second:go", "second:response"]
        assert first.spoken == ["first?"], "nobody tells the first"


# §4.1: what comes first, and who may have it.


@pytest.mark.spec("CONVERSE-1/4.1.a")
@pytest.mark.spec("CONVERSE-1/4.1.c")
async def test_a_question_is_answered_without_a_poll(assistant: MakeAssistant) -> None:
    async with assistant(chatty("b.skill"), skill("a.skill", go=silent)) as hark:
        hark.say("yes", session=listed("b.skill", "a.skill", waits="a.skill"))
        await settle()
        assert dispatched(hark) == ["a.skill:response"]
        assert hark.of(topics.CONVERSE_PING) == []


@pytest.mark.spec("CONVERSE-1/2.2.d")
@pytest.mark.spec("CONVERSE-1/4.1.b")
@pytest.mark.spec("CONVERSE-1/4.1.d")
async def test_who_is_not_in_the_list_gets_no_answer_and_the_others_are_asked(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        async with assistant(chatty("b.skill"), skill("a.skill", go=silent)) as hark:
            assert await hark.hears("yes", session=listed("b.skill", waits="a.skill")) == ["b.skill heard yes"]
            assert dispatched(hark) == ["b.skill:converse"]
            assert turn_of(hark)[-1].session.response_mode is None
    assert "a.skill waits for an answer but may not receive it" in caplog.text


@pytest.mark.spec("CONVERSE-1/2.2.d")
@pytest.mark.parametrize("field", ["blacklisted_skills", "blacklisted_intents"])
async def test_who_is_denied_gets_no_answer(assistant: MakeAssistant, field: str) -> None:
    denied = {field: ("a.skill",) if field == "blacklisted_skills" else ("a.skill:response",)}
    async with assistant(claims(), skill("a.skill", go=silent)) as hark:
        assert await hark.hears("yes", session=listed("a.skill", waits="a.skill", **denied)) == ["yes"]


@pytest.mark.spec("CONVERSE-1/4.1.e")
@pytest.mark.spec("CONVERSE-1/2.2.h")
@pytest.mark.spec("CONVERSE-1/5.2.d")
async def test_a_question_that_is_over_is_nobodys_and_goes_with_the_next_claim(assistant: MakeAssistant) -> None:
    wants = ["b.skill heard yes"]
    async with assistant(chatty("b.skill", lambda utterances, *_: utterances[0] == "yes")) as hark:
        session = listed("b.skill", "a.skill", waits="a.skill", until=0.0)
        hark.say("no", session=session)
        await hark.clock.advance(0.5)
        after = turn_of(hark)[-1].session
        assert after.response_mode == session.response_mode, "nobody claimed: nothing may be written"
        hearing = hark.say("yes", session=after)
        await hark.clock.advance(0.5)
        assert hearing.spoken == wants
        assert turn_of(hark)[-1].session.response_mode is None
        assert dispatched(hark) == ["b.skill:converse"]


@pytest.mark.spec("CONVERSE-1/5.1.g")
async def test_the_clock_of_the_house_decides_whether_a_question_is_over(assistant: MakeAssistant) -> None:
    async with assistant(claims(), skill("a.skill", go=silent)) as hark:
        session = listed("a.skill", waits="a.skill", until=10.0)
        await hark.clock.advance(9.9)
        hark.say("one", session=session)
        await settle()
        await hark.clock.advance(0.1)
        hark.say("two", session=session)
        await settle()
        assert dispatched(hark) == ["a.skill:response", "claims:go"]


@pytest.mark.spec("CONVERSE-1/3.1.a")
@pytest.mark.spec("CONVERSE-1/3.1.f")
async def test_an_answer_stamps_the_list_but_not_the_active_handlers(assistant: MakeAssistant) -> None:
    async with assistant(skill("a.skill", go=silent)) as hark:
        hark.say("yes", session=listed("b.skill", "a.skill", waits="a.skill"))
        await settle()
        [dispatch] = hark.of("a.skill:response")
        assert ids(dispatch.session) == ["a.skill", "b.skill"]
        assert dispatch.session.active_handlers == ()
