"""A clock that stands still until it is told to go on."""

from __future__ import annotations

import asyncio

import pytest

from hark.testing import FakeClock, settle


async def test_time_stands_still() -> None:
    clock = FakeClock()
    before = (clock.wall(), clock.monotonic())
    await settle()
    assert (clock.wall(), clock.monotonic()) == before
    assert before == (1_767_268_800.0, 0.0)


async def test_both_times_advance_together() -> None:
    clock = FakeClock(wall=100.0)
    await clock.advance(2.5)
    assert (clock.wall(), clock.monotonic()) == (102.5, 2.5)
    clock.pass_by(1.5)
    assert (clock.wall(), clock.monotonic()) == (104.0, 4.0)


async def test_timers_go_off_in_order_each_at_its_time() -> None:
    clock = FakeClock()
    calls: list[tuple[str, float]] = []
    for name, seconds in (("c", 3.0), ("a", 1.0), ("b", 1.0), ("late", 9.0)):
        clock.after(seconds, lambda name=name: calls.append((name, clock.monotonic())))
    await clock.advance(5.0)
    assert calls == [("a", 1.0), ("b", 1.0), ("c", 3.0)]
    assert clock.monotonic() == 5.0


async def test_a_timer_set_by_a_timer_goes_off_in_the_same_advance() -> None:
    clock = FakeClock()
    calls: list[float] = []

    def again() -> None:
        calls.append(clock.monotonic())
        clock.after(1.0, again)

    clock.after(1.0, again)
    await clock.advance(3.5)
    assert calls == [1.0, 2.0, 3.0]


async def test_a_timer_can_be_called_off() -> None:
    clock = FakeClock()
    calls: list[str] = []
    clock.after(1.0, lambda: calls.append("no")).cancel()
    clock.after(-5.0, lambda: calls.append("at once"))
    await clock.advance(0.0)
    assert calls == ["at once"]
    await clock.advance(2.0)
    assert calls == ["at once"]


async def test_sleepers_wake_when_their_time_has_come() -> None:
    clock = FakeClock()
    woken: list[float] = []

    async def sleep(seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append(clock.monotonic())

    tasks = [asyncio.ensure_future(sleep(seconds)) for seconds in (3.0, 1.0, 2.0)]
    await clock.advance(2.5)
    assert woken == [1.0, 2.0]
    await clock.advance(1.0)
    assert all(task.done() for task in tasks)


async def test_time_that_passes_by_wakes_nobody_until_somebody_looks() -> None:
    clock = FakeClock()
    calls: list[float] = []
    clock.after(1.0, lambda: calls.append(clock.monotonic()))
    clock.pass_by(5.0)
    await settle()
    assert calls == []
    await clock.advance(0.0)
    assert calls == [5.0]


async def test_a_timeout_goes_by_this_clock() -> None:
    clock = FakeClock()

    async def bounded() -> None:
        async with clock.timeout(2.0):
            await asyncio.Event().wait()

    task = asyncio.ensure_future(bounded())
    await clock.advance(1.9)
    assert not task.done()
    await clock.advance(0.2)
    with pytest.raises(TimeoutError):
        await task
