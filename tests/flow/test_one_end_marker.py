"""However a turn ends, it ends once, and the next one works. `conftest` counts the markers of every test here."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from flow.stage import (
    CANCELLED,
    MATCHED,
    UNMATCHED,
    MakeAssistant,
    claim_of,
    claims,
    declines,
    matcher,
    public,
    reached,
    silent,
    transformer,
    turn_of,
)
from hark.model import Message, Session, decode
from hark.plugins import Ctx, Match, Plugin, Turn
from hark.spec import topics
from hark.testing import Assistant, FakeClock, settle
from hark.understand import orchestrator as orchestrator_module
from hark.understand.dispatches import Dispatches
from hark.understand.endings import Endings
from hark.understand.match_round import MatchRound

ERROR = [
    topics.INTENT_MATCHED,
    topics.HANDLER_START,
    "claims:go",
    topics.HANDLER_ERROR,
    topics.UTTERANCE_HANDLED,
]

RAISED = [ValueError, SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError, MemoryError]


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Surrogate(Exception):
    def __str__(self) -> str:
        return "half a pair: \ud83d"


def inline(error: BaseException) -> dict[str, Any]:
    def work(*arguments: Any) -> Any:
        if "bad" in str(arguments):
            raise error
        return arguments[0]

    return {"work": work, "quick": True}


def worker(error: BaseException) -> dict[str, Any]:
    return {**inline(error), "quick": False}


def loop(error: BaseException) -> dict[str, Any]:
    async def work(*arguments: Any) -> Any:
        await asyncio.sleep(0)
        if "bad" in str(arguments):
            raise error
        return arguments[0]

    return {"work": work, "quick": False}


MODES = [inline, worker, loop]


def raising(kind: Any, work: Callable[..., Any], quick: bool) -> Plugin:
    """A transformer of `kind` around `work`, which raises when it finds something bad in its arguments."""
    if kind == "metadata" and asyncio.iscoroutinefunction(work):

        async def metadata(ctx: Ctx) -> None:
            await work(ctx.get("mood"))

        return transformer(kind, "culprit", metadata, quick=quick)
    if kind == "metadata":

        def metadata_now(ctx: Ctx) -> None:
            work(ctx.get("mood"))

        return transformer(kind, "culprit", metadata_now, quick=quick)
    if asyncio.iscoroutinefunction(work):

        async def transform(artifact: Any, ctx: Ctx) -> Any:
            return await work(artifact)

        return transformer(kind, "culprit", transform, quick=quick)

    def transform_now(artifact: Any, ctx: Ctx) -> Any:
        return work(artifact)

    return transformer(kind, "culprit", transform_now, quick=quick)


# Plugins that raise.


@pytest.mark.parametrize("error", [*RAISED, Unprintable, Surrogate])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["utterance", "metadata", "intent", "dialog"])
async def test_a_transformer_may_raise_anything(
    assistant: MakeAssistant, kind: str, mode: Callable[..., Any], error: type[BaseException]
) -> None:
    culprit = raising(kind, **mode(error("on purpose")))
    async with assistant(culprit, claims()) as hark:
        assert await hark.hears("a bad thing", context={"mood": "bad"}) == ["a bad thing"]
        assert public(turn_of(hark)) == MATCHED
        step = next(step for step in hark.trace().steps if step.who == "culprit")
        assert (step.stage, step.outcome) == (kind, "failed")
        assert await hark.hears("a good thing", context={"mood": "good"}) == ["a good thing"]


@pytest.mark.parametrize("error", [*RAISED, Unprintable, Surrogate])
@pytest.mark.parametrize("mode", MODES)
async def test_a_matcher_may_raise_anything(
    assistant: MakeAssistant, mode: Callable[..., Any], error: type[BaseException]
) -> None:
    made = mode(error("on purpose"))
    work = made["work"]
    if asyncio.iscoroutinefunction(work):

        async def match(utterances: Any, lang: str, session: Session) -> None:
            await work(utterances)

        culprit = matcher("culprit", match, quick=False)
    else:

        def match_now(utterances: Any, lang: str, session: Session) -> None:
            work(utterances)

        culprit = matcher("culprit", match_now, quick=made["quick"])
    async with assistant(culprit, claims()) as hark:
        assert await hark.hears("a bad thing") == ["a bad thing"]
        step = next(step for step in hark.trace().steps if step.who == "culprit")
        assert (step.stage, step.outcome) == ("match", "failed")
        assert await hark.hears("a good thing") == ["a good thing"]


def raises_now(error: BaseException) -> Callable[..., Any]:
    def handler(turn: Turn) -> str:
        if "bad" in turn.utterance:
            raise error
        return turn.utterance

    return handler


def raises_async(error: BaseException) -> Callable[..., Any]:
    async def handler(turn: Turn) -> str:
        return raises_now(error)(turn)

    return handler


def raises_while_speaking(error: BaseException) -> Callable[..., Any]:
    async def handler(turn: Turn) -> AsyncIterator[str]:
        yield raises_now(error)(turn)

    return handler


@pytest.mark.parametrize("error", [*RAISED, Unprintable, Surrogate])
@pytest.mark.parametrize("kind", [raises_now, raises_async, raises_while_speaking])
@pytest.mark.parametrize("quick", [True, False])
async def test_a_handler_may_raise_anything(
    assistant: MakeAssistant, kind: Callable[..., Any], quick: bool, error: type[BaseException]
) -> None:
    plugin = claims(handler=kind(error("on purpose")), quick=quick)
    async with assistant(plugin) as hark:
        assert await hark.hears("a bad thing") == []
        assert public(turn_of(hark)) == ERROR
        [failed] = hark.of(topics.HANDLER_ERROR)
        assert error.__name__ in failed.data["exception"]
        assert await hark.hears("a good thing") == ["a good thing"]


async def test_a_handler_that_fails_after_speaking_has_spoken(assistant: MakeAssistant) -> None:
    async def handler(turn: Turn) -> AsyncIterator[str]:
        yield "so far so good"
        raise ValueError("and then")

    async with assistant(claims(handler=handler)) as hark:
        assert await hark.hears("go") == ["so far so good"]
        assert public(turn_of(hark)) == [*ERROR[:3], topics.UTTERANCE_SPEAK, *ERROR[3:]]


# Turns without a claim.


async def test_an_utterance_nobody_claims_is_unmatched(assistant: MakeAssistant) -> None:
    async with assistant(declines()) as hark:
        assert await hark.hears("hello") == []
        assert public(turn_of(hark)) == UNMATCHED
        assert hark.of(topics.INTENT_UNMATCHED)[0].data == {"utterances": ("hello",), "lang": "en-US"}


@pytest.mark.parametrize("garbage", [None, "hello", 7, {"a": 1}, ["hello", 7], [["hello"]], [None], []])
async def test_garbage_in_place_of_utterances_is_unmatched_without_a_language(
    assistant: MakeAssistant, garbage: Any
) -> None:
    called: list[Any] = []

    def note(utterances: list[str], ctx: Ctx) -> list[str]:
        called.append(utterances)
        return utterances

    async with assistant(transformer("utterance", "spy", note), claims()) as hark:
        hark.bus.emit(Message(topics.UTTERANCE_HANDLE, {} if garbage is None else {"utterances": garbage}))
        await settle()
        assert public(turn_of(hark)) == UNMATCHED
        assert hark.of(topics.INTENT_UNMATCHED)[0].data == {"utterances": ()}
        assert called == []
        assert await hark.hears("hello") == ["hello"]


async def test_an_empty_list_from_a_transformer_is_unmatched_without_a_language(assistant: MakeAssistant) -> None:
    nothing = transformer("utterance", "nothing", lambda utterances, ctx: [])
    seen: list[Any] = []
    async with assistant(nothing, declines(seen=seen), claims()) as hark:
        assert await hark.hears("hello", session=Session("x", lang="en-US")) == []
        assert public(turn_of(hark)) == UNMATCHED
        assert "lang" not in hark.of(topics.INTENT_UNMATCHED)[0].data
        assert seen == []


CARRIERS = ["x", 7, True, ["x"], 1.5]


@pytest.mark.parametrize("carrier", CARRIERS)
async def test_a_malformed_session_carrier_gets_the_marker_alone(assistant: MakeAssistant, carrier: Any) -> None:
    async with assistant(claims()) as hark:
        await hark.hears("before", session=Session(lang="en-US"))
        stored = hark.runtime.store.current
        entry = {"type": topics.UTTERANCE_HANDLE, "data": {"utterances": ["x"]}, "context": {"session": carrier}}
        hark.bus.emit(decode(json.dumps(entry)))
        await settle()
        assert public(turn_of(hark)) == [topics.SESSION_REJECTED, topics.UTTERANCE_HANDLED]
        marker = turn_of(hark)[-1]
        assert marker.session is None
        assert marker.malformed_session is None
        assert hark.of(topics.SESSION_REJECTED)[0].data == {
            "msg_type": topics.UTTERANCE_HANDLE,
            "reason": "malformed_carrier",
        }
        assert hark.runtime.store.current is stored, "a refused utterance does not touch the default session"
        assert await hark.hears("after") == ["after"]


# Cancellations.


@pytest.mark.parametrize("kind", ["utterance", "metadata", "intent"])
async def test_a_cancelled_turn_is_cancelled_and_nothing_else(assistant: MakeAssistant, kind: Any) -> None:
    def cancel(*arguments: Any) -> Any:
        ctx: Ctx = arguments[-1]
        if ctx.get("mood") == "bad":
            ctx.cancel("policy_block")
        return arguments[0] if len(arguments) == 2 else None

    if kind == "metadata":
        stop = transformer(kind, "stopper", lambda ctx: cancel(ctx))
    else:
        stop = transformer(kind, "stopper", lambda artifact, ctx: cancel(artifact, ctx))
    async with assistant(stop, claims()) as hark:
        assert await hark.hears("hello", context={"mood": "bad"}) == []
        assert public(turn_of(hark)) == CANCELLED
        data = hark.of(topics.UTTERANCE_CANCELLED)[0].data
        assert data == {"cancel_reason": "policy_block", "cancel_by": "stopper"}
        assert await hark.hears("hello") == ["hello"]


async def test_a_cancelled_response_is_not_rendered_and_the_marker_is_not_repeated(assistant: MakeAssistant) -> None:
    def hush(text: str, ctx: Ctx) -> str:
        if "secret" in text:
            ctx.cancel("policy_block")
        return text

    async def handler(turn: Turn) -> AsyncIterator[str]:
        yield "a secret"
        yield "hello"

    async with assistant(transformer("dialog", "hush", hush), claims(handler=handler)) as hark:
        assert await hark.hears("go") == ["hello"]
        [cancelled] = hark.of(topics.UTTERANCE_CANCELLED)
        assert cancelled.data == {"cancel_reason": "policy_block", "cancel_by": "hush"}
        assert cancelled.utterance_id == turn_of(hark)[-1].utterance_id


async def test_an_empty_list_with_a_cancellation_is_a_cancellation(assistant: MakeAssistant) -> None:
    def stop(utterances: list[str], ctx: Ctx) -> list[str]:
        ctx.cancel("stop_word")
        return []

    async with assistant(transformer("utterance", "stopper", stop), claims()) as hark:
        await hark.hears("never mind")
        assert public(turn_of(hark)) == CANCELLED


# Handlers that do not come back.


@pytest.mark.one_worker
async def test_a_dispatch_nobody_accepts_fails_after_two_seconds(assistant: MakeAssistant) -> None:
    lost = matcher("claims", claim_of("nobody:go"))
    async with assistant(lost) as hark:
        hearing = hark.say("hello")
        await hark.clock.advance(1.9)
        assert not hearing.over.is_set()
        await hark.clock.advance(0.6)
        assert hearing.over.is_set()
        [failed] = hark.of(topics.HANDLER_ERROR)
        assert "no handler" in failed.data["exception"]
        assert (failed.data["skill_id"], failed.data["intent_name"]) == ("nobody", "go")
        assert len(hark.of("nobody:go")) == 1, "a dispatch is never repeated"


async def test_a_handler_over_its_bound_is_an_error_that_names_the_timeout(assistant: MakeAssistant) -> None:
    go_on = asyncio.Event()

    async def handler(turn: Turn) -> str:
        if turn.utterance == "slow":
            await go_on.wait()
            return "too late"
        return "in time"

    async with assistant(claims(handler=handler), settings={"limits": {"handler": 10.0}}) as hark:
        hearing = hark.say("slow")
        await hark.clock.advance(9.9)
        assert not hearing.over.is_set()
        await hark.clock.advance(0.7)
        assert public(turn_of(hark)) == ERROR
        assert "timeout" in hark.of(topics.HANDLER_ERROR)[0].data["exception"]
        go_on.set()
        await settle()
        assert public(turn_of(hark)) == [*ERROR, topics.UTTERANCE_SPEAK], "late output passes, nothing ends twice"
        assert await hark.hears("quick") == ["in time"]


async def test_without_a_bound_a_handler_may_take_ten_minutes(assistant: MakeAssistant) -> None:
    async def handler(turn: Turn) -> str:
        await hark.clock.sleep(600.0)
        return "at last"

    async with assistant(claims(handler=handler)) as hark:
        hearing = hark.say("go")
        await hark.clock.advance(599.0)
        assert not hearing.over.is_set()
        await hark.clock.advance(2.0)
        assert hearing.spoken == ["at last"]
        assert public(turn_of(hark)) == MATCHED


@pytest.mark.one_worker
async def test_a_handler_host_that_shows_no_life_is_lost(assistant: MakeAssistant) -> None:
    async with assistant(matcher("claims", claim_of("far.away:go"))) as hark:

        def accept(message: Message) -> None:
            hark.bus.emit(message.forward(topics.HANDLER_ACCEPTED, {"topic": message.type, "host": "elsewhere"}))

        hark.bus.on("far.away:go", accept)
        hearing = hark.say("hello")
        await hark.clock.advance(5.0)
        hark.bus.emit(Message(topics.HOST_ALIVE, {"host": "elsewhere"}))
        await hark.clock.advance(5.9)
        assert not hearing.over.is_set()
        await hark.clock.advance(0.7)
        assert hearing.over.is_set()
        assert "handler host lost" in hark.of(topics.HANDLER_ERROR)[0].data["exception"]


# Shutdown and overload.


async def test_shutdown_gives_open_turns_their_grace(assistant: MakeAssistant) -> None:
    async def handler(turn: Turn) -> str:
        await hark.clock.sleep(3.0)
        return "just in time"

    async with assistant(claims(handler=handler)) as hark:
        hearing = hark.say("go")
        await settle()
    assert hearing.spoken == ["just in time"]
    assert public(turn_of(hark)) == MATCHED


async def test_shutdown_ends_the_rest_with_an_error(assistant: MakeAssistant) -> None:
    async def handler(turn: Turn) -> None:
        await asyncio.Event().wait()

    async with assistant(claims(handler=handler)) as hark:
        hearings = [hark.say("go", session=f"s{n}") for n in range(20)]
        await settle()
        assert hark.runtime.orchestrator.open_turns == 20
    assert all(hearing.markers == 1 for hearing in hearings)
    assert len(hark.of(topics.HANDLER_ERROR)) == 20
    assert {m.data["exception"] for m in hark.of(topics.HANDLER_ERROR)} == {"the assistant was shut down"}


@pytest.mark.one_worker  # the copy of the idle one is stopped first
async def test_shutdown_ends_a_turn_that_is_still_being_matched(assistant: MakeAssistant) -> None:
    go_on = asyncio.Event()

    async def match(utterances: Any, lang: str, session: Session) -> Match:
        await go_on.wait()
        return Match("claims", "go", lang, utterances[0])

    async def stop() -> None:
        go_on.set()
        await settle()

    plugin = matcher("claims", match, go=silent)
    plugin.stop = stop  # type: ignore[method-assign]
    async with assistant(plugin) as hark:
        hearing = hark.say("go")
        await settle()
    assert hearing.markers == 1
    assert "claims:go" not in hark.topics(), "a claim after the end marker is never dispatched"


@pytest.mark.one_process
async def test_an_utterance_that_arrives_at_shutdown_still_gets_its_marker(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:
        hearing = hark.say("goodbye")
    assert hearing.markers == 1


async def test_an_utterance_during_the_grace_period_is_turned_away_with_its_marker(assistant: MakeAssistant) -> None:
    async def handler(turn: Turn) -> str:
        await hark.clock.sleep(2.0)
        late.append(hark.say("one more thing"))
        await hark.clock.sleep(1.0)
        return turn.utterance

    late: list[Any] = []
    async with assistant(claims(handler=handler)) as hark:
        hearing = hark.say("go")
        await settle()
    assert hearing.spoken == ["go"]
    assert [turned_away.markers for turned_away in late] == [1]
    assert len(hark.of(topics.INTENT_UNMATCHED)) == 1


@pytest.mark.one_worker  # the limit is for each of them
async def test_over_the_limit_of_open_turns_utterances_are_turned_away(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    go_on = asyncio.Event()

    async def handler(turn: Turn) -> str:
        await go_on.wait()
        return turn.utterance

    async with assistant(claims(handler=handler), settings={"limits": {"open_turns": 3}}) as hark:
        waiting = [hark.say(f"turn {n}", session=f"s{n}") for n in range(3)]
        await settle()
        with caplog.at_level(logging.ERROR, "hark.understand"):
            turned_away = hark.say("one too many", session="s4")
            await settle()
        assert turned_away.over.is_set()
        assert public(turn_of(hark)) == UNMATCHED
        assert "overload" in caplog.text
        go_on.set()
        for n, hearing in enumerate(waiting):
            await asyncio.wait_for(hearing.over.wait(), 5)
            assert hearing.spoken == [f"turn {n}"]
        assert await hark.hears("there is room again") == ["there is room again"]


# What nobody foresaw.


def explode(*_args: Any, **_kwargs: Any) -> Any:
    raise RuntimeError("not foreseen")


def break_intake(hark: Assistant, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(orchestrator_module, "open_turn", explode)


def break_store(hark: Assistant, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(hark.runtime.store, "open", explode)


def break_utterance_chain(hark: Assistant, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(hark.runtime.chains["utterance"], "run", explode)


def break_metadata_chain(hark: Assistant, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(hark.runtime.chains["metadata"], "run", explode)


def break_intent_chain(hark: Assistant, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(hark.runtime.chains["intent"], "run", explode)


def break_language(hark: Assistant, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(orchestrator_module, "resolve", explode)


def break_match_round(hark: Assistant, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MatchRound, "run", explode)


def break_backstop(hark: Assistant, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(hark.runtime.orchestrator.manifest.registrations, "objection", explode)


def break_activation(hark: Assistant, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(orchestrator_module, "activate", explode)


def break_dispatch(hark: Assistant, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Dispatches, "expect", explode)


def break_completion(hark: Assistant, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Endings, "handled", explode)


def break_the_end(hark: Assistant, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(hark.runtime.traces, "ended", explode)


@pytest.mark.parametrize(
    "sabotage",
    [
        break_intake,
        break_store,
        break_utterance_chain,
        break_metadata_chain,
        break_intent_chain,
        break_language,
        break_match_round,
        break_backstop,
        break_activation,
        break_dispatch,
        break_completion,
        break_the_end,
    ],
)
async def test_a_turn_that_breaks_inside_still_gets_its_marker(
    assistant: MakeAssistant, monkeypatch: pytest.MonkeyPatch, sabotage: Callable[..., None]
) -> None:
    async with assistant(claims()) as hark:
        with monkeypatch.context() as patch:
            sabotage(hark, patch)
            hearing = hark.say("hello")
            await settle()
        assert hearing.markers == 1
        assert hark.runtime.orchestrator.open_turns == 0
        assert await hark.hears("next") == ["next"]


@pytest.mark.one_process
async def test_a_turn_whose_task_is_cancelled_still_gets_its_marker(assistant: MakeAssistant) -> None:
    async with assistant(matcher("claims", claim_of("nobody:go"))) as hark:
        before = asyncio.all_tasks()
        hearing = hark.say("hello")
        await settle()
        [task] = asyncio.all_tasks() - before
        task.cancel()
        await settle()
        assert hearing.markers == 1


# Worker threads and handlers of every sort, all in one house, one after the other.


async def test_twenty_kinds_of_trouble_one_after_the_other(assistant: MakeAssistant) -> None:
    trouble = [
        raising("utterance", **worker(ValueError("w"))),
        raising("intent", **inline(SystemExit("i"))),
    ]
    async with assistant(*trouble, claims(handler=raises_async(KeyError("h")))) as hark:
        for n in range(20):
            text = f"a {'bad' if n % 2 else 'good'} thing {n}"
            spoken = await hark.hears(text, session=f"s{n % 3}")
            assert spoken == ([] if n % 2 else [text])


async def test_a_blocked_worker_handler_does_not_keep_the_house_from_closing(assistant: MakeAssistant) -> None:
    import threading

    started, go_on = threading.Event(), threading.Event()

    def handler(turn: Turn) -> None:
        started.set()
        go_on.wait(20)

    async with assistant(claims(handler=handler, quick=False)) as hark:
        hearing = hark.say("go")
        await reached(started)
    assert hearing.markers == 1
    assert isinstance(hark.clock, FakeClock)
    go_on.set()
