"""OVOS-CONTEXT-1 over the bus (ruling R6), and what nested utterances see (CONTEXT-1 §4.1, §5.3)."""

from __future__ import annotations

from typing import Any

import pytest

from flow.dialogue import NOON, in_dialogue
from flow.stage import MakeAssistant, claims, declines, matcher, turn_of
from hark.model import ContextEntry, Match, Message, Session
from hark.plugins import Round, Turn
from hark.spec import topics
from hark.testing import Assistant, settle


@pytest.fixture
def assistant(assistant: MakeAssistant) -> MakeAssistant:
    return in_dialogue(assistant)


def kept(hark: Assistant, session: str | None) -> dict[str, Any]:
    """What the session remembers after the last turn, as its keeper has it."""
    last = hark.runtime.store.current if session is None else turn_of(hark)[-1].session
    return dict(last.intent_context)


sessions = pytest.mark.parametrize("session", [None, "kitchen"])

# Ruling R6: three topics, private unless told otherwise, that end in the same place as direct changes.


@sessions
@pytest.mark.spec("CONTEXT-1/4.1.a")
async def test_a_handler_that_remembers_over_the_bus_remembers_as_one_that_does_it_itself(
    assistant: MakeAssistant, session: str | None
) -> None:
    def over_bus(turn: Turn) -> None:
        turn.emit(topics.CONTEXT_SET, {"key": "city", "value": "Rome", "turns": 1})
        turn.emit(topics.CONTEXT_SET, {"key": "land", "value": "Italy", "scope": "shared", "ttl_seconds": 60})

    def directly(turn: Turn) -> None:
        turn.remember("city", "Rome", turns=1)
        turn.remember("land", "Italy", shared=True, seconds=60)

    for handler in (over_bus, directly):
        seen: list[Any] = []
        async with assistant(declines(seen=seen), claims(handler=handler)) as hark:
            await hark.hears("hello", session=session)
            assert kept(hark, session) == {
                "claims:city": ContextEntry("Rome", None, 1),
                "land": ContextEntry("Italy", NOON + 60, None),
            }
            await hark.hears("again", session=session)
        assert [sorted(one.intent_context) for _, _, one in seen] == [[], ["claims:city", "land"]]


@sessions
async def test_a_handler_forgets_over_the_bus(assistant: MakeAssistant, session: str | None) -> None:
    def handler(turn: Turn) -> None:
        if turn.utterance == "set":
            turn.remember("a", "x")
            turn.remember("a", "y", shared=True)
            turn.remember("b", "z")
        elif turn.utterance == "unset":
            turn.emit(topics.CONTEXT_UNSET, {"key": "a"})
        else:
            turn.emit(topics.CONTEXT_CLEAR)

    async with assistant(claims(handler=handler)) as hark:
        await hark.hears("set", session=session)
        await hark.hears("unset", session=session)
        assert kept(hark, session).keys() == {"a", "claims:b"}
        await hark.hears("clear", session=session)
        assert kept(hark, session) == {}


@sessions
@pytest.mark.spec("CONTEXT-1/5.3.d")
async def test_what_comes_over_the_bus_and_what_a_handler_does_itself_do_not_undo_each_other(
    assistant: MakeAssistant, session: str | None
) -> None:
    async def handler(turn: Turn) -> None:
        turn.remember("own", "x")
        turn.emit(topics.CONTEXT_SET, {"key": "bus", "value": "y"})
        await turn.speak("hm")
        turn.emit(topics.CONTEXT_UNSET, {"key": "old", "scope": "shared"})
        turn.forget("older", shared=True)

    before = {"old": ContextEntry("x"), "older": ContextEntry("x"), "stays": ContextEntry("x")}
    async with assistant(claims(handler=handler)) as hark:
        await hark.hears("hello", session=Session(session or "default", intent_context=before))
        assert kept(hark, session).keys() == {"claims:own", "claims:bus", "stays"}


@pytest.mark.spec("CONTEXT-1/3.b")
async def test_an_entry_of_nobody_is_not_written_at_all(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    async with assistant() as hark:
        hark.bus.emit(Message(topics.CONTEXT_SET, {"key": "k", "skill_id": "somebody"}))
        await settle()
        assert hark.runtime.store.current.intent_context == {}
    assert "is missing or malformed" in caplog.text


async def test_the_topics_can_be_switched_off(assistant: MakeAssistant) -> None:
    def handler(turn: Turn) -> None:
        turn.emit(topics.CONTEXT_SET, {"key": "city"})

    async with assistant(claims(handler=handler), settings={"assistant": {"context_topics": False}}) as hark:
        await hark.hears("hello")
        assert hark.runtime.store.current.intent_context == {}


async def test_a_message_with_another_sessions_map_changes_nothing(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:
        await hark.hears("hello", session=Session("x", intent_context={"a": ContextEntry("x")}))
        data = {"key": "k", "scope": "shared"}
        hark.bus.emit(Message(topics.CONTEXT_SET, data, {"utterance_id": "no such turn"}, Session("x")))
        await settle()
        assert hark.runtime.store.current.intent_context == {}


@sessions
@pytest.mark.spec("CONTEXT-1/4.b")
@pytest.mark.spec("CONTEXT-1/5.b")
async def test_what_comes_during_a_round_is_for_the_next_one(assistant: MakeAssistant, session: str | None) -> None:
    seen: list[Any] = []

    async def match(utterances: Any, lang: str, session: Session, round: Round) -> None:
        if utterances[0] == "set":
            data = {"key": "k", "value": "v", "scope": "shared", "turns": 1}
            hark.bus.emit(round.message.forward(topics.CONTEXT_SET, data))
            await settle()

    async with assistant(matcher("m", match), declines(seen=seen)) as hark:
        await hark.hears("set", session=session)
        assert kept(hark, session) == {"k": ContextEntry("v", None, 1)}
        await hark.hears("look", session=session)
    assert [dict(one.intent_context) for _, _, one in seen] == [{}, {"k": ContextEntry("v", None, 1)}]


# Nested utterances (CONTEXT-1 §4.1): an utterance that comes while a handler is at work sees what it has shown.


def by_word(seen: list[Any], **handlers: Any) -> Any:
    def match(utterances: Any, lang: str, session: Session) -> Match | None:
        seen.append((utterances[0], {key: one.turns_remaining for key, one in session.intent_context.items()}))
        return Match("words", utterances[0], lang, utterances[0]) if utterances[0] in handlers else None

    return matcher("words", match, **handlers)


@sessions
@pytest.mark.spec("CONTEXT-1/5.3.c")
async def test_an_inner_round_sees_what_the_outer_handler_has_put_on_the_wire(
    assistant: MakeAssistant, session: str | None
) -> None:
    seen: list[Any] = []

    async def outer(turn: Turn) -> None:
        turn.remember("shown", "x", shared=True)
        await turn.speak("hm")
        turn.remember("held", "x", shared=True)
        await hark.clock.sleep(1.0)

    async with assistant(by_word(seen, outer=outer, inner=lambda turn: None)) as hark:
        hark.say("outer", session=session)
        await settle()
        await hark.hears("inner", session=session)
        assert seen[1] == ("inner", {"shown": None}), "and not what it keeps to itself"
        await hark.clock.advance(1.0)
        assert kept(hark, session).keys() == {"shown", "held"}


@sessions
@pytest.mark.spec("CONTEXT-1/4.d")
async def test_each_of_two_nested_rounds_counts_once_and_the_outer_end_brings_nothing_back(
    assistant: MakeAssistant, session: str | None
) -> None:
    async def outer(turn: Turn) -> str:
        return f"got {await turn.ask('well?')}"

    seen: list[Any] = []
    before = {"k": ContextEntry("x", None, 3), "gone": ContextEntry("x", None, 1)}
    async with assistant(by_word(seen, outer=outer)) as hark:
        await hark.hears("outer", session=Session(session or "default", intent_context=before))
        await hark.hears("yes", session=session)
        assert {key: one.turns_remaining for key, one in kept(hark, session).items()} == {"k": 1}
