"""The watchdog notices a blocked event loop and names the culprit."""

from __future__ import annotations

import asyncio
import logging
import selectors
import sys
import threading

import pytest
from hosted import loaded, make_runner

from flow.stage import reached
from hark.hosting import Watchdog
from hark.testing import settle


async def test_a_running_loop_is_not_reported() -> None:
    runner, clock = make_runner()
    watchdog = Watchdog(runner)
    for _ in range(10):
        assert watchdog.check() is None
        await clock.advance(0.25)
    assert watchdog.stalls == 0


async def test_an_idle_loop_is_not_blocked() -> None:
    runner, clock = make_runner()
    watchdog = Watchdog(runner)
    await clock.advance(3600.0)
    assert watchdog.check() is None
    await settle()
    assert watchdog.check() is None
    assert watchdog.stalls == 0


async def test_a_quick_plugin_that_blocks_the_loop_is_named_with_its_stack(caplog: pytest.LogCaptureFixture) -> None:
    runner, clock = make_runner()
    watchdog = Watchdog(runner)
    reports: list[str | None] = []

    def a_method_that_blocks() -> None:
        reports.append(watchdog.check())
        clock.pass_by(0.9)
        reports.append(watchdog.check())
        clock.pass_by(0.2)
        reports.append(watchdog.check())
        clock.pass_by(5.0)
        reports.append(watchdog.check())

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
    assert watchdog.check() is None, "the loop is alive again"


async def test_an_async_plugin_that_blocks_the_loop_is_named_by_its_task() -> None:
    runner, clock = make_runner()
    watchdog = Watchdog(runner)
    reports: list[str | None] = []

    async def blocks() -> None:
        watchdog.check()
        clock.pass_by(2.0)
        reports.append(watchdog.check())

    await runner.call(loaded(blocks))
    assert reports[0] is not None
    assert "was blocked for 2.0 s in slow; what is async def has to await" in reports[0]
    assert "in blocks" in reports[0]


async def test_a_stall_outside_any_plugin_is_reported_as_that() -> None:
    runner, clock = make_runner()
    watchdog = Watchdog(runner)
    reports: list[str | None] = []

    def blocks() -> None:
        watchdog.check()
        clock.pass_by(2.0)
        reports.append(watchdog.check())

    asyncio.get_running_loop().call_soon(blocks)
    await settle()
    assert reports[0] is not None
    assert "code outside any task" in reports[0]


async def test_each_stall_is_reported_once() -> None:
    runner, clock = make_runner()
    watchdog = Watchdog(runner)
    for stall in range(1, 4):
        watchdog.check()
        clock.pass_by(2.0)
        assert watchdog.check() is not None
        assert watchdog.check() is None
        assert watchdog.stalls == stall
        await settle()


async def test_its_thread_checks_until_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    runner, _ = make_runner()
    watchdog = Watchdog(runner, stalled=0.001)
    checked = threading.Event()
    monkeypatch.setattr(watchdog, "check", checked.set)
    before = set(threading.enumerate())
    watchdog.start()
    [thread] = [thread for thread in threading.enumerate() if thread not in before]
    await reached(checked)
    assert thread.daemon
    watchdog.stop()
    await asyncio.to_thread(thread.join, 20)
    assert not thread.is_alive()


async def test_a_loop_that_only_waits_is_not_blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    runner, clock = make_runner()
    watchdog = Watchdog(runner)
    with monkeypatch.context() as patched:  # the callback that would prove the loop alive never runs
        patched.setattr(asyncio.get_running_loop(), "call_soon_threadsafe", lambda *_: None)
        watchdog.check()
    clock.pass_by(5.0)
    loop_thread = threading.get_ident()

    def check_while_it_waits() -> str | None:
        while sys._current_frames()[loop_thread].f_code.co_filename != selectors.__file__:
            pass
        return watchdog.check()

    assert await asyncio.to_thread(check_while_it_waits) is None
    assert watchdog.stalls == 0
    assert watchdog.check() is not None


async def test_a_start_that_takes_long_is_not_reported_to_users(caplog: pytest.LogCaptureFixture) -> None:
    runner, clock = make_runner()
    watchdog = Watchdog(runner)
    with caplog.at_level(logging.INFO, "hark.watchdog"):
        watchdog.check()
        clock.pass_by(2.0)
        watchdog.check()
    assert [record.levelname for record in caplog.records] == ["INFO"]
