"""OVOS-CONVERSE-1 §4: one poll for each utterance, and who wins it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flow.dialogue import NOON, chatty, dispatched, ids, in_dialogue, listed, stranger
from flow.stage import MakeAssistant, claims, outcomes, public, silent, skill, turn_of
from hark.builtin import Converse
from hark.bus import ask
from hark.model import Frozen, Handler, Message, Session
from hark.plugins import Turn
from hark.skills import MalformedIntent, Skill, intent
from hark.spec import topics
from hark.testing import Assistant, settle

WINDOW = Converse.Settings().window


@pytest.fixture
def assistant(assistant: MakeAssistant) -> MakeAssistant:
    return in_dialogue(assistant)


def pongs(hark: Assistant) -> dict[str, Any]:
    return {message.data["skill_id"]: message for message in hark.of(topics.CONVERSE_PONG)}


def answering(hark: Assistant, answer: Callable[[Message], None]) -> None:
    """Let somebody on the bus see the polls."""
    hark.bus.on(topics.CONVERSE_PING, answer, name="test")


def pong(hark: Assistant, ping: Message, skill_id: str = "a.skill", **data: Any) -> None:
    hark.bus.emit(ping.reply(topics.CONVERSE_PONG, {"skill_id": skill_id, **data}))


# §4.2: what goes over the bus.


@pytest.mark.spec("CONVERSE-1/4.1.g")
@pytest.mark.spec("CONVERSE-1/4.2.a")
@pytest.mark.spec("CONVERSE-1/4.2.b")
@pytest.mark.spec("CONVERSE-1/4.2.c")
@pytest.mark.spec("CONVERSE-1/4.2.d")
@pytest.mark.spec("CONVERSE-1/9.3.c")
async def test_one_ping_that_names_nobody_and_a_pong_from_each_that_names_itself(assistant: MakeAssistant) -> None:
    async with assistant(chatty("a.skill", False), chatty("b.skill", False), chatty("c.skill")) as hark:
        session = listed("a.skill", "b.skill")
        await hark.hears(["hello", "hallo"], session=session, context={"source": "kitchen"})
        [ping] = hark.of(topics.CONVERSE_PING)
        marker = turn_of(hark)[-1]
        assert ping.type == "ovos.converse.ping"
        assert ping.data == {"utterances": ("hello", "hallo"), "lang": "en-US"}
        assert (ping.session, ping.utterance_id) == (session, marker.utterance_id)
        assert ping.context["destination"] == "kitchen"
        assert {name: message.data["can_handle"] for name, message in pongs(hark).items()} == {
            "a.skill": False,
            "b.skill": False,
        }
        for message in pongs(hark).values():
            assert message.type == "ovos.converse.pong"
            assert (message.session_id, message.utterance_id) == ("x", marker.utterance_id)
            assert message.context["source"] == "kitchen", "a reply goes back where the ping came from"


@pytest.mark.spec("CONVERSE-1/4.2.e")
async def test_who_is_not_in_the_list_keeps_silent(assistant: MakeAssistant) -> None:
    async with assistant(chatty("a.skill"), chatty("b.skill"), skill("mute", go=silent)) as hark:
        session = Session("x", converse_handlers=(Handler("b.skill", NOON),))
        hark.bus.emit(Message(topics.CONVERSE_PING, {"utterances": ["hi"], "lang": "en-US"}, session=session))
        await settle()
        assert set(pongs(hark)) == {"b.skill"}


@pytest.mark.spec("CONVERSE-1/4.2.f")
@pytest.mark.spec("CONVERSE-1/4.2.g")
@pytest.mark.spec("CONVERSE-1/4.3.a")
@pytest.mark.spec("CONVERSE-1/4.3.c")
@pytest.mark.spec("CONVERSE-1/4.1.k")
@pytest.mark.spec("CONVERSE-1/5.2.c")
@pytest.mark.spec("CONVERSE-1/8.a")
@pytest.mark.spec("CONVERSE-1/9.3.a")
async def test_who_says_yes_looked_at_what_was_said_and_handles_it(assistant: MakeAssistant) -> None:
    asked: list[Any] = []

    def wants(utterances: Any, lang: str, session: Session) -> bool:
        asked.append((tuple(utterances), lang, session.session_id))
        return "forty" in utterances

    settings = {"assistant": {"langs": ["de-DE"]}}
    async with assistant(chatty("a.skill", wants), claims(), settings=settings) as hark:
        assert await hark.hears(["forty", "four tea"], lang="de-DE", session=listed("a.skill")) == [
            "a.skill heard forty"
        ]
        [dispatch] = hark.of("a.skill:converse")
        assert dispatch.data == {"lang": "de-DE", "utterance": "forty", "slots": {}}
        assert public(turn_of(hark))[2:] == [
            topics.INTENT_MATCHED,
            topics.HANDLER_START,
            "a.skill:converse",
            topics.UTTERANCE_SPEAK,
            topics.HANDLER_COMPLETE,
            topics.UTTERANCE_HANDLED,
        ]
        assert await hark.hears("fifty", session=listed("a.skill")) == ["fifty"], "somebody else's"
    assert asked == [(("forty", "four tea"), "de-DE", "x"), (("fifty",), "en-US", "x")]


@pytest.mark.spec("CONVERSE-1/4.2.h")
@pytest.mark.parametrize("wants", [True, False])
async def test_nothing_is_said_because_of_a_poll(assistant: MakeAssistant, wants: bool) -> None:
    async with assistant(chatty("a.skill", wants)) as hark:
        await hark.hears("hello", session=listed("a.skill", intent_context={"a.skill:k": {"value": "v"}}))
        turn = [message.type for message in turn_of(hark)]
        spoken = [place for place, topic in enumerate(turn) if topic == topics.UTTERANCE_SPEAK]
        assert spoken == ([turn.index("a.skill:converse") + 1] if wants else [])
        assert turn_of(hark)[-1].session.intent_context.keys() == {"a.skill:k"}


@pytest.mark.spec("CONVERSE-1/4.2.i")
@pytest.mark.spec("CONVERSE-1/4.2.l")
@pytest.mark.spec("CONVERSE-1/4.4.a")
async def test_whoever_has_nothing_to_say_says_so_at_once(assistant: MakeAssistant) -> None:
    def broken(utterances: Any, lang: str, session: Session) -> bool:
        raise ValueError("not today")

    plugins = (skill("mute", go=silent), chatty("no.skill", False), chatty("broken", broken))
    async with assistant(*plugins) as hark:
        await hark.hears("hello", session=listed("mute", "no.skill", "broken"))  # no time passes
        told = {name: dict(message.data) for name, message in pongs(hark).items()}
    assert told == {
        "mute": {"skill_id": "mute", "can_handle": False, "error_code": "done"},
        "no.skill": {"skill_id": "no.skill", "can_handle": False},
        "broken": {"skill_id": "broken", "can_handle": False, "error_code": "handler_error"},
    }


@pytest.mark.spec("CONVERSE-1/4.2.j")
@pytest.mark.spec("CONVERSE-1/4.2.o")
@pytest.mark.spec("CONVERSE-1/4.4.b")
@pytest.mark.parametrize("window", [None, 2.0])
async def test_a_silent_candidate_costs_one_window_and_counts_as_a_no(
    assistant: MakeAssistant, window: float | None
) -> None:
    settings = {} if window is None else {"plugins": {"converse": {"window": window}}}
    async with assistant(claims(), settings=settings) as hark:
        hearing = hark.say("hello", session=listed("silent.skill", "dumb.skill"))
        await hark.clock.advance((window or WINDOW) - 0.01)
        assert not hearing.over.is_set()
        await hark.clock.advance(0.01)
        assert hearing.spoken == ["hello"]
        assert all(message.data.get("error_code") != "timeout" for message in hark.messages)


@pytest.mark.spec("CONVERSE-1/4.2.k")
@pytest.mark.spec("CONVERSE-1/4.1.h")
async def test_nobody_waits_for_those_who_could_not_win_any_more(assistant: MakeAssistant) -> None:
    async with assistant(chatty("a.skill")) as hark:
        assert await hark.hears("hello", session=listed("a.skill", "silent.skill")) == ["a.skill heard hello"]


@pytest.mark.spec("CONVERSE-1/4.1.h")
@pytest.mark.spec("CONVERSE-1/4.2.u")
async def test_the_most_recent_wins_and_not_the_fastest(assistant: MakeAssistant) -> None:
    async def thinks(utterances: Any, lang: str, session: Session) -> bool:
        await hark.clock.sleep(0.4)
        return True

    async with assistant(chatty("slow.skill", thinks), chatty("fast.skill")) as hark:
        hearing = hark.say("hello", session=listed("slow.skill", "fast.skill"))
        await hark.clock.advance(0.4)
        assert hearing.spoken == ["slow.skill heard hello"]


@pytest.mark.spec("CONVERSE-1/4.1.h")
async def test_the_stamp_decides_and_between_equals_the_order_of_the_list(assistant: MakeAssistant) -> None:
    async with assistant(chatty("a.skill"), chatty("b.skill"), chatty("c.skill")) as hark:
        unsorted = (Handler("a.skill", NOON - 5), Handler("b.skill", NOON - 1), Handler("c.skill", NOON - 1))
        assert await hark.hears("hi", session=Session("x", converse_handlers=unsorted)) == ["b.skill heard hi"]


@pytest.mark.spec("CONVERSE-1/4.1.i")
@pytest.mark.spec("CONVERSE-1/4.1.j")
@pytest.mark.parametrize(
    "denial", [{"blacklisted_skills": ("a.skill", "silent.skill")}, {"blacklisted_intents": ("a.skill:converse",)}]
)
async def test_who_is_denied_neither_wins_nor_is_waited_for(assistant: MakeAssistant, denial: Any) -> None:
    names = ("a.skill", "silent.skill", "b.skill") if "blacklisted_skills" in denial else ("a.skill", "b.skill")
    async with assistant(chatty("a.skill"), chatty("b.skill")) as hark:
        assert await hark.hears("hello", session=listed(*names, **denial)) == ["b.skill heard hello"]
        assert ("converse", "claimed") in outcomes(hark, "match")


# §4.2: which answers count.


@pytest.mark.spec("CONVERSE-1/4.2.m")
async def test_an_answer_from_another_round_is_ignored(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:
        stranger(hark, {"a.skill": {"can_handle": False}})
        await hark.hears("one", session=listed("a.skill"))
        [old] = hark.of(topics.CONVERSE_PING)

        def replay(ping: Message) -> None:
            pong(hark, old, can_handle=True)
            other = ping.carrying(Session("y", converse_handlers=ping.session.converse_handlers))
            pong(hark, other, can_handle=True)

        answering(hark, replay)
        assert await hark.hears("two", session=listed("a.skill")) == ["two"]


@pytest.mark.spec("CONVERSE-1/4.2.n")
@pytest.mark.parametrize("data", [{}, {"can_handle": 1}, {"can_handle": "true"}, {"can_handle": None}])
async def test_anything_but_true_is_a_no(assistant: MakeAssistant, data: Any) -> None:
    async with assistant(claims()) as hark:
        stranger(hark, {"a.skill": data})
        assert await hark.hears("hello", session=listed("a.skill")) == ["hello"]


@pytest.mark.spec("CONVERSE-1/4.2.p")
@pytest.mark.spec("CONVERSE-1/4.2.v")
async def test_who_answers_is_told_by_the_answer_and_has_to_be_a_candidate(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:

        def answer(ping: Message) -> None:
            for skill_id in ("foreign.skill", 7, None):
                pong(hark, ping, skill_id, can_handle=True)  # type: ignore[arg-type]
            odd = ping.reply(topics.CONVERSE_PONG, {"skill_id": "b.skill", "can_handle": True})
            strange = Frozen(odd.context, source="nobody", skill_id="foreign.skill")
            hark.bus.emit(odd.within(strange, odd.session))

        answering(hark, answer)
        hark.say("hello", session=listed("a.skill", "b.skill"))
        await hark.clock.advance(WINDOW)
        assert dispatched(hark) == ["b.skill:converse"]


@pytest.mark.spec("CONVERSE-1/4.2.q")
@pytest.mark.spec("CONVERSE-1/5.4.d")
async def test_an_answer_after_the_window_comes_too_late_and_costs_no_place(assistant: MakeAssistant) -> None:
    async def thinks(utterances: Any, lang: str, session: Session) -> bool:
        await hark.clock.sleep(WINDOW + 0.1)
        return True

    async with assistant(chatty("a.skill", thinks)) as hark:
        hark.say("hello", session=listed("a.skill"))
        await hark.clock.advance(1.0)
        assert pongs(hark)["a.skill"].data["can_handle"] is True
        assert dispatched(hark) == []
        assert ids(turn_of(hark)[-1].session) == ["a.skill"]


@pytest.mark.spec("CONVERSE-1/4.2.r")
async def test_the_first_answer_of_a_candidate_counts(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:

        def answer(ping: Message) -> None:
            pong(hark, ping, can_handle=False)
            pong(hark, ping, can_handle=True)

        answering(hark, answer)
        hark.say("hello", session=listed("a.skill", "silent.skill"))
        await hark.clock.advance(WINDOW)
        assert dispatched(hark) == ["claims:go"]


# §4.4: codes.


@pytest.mark.spec("CONVERSE-1/4.4.c")
@pytest.mark.spec("CONVERSE-1/4.4.h")
async def test_who_is_done_leaves_the_list_with_the_claim_of_another(assistant: MakeAssistant) -> None:
    async with assistant(chatty("b.skill")) as hark:
        stranger(hark, {"a.skill": {"can_handle": False, "error_code": "done"}})
        assert await hark.hears("hello", session=listed("a.skill", "b.skill")) == ["b.skill heard hello"]
        assert ids(hark.of("b.skill:converse")[0].session) == ["b.skill"]


@pytest.mark.spec("CONVERSE-1/4.4.d")
async def test_a_round_nobody_claims_writes_nothing(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:
        stranger(hark, {"a.skill": {"can_handle": False, "error_code": "done"}})
        for _ in range(2):
            await hark.hears("hello", session=listed("a.skill"))
            assert ids(hark.of("claims:go")[-1].session) == ["claims", "a.skill"]
        assert len(hark.of(topics.CONVERSE_PING)) == 2, "asked again"


@pytest.mark.spec("CONVERSE-1/4.4.f")
@pytest.mark.spec("CONVERSE-1/4.4.h")
@pytest.mark.parametrize("code", ["x", "killed", "not_eligible", 7])
async def test_a_code_nobody_knows_is_a_plain_no(assistant: MakeAssistant, code: Any) -> None:
    async with assistant(chatty("b.skill")) as hark:
        stranger(hark, {"a.skill": {"can_handle": False, "error_code": code}})
        assert await hark.hears("hello", session=listed("a.skill", "b.skill")) == ["b.skill heard hello"]
        assert ids(turn_of(hark)[-1].session) == ["b.skill", "a.skill"]


@pytest.mark.spec("CONVERSE-1/4.4.e")
async def test_a_plugin_that_has_just_started_decides_as_one_that_has_not(assistant: MakeAssistant) -> None:
    async with assistant(chatty("a.skill"), chatty("b.skill")) as hark:
        session = listed("a.skill", "b.skill")
        first = await hark.hears("hello", session=session)
        for skill_id in ("a.skill", "b.skill"):  # what it has heard of them is forgotten
            hark.bus.emit(Message(topics.SKILL_LOADED, {"skill_id": skill_id, "capabilities": []}))
        for _ in range(3):
            await hark.hears("something else", session=listed("b.skill", session_id="y"))
        assert await hark.hears("hello", session=session) == first


# §4, §9: pure matcher, reserved names.


@pytest.mark.spec("CONVERSE-1/4.b")
@pytest.mark.spec("CONVERSE-1/4.c")
async def test_the_plugin_claims_for_others_and_calls_nobody_itself(
    assistant: MakeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with assistant(chatty("a.skill")) as hark:
        sent: list[str] = []

        def note(message: Message) -> None:
            sent.append(message.type)

        monkeypatch.setattr(hark.runtime.pipeline.get(Converse.id).plugin.host, "send", note)
        await hark.hears("hello", session=listed("a.skill"))
        assert sent == []
        [matched] = hark.of(topics.INTENT_MATCHED)
        assert (matched.data["skill_id"], matched.data["pipeline_id"]) == ("a.skill", Converse.id)
        assert dispatched(hark) == ["a.skill:converse"]
        hark.bus.emit(Message(f"{Converse.id}:converse", {"lang": "en-US", "utterance": "x", "slots": {}}))
        await settle()
        assert hark.of(topics.HANDLER_ACCEPTED)[1:] == []


@pytest.mark.spec("CONVERSE-1/9.1.a")
@pytest.mark.parametrize("intent_name", ["converse", "response"])
async def test_nobody_registers_an_intent_of_these_names(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture, intent_name: str
) -> None:
    async with assistant() as hark:
        data = {"skill_id": "a.skill", "intent_name": intent_name, "lang": "en-US", "samples": ["hello"]}
        hark.bus.emit(Message(topics.REGISTER_TEMPLATE, data))
        await settle()
        answer = await ask(hark.bus, hark.clock, Message(topics.INTENT_LIST))
        assert "a.skill" not in str(answer.data)
    assert intent_name in caplog.text


@pytest.mark.spec("CONVERSE-1/9.3.d")
@pytest.mark.parametrize("name", ["converse", "response"])
def test_a_skill_with_an_intent_of_these_names_is_a_mistake_of_its_author(name: str) -> None:
    def handler(self: Any, turn: Turn) -> None: ...

    handler.__name__ = name
    with pytest.raises(MalformedIntent, match=name):
        type("Bad", (Skill,), {"id": "bad.skill", "heard": intent("hello", name=name)(handler)})


# §7: beside intent context.


@pytest.mark.spec("CONVERSE-1/7.a")
@pytest.mark.spec("CONVERSE-1/7.b")
@pytest.mark.parametrize("waits", [None, "a.skill"])
async def test_context_is_counted_down_in_these_rounds_and_otherwise_left_alone(
    assistant: MakeAssistant, waits: str | None
) -> None:
    context = {"k": {"value": "v", "turns_remaining": 3}, "dead": {"value": "v", "turns_remaining": 0}}
    async with assistant(chatty("a.skill")) as hark:
        old = (Handler("a.skill", NOON), Handler("old.skill", NOON - 9_999))
        session = listed("a.skill", waits=waits).replace(intent_context=context, converse_handlers=old)
        hark.say("hello", session=session)
        await settle()
        after = turn_of(hark)[-1].session
    assert dispatched(hark) == [f"a.skill:{'response' if waits else 'converse'}"]
    assert {key: entry.turns_remaining for key, entry in after.intent_context.items()} == {"k": 2}
    assert ids(after) == ["a.skill"]
