"""Running plugin code: where, for how long, and what becomes of it."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hosted import Blocker, loaded, make_runner, until

from flow.stage import reached
from hark.hosting import Late, describe_error
from hark.intents.grammar.template import read_template
from hark.testing import settle


def thread() -> int:
    return threading.get_ident()


# Where.


async def test_a_quick_plugin_runs_inline() -> None:
    runner, _ = make_runner()
    entry = loaded(thread, quick=True)
    assert entry.mode == "inline"
    assert (await runner.call(entry)).value == threading.get_ident()
    assert runner.call_now(entry).value == threading.get_ident()
    assert runner.threads.count == 0


async def test_a_plain_plugin_runs_on_a_worker() -> None:
    runner, _ = make_runner()
    entry = loaded(thread)
    assert entry.mode == "worker"
    assert (await runner.call(entry)).value != threading.get_ident()


async def test_an_async_plugin_runs_on_the_loop_in_a_task_with_its_name() -> None:
    runner, _ = make_runner()

    async def look() -> tuple[int, str]:
        task = asyncio.current_task()
        assert task is not None
        return threading.get_ident(), task.get_name()

    entry = loaded(look)
    assert entry.mode == "loop"
    assert (await runner.call(entry)).value == (threading.get_ident(), "slow")


@pytest.mark.parametrize("quick", [True, False])
async def test_arguments_and_result_pass_through(quick: bool) -> None:
    runner, _ = make_runner()
    outcome = await runner.call(loaded(lambda *args: args[::-1], quick=quick), 1, "two")
    assert (outcome.value, outcome.error, outcome.failure) == (("two", 1), None, "")


# Failures.


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
@pytest.mark.parametrize("where", ["inline", "worker", "loop"])
async def test_whatever_is_raised_becomes_an_outcome(where: str, error: BaseException) -> None:
    runner, _ = make_runner()

    def fail() -> None:
        raise error

    async def fail_async() -> None:
        raise error

    entry = loaded(fail_async if where == "loop" else fail, quick=where == "inline")
    outcome = await runner.call(entry)
    assert outcome.error is error
    assert outcome.value is None
    assert type(error).__name__ in outcome.failure
    assert entry.failures == 1


async def test_an_async_plugin_that_cancels_itself_has_failed() -> None:
    runner, _ = make_runner()

    async def give_up() -> None:
        raise asyncio.CancelledError

    entry = loaded(give_up)
    outcome = await runner.call(entry)
    assert "cancelled itself" in outcome.failure
    assert entry.failures == 1


async def test_cancelling_the_caller_cancels_the_async_plugin() -> None:
    runner, _ = make_runner()
    cancelled = asyncio.Event()

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    task = asyncio.ensure_future(runner.call(loaded(wait)))
    await settle()
    task.cancel()
    await settle()
    assert task.cancelled()
    assert cancelled.is_set()


@pytest.mark.parametrize("quick", [True, False])
async def test_a_plain_method_that_returns_a_coroutine_has_failed(quick: bool) -> None:
    runner, _ = make_runner()

    async def later() -> str:
        return "later"

    outcome = await runner.call(loaded(lambda: later(), quick=quick))
    assert isinstance(outcome.error, TypeError)
    assert "declare it async def" in outcome.failure


async def test_whether_a_call_went_well_is_for_those_to_say_who_look_at_its_result() -> None:
    runner, _ = make_runner()
    entry = loaded(thread, quick=True)
    entry.failed(0.0)
    runner.call_now(entry)
    assert entry.failures == 1
    entry.succeeded()
    assert entry.failures == 0


def test_a_failure_is_described_with_its_place() -> None:
    with pytest.raises(LookupError) as raised:
        raise LookupError("no such city")
    assert describe_error(raised.value).startswith("LookupError: no such city (")
    assert "test_runner.py:" in describe_error(raised.value)
    assert describe_error(ValueError()) == "ValueError"


@pytest.mark.parametrize("fault", [lambda: json.loads("{"), lambda: read_template("(")])
def test_the_place_is_in_the_plugin_though_it_was_raised_in_what_the_plugin_called(fault: Callable[[], object]) -> None:
    with pytest.raises(ValueError) as raised:
        fault()
    assert "test_runner.py:" in describe_error(raised.value)


def test_any_exception_can_be_described_in_text_that_can_be_sent() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise SystemExit

    assert describe_error(Mute()).startswith("Mute: ")
    assert describe_error(ValueError("half \ud83d")) == "ValueError: half ?"
    assert describe_error(ValueError("ünï ✓")) == "ValueError: ünï ✓"


async def test_guarded_work_fails_alone(caplog: pytest.LogCaptureFixture) -> None:
    runner, _ = make_runner()

    async def fail() -> None:
        raise SystemExit("no")

    with caplog.at_level(logging.ERROR, "hark.hosting"):
        assert await runner.guard(fail(), "a plugin") is None
    assert "a plugin failed: SystemExit: no" in caplog.text


# Time.


async def test_an_async_plugin_is_abandoned_at_its_limit() -> None:
    runner, clock = make_runner()
    cancelled: list[bool] = []

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    entry = loaded(hang, limit=2.0)
    call = asyncio.ensure_future(runner.call(entry))
    await clock.advance(1.9)
    assert not call.done()
    await clock.advance(0.2)
    outcome = call.result()
    assert isinstance(outcome.error, Late)
    assert (outcome.failure, outcome.seconds) == ("took longer than 2 s", 2.0)
    assert cancelled == [True]
    assert entry.failures == 1


async def test_an_async_plugin_that_ignores_its_cancellation_is_abandoned() -> None:
    runner, clock = make_runner()
    go_on = asyncio.Event()
    came_through: list[bool] = []

    async def stubborn() -> str:
        while not go_on.is_set():
            try:
                await go_on.wait()
            except asyncio.CancelledError:
                continue
        came_through.append(True)
        return "too late"

    entry = loaded(stubborn, limit=2.0)
    call = asyncio.ensure_future(runner.call(entry))
    await clock.advance(2.1)
    assert isinstance(call.result().error, Late)
    go_on.set()
    await settle()
    assert came_through == [True]
    assert entry.failures == 1, "a result that came too late does not wipe the failure away"


@pytest.mark.parametrize("limit", [0.5, 2.0])
async def test_a_worker_plugin_is_abandoned_at_its_limit(limit: float) -> None:
    runner, clock = make_runner()
    gate = Blocker()
    entry = loaded(gate, limit=limit)
    call = asyncio.ensure_future(runner.call(entry))
    await settle()
    await reached(gate.reached)
    await clock.advance(limit - 0.1)
    assert not call.done()
    await clock.advance(0.2)
    outcome = call.result()
    assert isinstance(outcome.error, Late)
    assert outcome.failure == f"took longer than {limit:g} s"
    assert (entry.failures, entry.abandoned) == (1, 1)
    gate.opened.set()


@pytest.mark.parametrize("result", ["fine after all", ValueError("and now this")])
async def test_what_a_worker_returns_too_late_changes_nothing(result: Any) -> None:
    runner, clock = make_runner()
    gate = Blocker(result)
    entry = loaded(gate, limit=1.0)
    call = asyncio.ensure_future(runner.call(entry))
    await settle()
    await reached(gate.reached)
    await clock.advance(1.5)
    outcome = call.result()
    gate.opened.set()
    await reached(gate.left)
    await until(lambda: entry.abandoned == 0)
    assert call.result() is outcome
    assert entry.failures == 1


async def test_the_limit_counts_from_when_the_plugin_starts_not_from_when_it_was_called() -> None:
    runner, clock = make_runner(max_threads=1)
    gate = Blocker()
    first = asyncio.ensure_future(runner.call(loaded(gate, limit=100.0)))
    await settle()
    await reached(gate.reached)
    waits = asyncio.ensure_future(runner.call(loaded(lambda: "in time", limit=1.0)))
    await clock.advance(50.0)
    assert not waits.done(), "it has not begun"
    gate.opened.set()
    assert (await asyncio.wait_for(waits, 10)).value == "in time"
    assert (await first).value == "through"


async def test_an_abandoned_worker_is_replaced() -> None:
    runner, clock = make_runner(max_threads=1)
    gate = Blocker()
    lost = asyncio.ensure_future(runner.call(loaded(gate, limit=1.0)))
    await settle()
    await reached(gate.reached)
    await clock.advance(1.5)
    assert isinstance(lost.result().error, Late)
    assert runner.threads.count == 0
    assert (await runner.call(loaded(lambda: "a new thread"))).value == "a new thread"
    assert runner.threads.count == 1
    gate.opened.set()


async def test_a_plugin_with_three_threads_lost_is_unloaded(caplog: pytest.LogCaptureFixture) -> None:
    runner, clock = make_runner()
    gate = Blocker()
    entry = loaded(gate, limit=1.0, failures_allowed=99)
    for lost in range(1, 4):
        gate.reached.clear()
        with caplog.at_level(logging.ERROR, "hark.hosting"):
            call = asyncio.ensure_future(runner.call(entry))
            await settle()
            await reached(gate.reached)
            await clock.advance(1.5)
        assert call.done()
        assert entry.abandoned == lost
        assert entry.available(clock.monotonic()) == (lost < 3)
    assert "slow is unloaded: 3 of its calls have not returned" in caplog.text
    gate.opened.set()


async def test_a_plugin_whose_calls_come_back_late_one_by_one_is_not_unloaded() -> None:
    runner, clock = make_runner()
    entry = loaded(lambda gate: gate(), limit=1.0, failures_allowed=99)
    for _ in range(4):
        gate = Blocker()
        call = asyncio.ensure_future(runner.call(entry, gate))
        await settle()
        await reached(gate.reached)
        await clock.advance(1.5)
        assert isinstance(call.result().error, Late)
        gate.opened.set()
        await until(lambda: entry.abandoned == 0)
    assert entry.unloaded == ""


async def test_a_quick_plugin_that_overruns_is_moved_to_a_worker(caplog: pytest.LogCaptureFixture) -> None:
    runner, clock = make_runner()
    threads: list[int] = []

    def work(seconds: float) -> None:
        threads.append(threading.get_ident())
        clock.pass_by(seconds)

    entry = loaded(work, quick=True)
    await runner.call(entry, 0.020)
    assert entry.mode == "inline", "20 ms are still quick"
    await runner.call(entry, 0.035)
    await runner.call(entry, 0.035)
    assert entry.mode == "inline", "a busy machine may have kept it from running"
    with caplog.at_level(logging.INFO, "hark.hosting.pace"):
        await runner.call(entry, 0.035)
    assert entry.mode == "worker"
    assert entry.demoted == "took 35 ms although it is declared quick"
    assert "quick is not quick: took 35 ms" in caplog.text
    await runner.call(entry, 0.0)
    assert set(threads[:4]) == {threading.get_ident()}
    assert threads[4] != threading.get_ident()
    assert entry.mode == "worker"


async def test_a_plugin_that_only_a_busy_machine_kept_from_being_quick_runs_inline_again() -> None:
    runner, clock = make_runner()
    entry = loaded(clock.pass_by, quick=True)

    async def calls_until_inline() -> int:
        await runner.call(entry, 0.3)
        assert entry.mode == "worker"
        for number in range(1_000):
            await runner.call(entry, 0.001)
            if entry.mode == "inline":
                return number + 1
        raise AssertionError("it stays on a worker thread")

    first = await calls_until_inline()
    assert entry.demoted == ""
    assert await calls_until_inline() == 4 * first, "one that is slow now and then stays there for longer"


async def test_slow_calls_that_are_far_apart_do_not_demote_a_plugin() -> None:
    runner, clock = make_runner()
    entry = loaded(clock.pass_by, quick=True)
    for _ in range(10):
        await runner.call(entry, 0.035)
        await clock.advance(100)
    assert entry.mode == "inline"


async def test_a_quick_plugin_that_takes_far_too_long_is_moved_at_once() -> None:
    runner, clock = make_runner()
    entry = loaded(lambda: clock.pass_by(0.3), quick=True)
    await runner.call(entry)
    assert entry.mode == "worker"


async def test_a_cancelled_call_gives_its_worker_up_once() -> None:
    runner, _ = make_runner()
    gate = Blocker()
    entry = loaded(gate)
    call = asyncio.ensure_future(runner.call(entry))
    await settle()
    await reached(gate.reached)
    call.cancel()
    await settle()
    assert call.cancelled()
    assert (runner.threads.count, entry.abandoned) == (0, 1)
    gate.opened.set()
    await until(lambda: entry.abandoned == 0)
    assert runner.threads.count == 0


async def test_a_limit_that_is_up_just_after_the_call_was_cancelled_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runner, clock = make_runner()
    looks: list[Any] = []
    after = clock.after
    monkeypatch.setattr(clock, "after", lambda seconds, look: looks.append(look) or after(seconds, look))
    gate = Blocker()
    entry = loaded(gate, limit=1.0)
    call = asyncio.ensure_future(runner.call(entry))
    await settle()
    await reached(gate.reached)
    call.cancel()
    clock.pass_by(2.0)
    looks[-1]()  # in the same round of the loop, before the cancellation was seen
    await settle()
    assert call.cancelled()
    assert entry.abandoned == 1
    gate.opened.set()
    await until(lambda: entry.abandoned == 0)


# The breaker.


def test_the_breaker_opens_after_five_failures_and_tries_again_after_a_while() -> None:
    entry = loaded(thread)
    opened = [entry.failed(now=float(n)) for n in range(5)]
    assert opened == [False, False, False, False, True]
    assert not entry.available(4.0 + 59.9)
    assert entry.available(4.0 + 60.0)
    assert not entry.failed(now=64.0), "it was open already"
    assert not entry.available(64.0 + 59.9)
    assert entry.available(64.0 + 60.0)
    entry.succeeded()
    assert entry.available(64.0)


def test_four_failures_and_a_success_leave_the_breaker_closed() -> None:
    entry = loaded(thread)
    for n in range(4):
        entry.failed(float(n))
    entry.succeeded()
    assert not any(entry.failed(5.0) for _ in range(4))
    assert entry.available(5.0)


async def test_opening_the_breaker_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    runner, _ = make_runner()

    def fail() -> None:
        raise ValueError("no")

    entry = loaded(fail, quick=True, failures_allowed=2)
    with caplog.at_level(logging.WARNING, "hark.hosting"):
        for _ in range(3):
            runner.call_now(entry)
    assert caplog.text.count("quick failed: ValueError: no") == 3
    assert caplog.text.count("quick failed 2 times in a row and is disabled for a while") == 1


async def test_a_wrong_shape_counts_as_a_failure() -> None:
    runner, _ = make_runner()
    entry = loaded(thread)
    runner.record_failure(entry, "not a list")
    assert entry.failures == 1
