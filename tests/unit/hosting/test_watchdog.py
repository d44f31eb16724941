"""Noticing that the event loop stands still."""

from __future__ import annotations

import asyncio
import logging
import threading

import pytest
from hosted import loaded, make_runner

from flow.stage import reached
from hark.hosting import Watchdog
from hark.testing import settle


async def test_a_live_loop_is_left_alone() -> None:
    runner, clock = make_runner()
    watchdog = Watchdog(runner)
    for _ in range(10):
        assert watchdog.look() is None
        await clock.advance(0.25)
    assert watchdog.stalls == 0


async def test_an_idle_time_is_no_stall() -> None:
    runner, clock = make_runner()
    watchdog = Watchdog(runner)
    await clock.advance(3600.0)
    assert watchdog.look() is None
    await settle()
    assert watchdog.look() is None
    assert watchdog.stalls == 0


async def test_a_quick_plugin_that_blocks_the_loop_is_named_with_its_stack(caplog: pytest.LogCaptureFixture) -> None:
    runner, clock = make_runner()
    watchdog = Watchdog(runner)
    reports: list[str | None] = []

    def a_method_that_blocks() -> None:
        reports.append(watchdog.look())
        clock.pass_by(0.9)
        reports.append(watchdog.look())
        clock.pass_by(0.2)
        reports.append(watchdog.look())
        clock.pass_by(5.0)
        reports.append(watchdog.look())

    entry = loaded(a_method_that_blocks, quick=True)
    with caplog.at_level(logging.ERROR, "hark.watchdog"):
        runner.call_now(entry)
    early, soon, named, again = reports
    assert early is soon is again is None
    assert named is not None
    assert named.startswith("the event loop was blocked for 1.1 s in quick\n")
    assert "in a_method_that_blocks" in named
    assert named in caplog.text
    assert "in a_method_that_blocks" in entry.stall
    assert watchdog.stalls == 1
    assert entry.mode == "worker"
    await settle()
    assert watchdog.look() is None, "the loop is alive again"


async def test_an_async_plugin_that_blocks_the_loop_is_named_by_its_task() -> None:
    runner, clock = make_runner()
    watchdog = Watchdog(runner)
    reports: list[str | None] = []

    async def blocks() -> None:
        watchdog.look()
        clock.pass_by(2.0)
        reports.append(watchdog.look())

    await runner.call(loaded(blocks))
    assert reports[0] is not None
    assert "stood still for 2.0 s in slow\n" in reports[0]
    assert "in blocks" in reports[0]


async def test_a_stall_outside_any_plugin_is_told_as_that() -> None:
    runner, clock = make_runner()
    watchdog = Watchdog(runner)
    reports: list[str | None] = []

    def blocks() -> None:
        watchdog.look()
        clock.pass_by(2.0)
        reports.append(watchdog.look())

    asyncio.get_running_loop().call_soon(blocks)
    await settle()
    assert reports[0] is not None
    assert "something outside any task" in reports[0]


async def test_each_stall_is_reported_once() -> None:
    runner, clock = make_runner()
    watchdog = Watchdog(runner)
    for stall in range(1, 4):
        watchdog.look()
        clock.pass_by(2.0)
        assert watchdog.look() is not None
        assert watchdog.look() is None
        assert watchdog.stalls == stall
        await settle()


async def test_the_thread_looks_by_itself_and_ends_when_told_to() -> None:
    runner, _ = make_runner()
    watchdog = Watchdog(runner, stalled=0.001)
    looked = threading.Event()
    real = watchdog.look

    def look() -> str | None:
        looked.set()
        return real()

    watchdog.look = look  # type: ignore[method-assign]
    before = set(threading.enumerate())
    watchdog.start()
    [thread] = [thread for thread in threading.enumerate() if thread not in before]
    await reached(looked)
    assert thread.daemon
    watchdog.stop()
    await asyncio.to_thread(thread.join, 20)
    assert not thread.is_alive()


async def test_a_loop_that_only_waits_is_not_to_blame(monkeypatch: pytest.MonkeyPatch) -> None:
    runner, clock = make_runner()
    watchdog = Watchdog(runner)
    monkeypatch.setattr(watchdog, "_alive", lambda: None)  # as if it was given no time to say so
    watchdog.look()
    clock.pass_by(5.0)

    def look_from_outside() -> str | None:
        while not watchdog._is_waiting():
            pass
        return watchdog.look()

    assert await asyncio.to_thread(look_from_outside) is None
    assert watchdog.stalls == 0
    assert watchdog.look() is not None
