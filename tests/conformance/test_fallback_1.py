"""OVOS-FALLBACK-1: who takes what nobody understood, and in which order they are asked."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from flow.polling import Outsider, dispatched, heard, ids, last_dispatch, with_all_stages
from flow.stage import MakeAssistant, claims, outcomes, silent, turn_of
from hark.app.settings import settings_from
from hark.builtin.fallback import Fallback
from hark.bus import ask
from hark.model import Message, Session
from hark.plugins import Plugin, Turn, fallback
from hark.skills import MalformedIntent, Skill, intent
from hark.spec import topics
from hark.testing import Assistant, settle

RANGES = {
    "assistant": {"pipeline": ["high", "medium", "low"]},
    "pipeline": {
        "high": {"plugin": "fallback", "max": 49},
        "medium": {"plugin": "fallback", "min": 50, "max": 74},
        "low": {"plugin": "fallback", "min": 75},
    },
}


@pytest.fixture
def assistant(assistant: MakeAssistant) -> MakeAssistant:
    return with_all_stages(assistant)


def says_so(turn: Turn) -> str:
    return f"{turn.skill_id}: {turn.utterance}"


def takes(
    skill_id: str, priority: int = 50, *, wants: bool | Callable[..., Any] | None = None, handler: Any = says_so
) -> Plugin:
    """A fallback skill; `wants` decides, or is the decision, or is left out."""
    when = (lambda *_said: wants) if isinstance(wants, bool) else wants

    def handle(self: Skill, turn: Turn) -> Any:
        return handler(turn)

    async def handle_later(self: Skill, turn: Turn) -> Any:
        return await handler(turn)

    chosen = handle_later if asyncio.iscoroutinefunction(handler) else handle
    members = {"id": skill_id, "quick": True, "try_it": fallback(priority, when=when)(chosen)}
    made: Plugin = type("MadeFallback", (Skill,), members)()
    return made


def register(
    hark: Assistant,
    skill_id: Any,
    priority: Any = 50,
    session: Session | None = None,
    context: dict[str, Any] | None = None,
) -> None:
    """As a skill elsewhere would."""
    hark.bus.emit(
        Message(topics.FALLBACK_REGISTER, {"skill_id": skill_id, "priority": priority}, context or {}, session)
    )


def deregister(hark: Assistant, skill_id: Any, session: Session | None = None, **data: Any) -> None:
    hark.bus.emit(Message(topics.FALLBACK_DEREGISTER, {"skill_id": skill_id, **data}, session=session))


async def pool(hark: Assistant, session: Session | str = "x") -> list[str]:
    """Who would be asked in a session, in order."""
    found = Session(session) if isinstance(session, str) else session
    query = Message(topics.pipeline_intents_list("fallback"), session=found)
    answer = await ask(hark.bus, hark.clock, query)
    return [one["skill_id"] for one in answer.data["intents"]]


# §2: the role.


@pytest.mark.spec("FALLBACK-1/2.a")
@pytest.mark.spec("FALLBACK-1/2.b")
@pytest.mark.spec("FALLBACK-1/6.3.a")
@pytest.mark.spec("FALLBACK-1/7.a")
@pytest.mark.spec("FALLBACK-1/7.d")
@pytest.mark.spec("FALLBACK-1/8.2.c")
async def test_what_nobody_claimed_goes_to_a_skill_that_takes_such_things(assistant: MakeAssistant) -> None:
    async with assistant(takes("one")) as hark:
        assert await hark.hears(["mumble", "grumble"], session=Session("x")) == ["one: mumble"]
        dispatch = last_dispatch(hark)
        assert dispatch.type == "one:fallback"
        assert dispatch.data == {"lang": "en-US", "utterance": "mumble", "slots": {}}
        assert (dispatch.context["skill_id"], dispatch.context["pipeline_id"]) == ("one", "fallback")
        seen = [m.type for m in turn_of(hark)]
        trio = [topics.INTENT_MATCHED, topics.HANDLER_START, "one:fallback", topics.UTTERANCE_SPEAK]
        assert [topic for topic in seen if topic in (*trio, topics.HANDLER_COMPLETE)] == [
            *trio,
            topics.HANDLER_COMPLETE,
        ]


async def test_who_claims_earlier_leaves_nothing_to_it(assistant: MakeAssistant) -> None:
    async with assistant(claims(), takes("one")) as hark:
        assert await hark.hears("mumble") == ["mumble"]
        assert hark.of(topics.FALLBACK_PING) == []


# §3: registration.


@pytest.mark.spec("FALLBACK-1/3.1.a")
@pytest.mark.spec("FALLBACK-1/3.1.b")
@pytest.mark.spec("FALLBACK-1/10.a")
async def test_a_skill_registers_itself_with_its_id_and_its_first_priority(assistant: MakeAssistant) -> None:
    class Two(Skill):
        id = "two"

        @fallback(80)
        def late(self, turn: Turn) -> None: ...

        @fallback(20)
        def early(self, turn: Turn) -> None: ...

    async with assistant(Two()) as hark:
        sent = {tuple(sorted(message.data.items())) for message in hark.of(topics.FALLBACK_REGISTER)}
        assert sent == {(("priority", 20), ("skill_id", "two"))}
        assert await pool(hark) == ["two"]


@pytest.mark.spec("FALLBACK-1/10.a")
@pytest.mark.spec("FALLBACK-1/6.1.g")
async def test_who_is_not_registered_is_not_called_whatever_it_answers(assistant: MakeAssistant) -> None:
    async with assistant(takes("one", wants=False)) as hark:
        Outsider(hark, "eager").pongs(topics.FALLBACK_PING).takes("fallback")
        await heard(hark, "mumble")
        assert dispatched(hark) == []


@pytest.mark.spec("FALLBACK-1/3.1.c")
async def test_registering_again_replaces_the_priority(assistant: MakeAssistant) -> None:
    async with assistant() as hark:
        register(hark, "a", 10)
        register(hark, "b", 50)
        assert await pool(hark) == ["a", "b"]
        register(hark, "a", 80)
        assert await pool(hark) == ["b", "a"]


@pytest.mark.parametrize("context", [{}, {"skill_id": "somebody.else"}], ids=["nobody", "somebody else"])
async def test_whoever_sends_it_the_payload_says_whom_it_is_about(
    assistant: MakeAssistant, context: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    async with assistant() as hark:
        with caplog.at_level(logging.INFO):
            register(hark, "a", context=context)
            assert await pool(hark) == ["a"]
            hark.bus.emit(Message(topics.FALLBACK_DEREGISTER, {"skill_id": "a"}, context))
            assert await pool(hark) == []
        assert "somebody" not in caplog.text


@pytest.mark.spec("FALLBACK-1/3.1.e")
@pytest.mark.parametrize(
    "data",
    [
        {"priority": 5},
        {"skill_id": "a"},
        {"skill_id": 7, "priority": 5},
        {"skill_id": "", "priority": 5},
        {"skill_id": "a:b", "priority": 5},
        {"skill_id": "a", "priority": "5"},
        {"skill_id": "a", "priority": 5.5},
        {"skill_id": "a", "priority": True},
        {"skill_id": "a", "priority": None},
    ],
    ids=str,
)
async def test_a_malformed_registration_is_refused_and_logged(
    assistant: MakeAssistant, data: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    async with assistant() as hark:
        hark.bus.emit(Message(topics.FALLBACK_REGISTER, data))
        assert await pool(hark) == []
    assert [record.levelname for record in caplog.records if topics.FALLBACK_REGISTER in record.getMessage()] == [
        "WARNING"
    ]


@pytest.mark.spec("FALLBACK-1/3.2.a")
async def test_who_deregisters_is_not_asked_any_more(assistant: MakeAssistant) -> None:
    async with assistant() as hark:
        Outsider(hark, "a").pongs(topics.FALLBACK_PING).takes("fallback")
        register(hark, "a")
        await heard(hark, "mumble")
        deregister(hark, "a")
        await heard(hark, "mumble")
        assert dispatched(hark) == ["a:fallback"]
        assert len(hark.of(topics.FALLBACK_PING)) == 1


async def test_a_skill_that_is_unloaded_is_not_asked_any_more(assistant: MakeAssistant) -> None:
    async with assistant() as hark:
        register(hark, "a")
        hark.bus.emit(Message(topics.SKILL_DEREGISTER, {"skill_id": "a"}))
        assert await pool(hark) == []


@pytest.mark.spec("FALLBACK-1/3.2.b")
async def test_to_deregister_who_is_not_there_changes_nothing(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    async with assistant() as hark:
        register(hark, "a")
        caplog.clear()
        for unknown in ("b", None, 7):
            deregister(hark, unknown)
        assert await pool(hark) == ["a"]
    assert [record for record in caplog.records if record.levelno > logging.DEBUG and "fallback" in record.name] == []


@pytest.mark.spec("FALLBACK-1/3.2.c")
@pytest.mark.spec("FALLBACK-1/3.2.d")
async def test_what_was_registered_for_a_session_is_taken_back_in_that_session_alone(assistant: MakeAssistant) -> None:
    async with assistant() as hark:
        register(hark, "a")
        register(hark, "a", session=Session("x"))
        deregister(hark, "a", session_id="x")
        assert (await pool(hark, "x"), await pool(hark, "y")) == (["a"], [])
        register(hark, "a")
        deregister(hark, "a", Session("x"))
        assert (await pool(hark, "x"), await pool(hark, "y")) == (["a"], ["a"])


@pytest.mark.spec("FALLBACK-1/3.3.a")
@pytest.mark.parametrize("priorities", [(1, 2), (10, 90), (-5, 3_000)])
async def test_a_priority_is_a_place_in_an_order_and_nothing_else(
    assistant: MakeAssistant, priorities: tuple[int, int]
) -> None:
    async with assistant() as hark:
        register(hark, "second", priorities[1])
        register(hark, "first", priorities[0])
        assert await pool(hark) == ["first", "second"]


@pytest.mark.spec("FALLBACK-1/3.4.a")
@pytest.mark.spec("FALLBACK-1/3.4.b")
async def test_a_session_has_what_everybody_has_and_its_own(assistant: MakeAssistant) -> None:
    async with assistant() as hark:
        register(hark, "all", 50)
        register(hark, "own", 10, Session("x"))
        register(hark, "all", 5, Session("z"))
        register(hark, "other", 7, Session("z"))
        assert await pool(hark, "x") == ["own", "all"]
        assert await pool(hark, "y") == ["all"]
        assert await pool(hark, "z") == ["all", "other"]
        assert await pool(hark, "default") == ["all"]


@pytest.mark.spec("FALLBACK-1/3.4.c")
async def test_nobody_answers_for_the_registry(assistant: MakeAssistant) -> None:
    async with assistant(takes("one")) as hark:
        await settle()  # what is announced at the start may still be on its way
        before = len(hark.messages)
        for topic in ("ovos.fallback.list", "ovos.fallback.get", "ovos.fallback.manifest"):
            hark.bus.emit(Message(topic))
        await settle()
        assert len(hark.messages) == before + 3


# §4, §5: the pool.


@pytest.mark.spec("FALLBACK-1/4.a")
@pytest.mark.spec("FALLBACK-1/4.b")
@pytest.mark.spec("FALLBACK-1/4.c")
@pytest.mark.spec("FALLBACK-1/5.h")
@pytest.mark.parametrize(
    ("wanted", "first"),
    [
        (None, "a"),
        ([], "a"),
        (["c", "b", "a"], "c"),
        (["b"], "b"),
        (["nobody", "b", "b"], "b"),
    ],
    ids=str,
)
async def test_what_the_session_prefers_comes_first_and_then_the_priorities(
    assistant: MakeAssistant, wanted: list[str] | None, first: str
) -> None:
    preference = {} if wanted is None else {"fallback_handlers": wanted}
    async with assistant(takes("c", 30), takes("a", 10), takes("b", 20)) as hark:
        assert await hark.hears("mumble", session=Session("x", **preference)) == [f"{first}: mumble"]


@pytest.mark.spec("FALLBACK-1/5.a")
async def test_the_pool_is_made_anew_for_every_utterance(assistant: MakeAssistant) -> None:
    async with assistant(takes("a", 50)) as hark:
        Outsider(hark, "b").pongs(topics.FALLBACK_PING).takes("fallback")
        await heard(hark, "mumble")
        register(hark, "b", 10)
        await heard(hark, "mumble")
        assert dispatched(hark) == ["a:fallback", "b:fallback"]


@pytest.mark.spec("FALLBACK-1/5.b")
@pytest.mark.spec("FALLBACK-1/5.c")
async def test_equal_priorities_go_by_id_whoever_came_first(assistant: MakeAssistant) -> None:
    for order in itertools.permutations(["a", "b", "c"]):
        async with assistant() as hark:
            for skill_id in order:
                register(hark, skill_id, 50)
            assert await pool(hark) == ["a", "b", "c"]


@pytest.mark.spec("FALLBACK-1/5.d")
@pytest.mark.spec("FALLBACK-1/8.2.a")
@pytest.mark.spec("FALLBACK-1/8.2.b")
@pytest.mark.spec("FALLBACK-1/8.2.c")
@pytest.mark.parametrize(
    ("priority", "entry"),
    [(-3, "high"), (49, "high"), (50, "medium"), (74, "medium"), (75, "low"), (100, "low"), (150, "low")],
)
async def test_an_entry_takes_the_priorities_of_its_range_both_ends_included(
    assistant: MakeAssistant, priority: int, entry: str
) -> None:
    async with assistant(takes("one", priority), settings=RANGES) as hark:
        assert await hark.hears("mumble", session=Session("x")) == ["one: mumble"]
        assert outcomes(hark, "match")[-1] == (entry, "claimed")
        assert last_dispatch(hark).context["pipeline_id"] == "fallback"
        assert len(hark.of(topics.FALLBACK_PING)) == 1


@pytest.mark.spec("FALLBACK-1/5.e")
@pytest.mark.spec("FALLBACK-1/5.k")
async def test_a_preference_lets_nobody_in(assistant: MakeAssistant) -> None:
    settings = {**RANGES, "assistant": {"pipeline": ["low"]}}
    session = Session("x", fallback_handlers=["early", "denied", "gone", "late"], blacklisted_skills=["denied"])
    plugins = (takes("early", 10), takes("denied", 80), takes("other", 80), takes("late", 90))
    async with assistant(*plugins, settings=settings) as hark:
        assert await hark.hears("mumble", session=session) == ["late: mumble"]


@pytest.mark.parametrize(("key", "value"), [("min", "low"), ("max", 1.5), ("window", "long"), ("window", 0)])
async def test_an_entry_that_makes_no_sense_says_what_is_wrong(
    assistant: MakeAssistant, key: str, value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings = {"assistant": {"pipeline": ["odd"]}, "pipeline": {"odd": {"plugin": "fallback", key: value}}}
    async with assistant(takes("one"), settings=settings) as hark:
        assert await hark.hears("mumble") == []
        assert outcomes(hark, "match") == [("odd", "failed")]
    assert f"[pipeline.odd] {key} is" in caplog.text


@pytest.mark.spec("FALLBACK-1/5.i")
@pytest.mark.parametrize("denied", [{"blacklisted_skills": ["a"]}, {"blacklisted_intents": ["a:fallback"]}], ids=str)
@pytest.mark.parametrize("who_denies", ["session", "deployment"])
async def test_who_is_denied_is_passed_over(
    assistant: MakeAssistant, denied: dict[str, list[str]], who_denies: str
) -> None:
    own = denied if who_denies == "session" else {}
    deployed = {name.removeprefix("blacklisted_"): named for name, named in denied.items()}
    settings = {"deny": deployed} if who_denies == "deployment" else {}
    async with assistant(takes("a", 10), takes("b", 20), settings=settings) as hark:
        assert await hark.hears("mumble", session=Session("x", **own)) == ["b: mumble"]


@pytest.mark.spec("FALLBACK-1/5.j")
async def test_when_nobody_can_be_asked_nobody_is(assistant: MakeAssistant) -> None:
    async with assistant(takes("a")) as hark:
        await hark.hears("mumble", session=Session("x", blacklisted_skills=["a"]))
        assert hark.of(topics.FALLBACK_PING) == []
        assert outcomes(hark, "match")[-1] == ("fallback", "declined")


# §6: the poll.


@pytest.mark.spec("FALLBACK-1/6.1.a")
@pytest.mark.spec("FALLBACK-1/6.1.b")
@pytest.mark.spec("FALLBACK-1/6.1.c")
@pytest.mark.spec("FALLBACK-1/6.1.m")
async def test_one_ping_and_an_answer_from_everybody(assistant: MakeAssistant) -> None:
    async with assistant(takes("no", 10, wants=False), takes("yes", 20, wants=True)) as hark:
        await hark.hears(["mumble", "grumble"], session=Session("x"), context={"source": "mic", "destination": "h"})
        [ping] = hark.of(topics.FALLBACK_PING)
        assert ping.data == {"utterances": ("mumble", "grumble"), "lang": "en-US"}
        assert (ping.context["source"], ping.context["destination"]) == ("h", "mic")
        pongs = {pong.data["skill_id"]: pong for pong in hark.of(topics.FALLBACK_PONG)}
        assert {skill_id: dict(pong.data) for skill_id, pong in pongs.items()} == {
            "no": {"skill_id": "no", "can_handle": False, "utterance": "mumble"},
            "yes": {"skill_id": "yes", "can_handle": True, "utterance": "mumble"},
        }
        for pong in pongs.values():
            assert (pong.context["source"], pong.context["destination"]) == ("mic", "h")
            assert (pong.session_id, pong.utterance_id) == ("x", ping.utterance_id)


@pytest.mark.spec("FALLBACK-1/6.1.d")
@pytest.mark.parametrize(
    "wrong", [{"utterance_id": "another"}, {"session": Session("another")}], ids=["utterance", "session"]
)
async def test_an_answer_of_another_round_does_not_count(assistant: MakeAssistant, wrong: dict[str, Any]) -> None:
    async with assistant() as hark:
        Outsider(hark, "a").pongs(topics.FALLBACK_PING, **wrong)
        register(hark, "a")
        await heard(hark, "mumble", session=Session("x"))
        assert dispatched(hark) == []


@pytest.mark.spec("FALLBACK-1/6.1.e")
@pytest.mark.spec("FALLBACK-1/6.1.i")
async def test_however_many_keep_silent_there_is_one_window(assistant: MakeAssistant) -> None:
    assert Fallback.Settings().window == 0.5
    async with assistant() as hark:
        for number in range(5):
            register(hark, f"silent-{number}")
        hearing = hark.say("mumble")
        await hark.clock.advance(0.49)
        assert not hearing.over.is_set()
        await hark.clock.advance(0.02)
        assert hearing.over.is_set()


@pytest.mark.spec("FALLBACK-1/6.1.f")
@pytest.mark.parametrize("can_handle", [1, "true", None, [True], {}], ids=repr)
async def test_what_is_not_true_is_a_no(assistant: MakeAssistant, can_handle: Any) -> None:
    async with assistant(takes("b", 90)) as hark:
        Outsider(hark, "a").pongs(topics.FALLBACK_PING, can_handle)
        Outsider(hark, "missing").answers(topics.FALLBACK_PING, {"skill_id": "missing"})
        register(hark, "a", 1)
        register(hark, "missing", 2)
        await heard(hark, "mumble")
        assert dispatched(hark) == ["b:fallback"]


@pytest.mark.spec("FALLBACK-1/6.1.g")
async def test_late_answers_and_second_thoughts_do_not_count(assistant: MakeAssistant) -> None:
    async with assistant() as hark:
        Outsider(hark, "late").pongs(topics.FALLBACK_PING, after=0.6)
        both = [{"skill_id": "fickle", "can_handle": one} for one in (False, True)]
        Outsider(hark, "fickle").answers(topics.FALLBACK_PING, *both)
        register(hark, "late", 1)
        register(hark, "fickle", 2)
        await heard(hark, "mumble")
        await hark.clock.advance(5.0)
        assert len(hark.of(topics.FALLBACK_PONG)) == 3
        assert dispatched(hark) == []


@pytest.mark.spec("FALLBACK-1/6.1.h")
async def test_the_round_is_over_when_the_rest_cannot_change_it(assistant: MakeAssistant) -> None:
    async with assistant(takes("no", 1, wants=False), takes("yes", 2, wants=True)) as hark:
        register(hark, "silent", 3)
        assert await hark.hears("mumble") == ["yes: mumble"]
    async with assistant(takes("no", 1, wants=False), takes("nor", 2, wants=False)) as hark:
        assert await hark.hears("mumble") == []


async def test_an_entry_may_wait_longer_than_the_others(assistant: MakeAssistant) -> None:
    settings = {"assistant": {"pipeline": ["slow"]}, "pipeline": {"slow": {"plugin": "fallback", "window": 4.0}}}
    async with assistant(settings=settings) as hark:
        Outsider(hark, "a").pongs(topics.FALLBACK_PING, after=3.5).takes("fallback")
        register(hark, "a")
        await heard(hark, "mumble")
        assert dispatched(hark) == ["a:fallback"]


@pytest.mark.spec("FALLBACK-1/6.1.k")
def test_the_window_is_within_the_limit_of_a_matcher() -> None:
    assert settings_from({}).limits.match >= Fallback.Settings().window


@pytest.mark.spec("FALLBACK-1/6.1.l")
async def test_to_be_asked_is_not_to_be_called(assistant: MakeAssistant) -> None:
    async with assistant(takes("a", 1, wants=False), takes("b", 2, wants=True)) as hark:
        await hark.hears("mumble", session=Session("x"))
        assert [m.data["skill_id"] for m in hark.of(topics.HANDLER_START)] == ["b"]
        after = hark.of(topics.UTTERANCE_HANDLED)[0].session
        assert ids(after) == ids(after, "converse_handlers") == ["b"]


@pytest.mark.spec("FALLBACK-1/6.2.a")
async def test_the_order_decides_and_not_who_is_quick(assistant: MakeAssistant) -> None:
    async with assistant(takes("quick", 90, wants=True)) as hark:
        Outsider(hark, "slow").pongs(topics.FALLBACK_PING, after=0.4).takes("fallback")
        register(hark, "slow", 1)
        await heard(hark, "mumble")
        assert dispatched(hark) == ["slow:fallback"]


@pytest.mark.spec("FALLBACK-1/6.2.b")
async def test_when_nobody_wants_it_the_next_stage_is_asked_and_in_the_end_it_is_unmatched(
    assistant: MakeAssistant,
) -> None:
    async with assistant(takes("a", wants=False), settings=RANGES) as hark:
        await hark.hears("mumble")
        assert outcomes(hark, "match") == [("high", "declined"), ("medium", "declined"), ("low", "declined")]
        assert hark.of(topics.INTENT_UNMATCHED)


# §7: the handler.


@pytest.mark.spec("FALLBACK-1/7.b")
@pytest.mark.spec("FALLBACK-1/7.c")
@pytest.mark.parametrize("end", ["speaks", "acts", "waits", "raises"])
async def test_a_fallback_is_a_handler_like_any_other(assistant: MakeAssistant, end: str) -> None:
    async def wait(turn: Turn) -> str:
        await asyncio.sleep(0)
        return says_so(turn)

    def explode(turn: Turn) -> None:
        raise RuntimeError("no idea")

    handler = {"speaks": says_so, "acts": silent, "waits": wait, "raises": explode}[end]
    async with assistant(takes("one", handler=handler)) as hark:
        said = await hark.hears("mumble", session=Session("x"))
        assert said == (["one: mumble"] if end in ("speaks", "waits") else [])
        ending = topics.HANDLER_ERROR if end == "raises" else topics.HANDLER_COMPLETE
        assert hark.of(ending)[0].data["intent_name"] == "fallback"
        assert len(hark.of(topics.UTTERANCE_HANDLED)) == 1


async def test_the_method_that_wanted_it_gets_it(assistant: MakeAssistant) -> None:
    asked: list[Sequence[str]] = []

    def knows_the_second(self: Any, utterances: Sequence[str], lang: str, session: Session) -> bool:
        asked.append(utterances)
        return "grumble" in utterances

    class Two(Skill):
        id = "two"
        quick = True

        @fallback(20, when=lambda *_said: False)
        def early(self, turn: Turn) -> str:
            return "early"

        @fallback(80, when=knows_the_second)
        def late(self, turn: Turn) -> str:
            return "late"

    async with assistant(Two()) as hark:
        assert await hark.hears(["mumble", "grumble"]) == ["late"]
    assert asked == [("mumble", "grumble")], "it is asked once, with all there is to know"


@pytest.mark.spec("FALLBACK-1/7.e")
async def test_who_took_it_can_be_stopped(assistant: MakeAssistant) -> None:
    async with assistant(takes("one")) as hark:
        await hark.hears("mumble")
        assert ids(hark.runtime.store.current) == ["one"]
        await hark.hears("stop")
        assert dispatched(hark)[-1] == "one:stop"


@pytest.mark.spec("FALLBACK-1/7.f")
async def test_no_intent_can_be_registered_as_fallback(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    data = {"skill_id": "some.skill", "intent_name": "fallback", "lang": "en-US", "samples": ["mumble"]}
    async with assistant() as hark:
        with caplog.at_level(logging.WARNING):
            hark.bus.emit(Message(topics.REGISTER_TEMPLATE, data))
            await settle()
        await hark.hears("mumble")
        assert dispatched(hark) == []
    assert any("reserved" in record.getMessage() for record in caplog.records)
    with pytest.raises(MalformedIntent, match="reserved"):
        intent("whatever", name="fallback")(lambda self, turn: None)


# §8: the deployment.


@pytest.mark.spec("FALLBACK-1/8.1.a")
def test_fallback_comes_last_unless_the_deployer_says_otherwise() -> None:
    assert settings_from({}).assistant.pipeline[-1] == "fallback"
