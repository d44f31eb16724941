"""Defects of Hark that faulty plugins have found, each by itself, so that they stay fixed."""

from __future__ import annotations

import asyncio
import threading
import tracemalloc
from collections.abc import AsyncIterator
from typing import Any

import pytest

from flow.stage import MakeAssistant, claims, declines, matcher, reached, transformer, turn_of
from hark.bus.delivery import LocalSubscription
from hark.hosting import WorkerThreads, check_emittable, describe_error, error_stack
from hark.hosting.plugin_host import RUNTIME_TOPICS
from hark.model import Match, Message, Session
from hark.plugins import Ctx, Plugin, Round, Turn
from hark.spec import topics
from hark.testing import Assistant, LocalBus, settle
from hark.testing.faults.failures import HiddenClassError, HostileMessageError, UnprintableError

# Threads.


async def test_handlers_that_block_leave_threads_for_those_who_have_to_be_in_time() -> None:
    workers, gate = WorkerThreads(max_threads=2), threading.Event()
    began = [threading.Event() for _ in range(5)]

    def block(event: threading.Event) -> Any:
        return lambda _job: (event.set(), gate.wait(20))

    blocked = [workers.submit(block(event), True) for event in began]
    for event in began:
        await reached(event)
    assert await asyncio.wait_for(workers.submit(lambda _job: "in time").done, 20) == "in time"
    gate.set()
    await asyncio.gather(*(job.done for job in blocked))
    workers.close()


async def test_a_lost_thread_is_replaced_for_whoever_waits_already() -> None:
    workers, gate, began = WorkerThreads(max_threads=1), threading.Event(), threading.Event()
    stuck = workers.submit(lambda _job: (began.set(), gate.wait(20)))
    await reached(began)
    waiting = workers.submit(lambda _job: "at last")
    assert stuck.abandon()
    workers.abandoned(stuck)
    assert await asyncio.wait_for(waiting.done, 20) == "at last"
    gate.set()


async def test_a_hundred_handlers_that_hang_keep_no_transformer_waiting() -> None:
    gate, began = threading.Event(), threading.Semaphore(0)

    def hang(turn: Turn) -> None:
        if turn.utterance == "hang":
            began.release()
            gate.wait(20)

    def shout(utterances: list[str], ctx: Ctx) -> list[str]:
        return utterances

    plugins = (transformer("utterance", "shout", shout, quick=False), claims(handler=hang, quick=False))
    async with Assistant(*plugins) as hark:
        hearings = [hark.say("hang", session=f"s{n}") for n in range(100)]
        for _ in hearings:
            assert await asyncio.to_thread(began.acquire, timeout=20)
        assert await hark.hears("hello") == []
        gate.set()
        for hearing in hearings:
            await asyncio.wait_for(hearing.over.wait(), 20)
            assert hearing.markers == 1


# Tasks that somebody cancels.


@pytest.mark.one_process
async def test_a_response_whose_task_is_cancelled_before_it_began_is_said(assistant: MakeAssistant) -> None:
    async def handler(turn: Turn) -> AsyncIterator[str]:
        yield "one"
        yield "two"

    async with assistant(claims(handler=handler)) as hark:
        await hark.hears("warm up")
        speaker = hark.runtime.speaker
        before = asyncio.all_tasks()
        hark.bus.emit(Message(topics.UTTERANCE_SPEAK, {"utterance": "said all the same"}, session=Session("x")))
        [task] = asyncio.all_tasks() - before
        task.cancel()
        await settle()
        assert [m.data["outcome"] for m in hark.of(topics.SPEECH_RENDERED)][-1] == "rendered"
        assert speaker.pending == 0


async def test_a_listener_whose_task_is_cancelled_before_it_began_hears_all_the_same() -> None:
    bus, heard = LocalBus(), []

    async def listen(message: Message) -> None:
        heard.append(message.data["n"])

    bus.on("test.note", listen)
    before = asyncio.all_tasks()
    bus.emit(Message("test.note", {"n": 1}))
    bus.emit(Message("test.note", {"n": 2}))
    [task] = asyncio.all_tasks() - before
    task.cancel()
    await settle()
    assert heard == [1, 2]
    await bus.close()


@pytest.mark.one_process
async def test_a_turn_that_is_cancelled_before_its_task_began_gets_its_marker(assistant: MakeAssistant) -> None:
    async def wait(utterances: Any, lang: str, session: Session) -> None:
        await asyncio.Event().wait()

    async with assistant(matcher("waits", wait)) as hark:
        before = asyncio.all_tasks()
        hearing = hark.say("hello")
        [task] = (task for task in asyncio.all_tasks() - before if task.get_name() != "waits")
        task.cancel()
        await settle()
        assert hearing.markers == 1
        assert hark.runtime.orchestrator.open_turns == 0


@pytest.mark.one_process
async def test_the_trace_says_who_ran_when_a_turn_was_given_up(assistant: MakeAssistant) -> None:
    async def wait(*_arguments: Any) -> None:
        await asyncio.Event().wait()

    async def wait_with(utterances: list[str], ctx: Ctx) -> list[str]:
        await wait()
        return utterances

    async def wait_for(utterances: Any, lang: str, session: Session) -> None:
        await wait()

    for culprit in (transformer("utterance", "culprit", wait_with), matcher("culprit", wait_for)):
        async with assistant(culprit) as hark:
            before = asyncio.all_tasks()
            hark.say("hello")
            await settle()
            [task] = (task for task in asyncio.all_tasks() - before if task.get_name() != "culprit")
            task.cancel()
            await settle()
            assert [step.outcome for step in hark.trace().steps if step.who == "culprit"] == ["stopped"]


async def test_a_plugins_task_that_is_cancelled_before_it_began_leaves_no_warning(assistant: MakeAssistant) -> None:
    class Busy(Plugin):
        id = "busy"

        async def stop(self) -> None:
            self.host.task(asyncio.Event().wait(), "for ever")  # type: ignore[arg-type]

    async with assistant(Busy()):
        pass


# The bus.


async def test_who_emits_at_the_end_of_its_stack_does_not_stop_deliveries() -> None:
    bus, heard = LocalBus(), []
    bus.on("test.deep", lambda message: heard.append(message.data["level"]))

    def deeper(level: int) -> None:
        bus.emit(Message("test.deep", {"level": level}))
        deeper(level + 1)

    with pytest.raises(RecursionError):
        deeper(0)
    await settle()
    heard.clear()
    bus.emit(Message("test.deep", {"level": "ground"}))
    assert heard == ["ground"]
    await bus.close()


async def test_a_flood_does_not_cost_brief_listeners_their_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LocalSubscription, "VERY_LONG", 2_000)
    bus, heard = LocalBus(), []
    bus.on("test.flood", heard.append)
    for _ in range(5_000):
        bus.post(Message("test.flood"))
    for _ in range(3):
        await settle()  # 64 deliveries a round
    bus.emit(Message("test.flood"))
    assert len(heard) == 5_001
    await bus.close()


# Forgeries.


@pytest.mark.parametrize("topic", sorted({*RUNTIME_TOPICS, "somebody.else:go"}))
async def test_a_plugin_cannot_speak_for_the_frame(assistant: MakeAssistant, topic: str) -> None:
    refused: list[str] = []

    def forge(door: Any, *arguments: Any) -> None:
        try:
            door(*arguments)
        except PermissionError as error:
            refused.append(str(error))

    def handler(turn: Turn) -> None:
        forge(plugin.host.emit, topic)
        forge(plugin.host.send, turn.message.forward(topic))
        forge(turn.emit, topic)

    plugin = claims(handler=handler)
    async with assistant(plugin) as hark:
        await hark.hears("hello")
        assert len(refused) == 3
        assert all("only Hark" in told for told in refused)


async def test_a_forgery_on_acceptance_spoils_all_of_a_transformers_output(assistant: MakeAssistant) -> None:
    def forge(utterances: list[str], ctx: Ctx) -> list[str]:
        ctx.emit(topics.UTTERANCE_HANDLED)
        return ["something else"]

    async with assistant(transformer("utterance", "forger", forge), claims()) as hark:
        assert await hark.hears("hello") == ["hello"]
        [step] = [step for step in hark.trace().steps if step.who == "forger"]
        assert step.outcome == "malformed"
        assert topics.UTTERANCE_HANDLED in step.detail


async def test_a_poll_is_no_way_round(assistant: MakeAssistant) -> None:
    async def match(utterances: Any, lang: str, session: Session, round: Round) -> None:
        await round.poll(topics.HANDLER_DONE, {}, ["x"], 1.0)

    async with assistant(matcher("polls", match)) as hark:
        await hark.hears("hello")
        [step] = [step for step in hark.trace().steps if step.who == "polls"]
        assert (step.outcome, "only Hark" in step.detail) == ("failed", True)


def test_everything_else_may_be_said() -> None:
    for topic in (topics.UTTERANCE_HANDLE, topics.UTTERANCE_SPEAK, topics.REGISTER_TEMPLATE, "my.own.topic"):
        check_emittable(topic, "me")


async def test_a_handler_that_borrows_the_turn_of_another_ends_its_own_and_no_other(assistant: MakeAssistant) -> None:
    others: list[Turn] = []
    go_on = asyncio.Event()

    async def handler(turn: Turn) -> None:
        if turn.utterance == "wait":
            others.append(turn)
            await go_on.wait()
        else:
            turn.message = others[0].message

    async with assistant(claims(handler=handler)) as hark:
        waiting = hark.say("wait", session="a")
        await settle()
        borrowing = hark.say("borrow", session="a")
        await settle()
        assert (borrowing.markers, waiting.markers) == (1, 0)
        go_on.set()
        await settle()
        assert waiting.markers == 1


async def test_signs_of_life_from_strangers_are_not_remembered(assistant: MakeAssistant) -> None:
    async with assistant(declines()) as hark:
        tracemalloc.start()
        for number in range(200):
            hark.bus.emit(Message(topics.HOST_ALIVE, {"host": f"{number} {'x' * 10_000}"}))
        await settle()
        hark.messages.clear()
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert held < 1_000_000, f"{held} bytes are held for hosts that run nothing here"


# Sessions.


@pytest.mark.parametrize("kind", ["utterance", "metadata", "intent"])
async def test_a_turn_that_is_moved_to_the_device_costs_its_session_nothing(
    assistant: MakeAssistant, kind: Any
) -> None:
    def move(*arguments: Any) -> Any:
        arguments[-1].session = Session()
        return arguments[0] if len(arguments) == 2 else None

    if kind == "metadata":
        mover = transformer(kind, "mover", lambda ctx: move(ctx))
    else:
        mover = transformer(kind, "mover", lambda artifact, ctx: move(artifact, ctx))
    async with assistant(mover, claims()) as hark:
        hark.runtime.store.current = Session(lang="de-DE", persona_id="kept", kept="yes")
        await hark.hears("hello", session=Session("x", lang="pt-BR", persona_id="other", kept="no"))
        stored = hark.runtime.store.current
        assert (stored.lang, stored.get("persona_id"), stored.get("kept")) == ("de-DE", "kept", "yes")
        assert turn_of(hark)[-1].session_id == "default"


# Words, timers and what is left when a plugin is gone.


@pytest.mark.parametrize("words", ["", "\ud83d", "x" * 1_000_000], ids=["none", "half a character", "a novel"])
@pytest.mark.parametrize("kind", [UnprintableError, HostileMessageError, HiddenClassError, ValueError])
def test_every_exception_can_be_told_in_short(kind: type[Exception], words: str) -> None:
    try:
        raise kind(words)
    except Exception as raised:
        told, stack = describe_error(raised), error_stack(raised)
    assert kind.__name__ in told
    assert len(told.encode()) < 3_000
    assert __file__ in stack


async def test_a_timer_for_no_number_of_seconds_is_refused(assistant: MakeAssistant) -> None:
    plugin = claims()
    async with assistant(plugin):
        with pytest.raises(ValueError, match="number of seconds"):
            plugin.host.after(float("nan"), lambda: None)


async def test_a_plugin_that_was_stopped_can_start_nothing_more(assistant: MakeAssistant) -> None:
    plugin = claims()
    async with assistant(plugin):
        pass
    work = asyncio.Event().wait()
    for start in (
        lambda: plugin.host.on("test.note", lambda _message: None),
        lambda: plugin.host.after(1.0, lambda: None),
        lambda: plugin.host.task(work),  # type: ignore[arg-type]
    ):
        with pytest.raises(RuntimeError, match="has been stopped"):
            start()


async def test_a_listener_that_hung_three_times_is_not_called_again(assistant: MakeAssistant) -> None:
    gate, calls = threading.Event(), threading.Semaphore(0)

    class Hangs(Plugin):
        id = "hangs"

        async def start(self) -> None:
            self.host.on("test.note", self.listen)

        def listen(self, message: Message) -> None:
            calls.release()
            gate.wait(20)

    async with assistant(Hangs()) as hark:
        for _ in range(3):
            hark.bus.emit(Message("test.note"))
            assert await asyncio.to_thread(calls.acquire, timeout=20)
            await hark.clock.advance(61.0)
        hark.bus.emit(Message("test.note"))
        await settle()
        assert not calls.acquire(blocking=False)
        gate.set()


async def test_a_plugin_whose_timers_hang_gets_no_more_threads_for_them(assistant: MakeAssistant) -> None:
    gate, calls = threading.Event(), threading.Semaphore(0)

    def hang() -> None:
        calls.release()
        gate.wait(20)

    plugin = claims(quick=False)
    async with assistant(plugin) as hark:
        for _ in range(3):
            plugin.host.after(1.0, hang)
            await hark.clock.advance(1.0)
            assert await asyncio.to_thread(calls.acquire, timeout=20)
            await hark.clock.advance(61.0)
        plugin.host.after(1.0, hang)
        await hark.clock.advance(2.0)
        assert not calls.acquire(blocking=False)
        gate.set()


async def test_a_match_of_a_subclass_is_not_believed(assistant: MakeAssistant) -> None:
    class Sworn(Match, frozen=True):
        def defect(self) -> None:
            return None

    swears = matcher("swears", lambda utterances, lang, session: Sworn("", "", lang, ""))
    async with assistant(swears, claims()) as hark:
        assert await hark.hears("hello") == ["hello"]
