"""Waiting, and what bounds it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

import pytest

from hark.model import Clock, SystemClock, Timer


class StoppedClock(Clock):
    """Time goes on when the test says so; timers go off on the loop, as they do with the machine's clock."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[Call] = []

    def wall(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    def after(self, seconds: float, callback: Callable[[], object]) -> Timer:
        call = Call(self.now + seconds, callback)
        self.timers.append(call)
        return call

    async def advance(self, seconds: float) -> None:
        await settle()
        self.now += seconds
        for call in [call for call in self.timers if call.due <= self.now]:
            self.timers.remove(call)
            asyncio.get_running_loop().call_soon(call)
        await settle()


class Call:
    def __init__(self, due: float, callback: Callable[[], object]) -> None:
        self.due = due
        self.callback: Callable[[], object] | None = callback

    def __call__(self) -> None:
        if self.callback is not None:
            self.callback()

    def cancel(self) -> None:
        self.callback = None


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def forever() -> None:
    await asyncio.get_running_loop().create_future()


async def test_sleep_returns_when_its_time_has_passed_and_not_before() -> None:
    clock = StoppedClock()
    sleeper = asyncio.create_task(clock.sleep(2))

    await clock.advance(1.9)
    assert not sleeper.done()
    await clock.advance(0.2)
    assert sleeper.done()


async def test_a_cancelled_sleep_calls_its_timer_off() -> None:
    clock = StoppedClock()
    sleeper = asyncio.create_task(clock.sleep(2))
    await settle()
    sleeper.cancel()
    await settle()

    assert sleeper.cancelled()
    assert clock.timers[0].callback is None
    await clock.advance(3)


async def test_a_block_that_takes_too_long_raises() -> None:
    clock = StoppedClock()

    async def work() -> None:
        async with clock.timeout(2):
            await forever()

    task = asyncio.create_task(work())
    await clock.advance(1.9)
    assert not task.done()
    await clock.advance(0.2)
    with pytest.raises(TimeoutError, match="2 s"):
        await task


async def test_a_block_that_is_done_in_time_calls_its_timer_off() -> None:
    clock = StoppedClock()
    async with clock.timeout(2):
        await asyncio.sleep(0)

    assert clock.timers[0].callback is None
    await clock.advance(3)


async def test_no_limit_sets_no_timer() -> None:
    clock = StoppedClock()
    async with clock.timeout(None):
        await asyncio.sleep(0)

    assert clock.timers == []


async def test_a_timeout_is_for_one_block() -> None:
    timeout = SystemClock().timeout(60)
    async with timeout:
        with pytest.raises(RuntimeError, match="once"):
            async with timeout:
                pass
    with pytest.raises(RuntimeError, match="once"):
        async with timeout:
            pass


async def test_the_system_clock_measures_and_waits() -> None:
    clock = SystemClock()
    before = clock.monotonic()
    await clock.sleep(0)

    assert clock.monotonic() >= before
    assert clock.wall() > 1_700_000_000


# The same stories with asyncio.timeout and with ours have to end the same way.

Bound = Callable[[float | None], AbstractAsyncContextManager[Any]]
BOUNDS: list[Bound] = [asyncio.timeout, SystemClock().timeout]


async def story_of_expiry(bound: Bound) -> None:
    async with bound(0):
        await forever()


async def story_of_the_inner_limit(bound: Bound) -> str:
    async with bound(60):
        try:
            async with bound(0):
                await forever()
        except TimeoutError:
            await asyncio.sleep(0)
            return "inner expired, outer goes on"
    return "nothing expired"


async def story_of_the_outer_limit(bound: Bound) -> str:
    try:
        async with bound(0):
            try:
                async with bound(60):
                    await forever()
            except TimeoutError:
                return "inner"
    except TimeoutError:
        return "outer"
    return "nothing expired"


async def story_of_both_limits_at_once(bound: Bound) -> str:
    try:
        async with bound(0):
            try:
                async with bound(0):
                    await forever()
            except TimeoutError:
                return "inner"
    except TimeoutError:
        return "outer"
    return "nothing expired"


async def story_of_a_cancellation_from_outside(bound: Bound) -> None:
    asyncio.get_running_loop().call_soon(current().cancel, "from outside")
    async with bound(60):
        await forever()


async def story_of_expiry_and_cancellation_at_once(bound: Bound) -> None:
    async with bound(0):
        asyncio.get_running_loop().call_later(0, current().cancel)
        await forever()


async def story_of_cancellation_right_after_expiry(bound: Bound) -> None:
    loop, task = asyncio.get_running_loop(), current()
    async with bound(0):
        try:
            await forever()
        finally:
            # Expired just now; other code cancels while the block is being left.
            loop.call_soon(task.cancel)
            await asyncio.sleep(0)


async def story_of_a_block_that_swallows_the_cancellation(bound: Bound) -> str:
    async with bound(0):
        with suppress(asyncio.CancelledError):
            await forever()
        await asyncio.sleep(0)
    return "left in peace"


async def story_of_another_error(bound: Bound) -> None:
    async with bound(0):
        try:
            await forever()
        except asyncio.CancelledError:
            raise ValueError("of its own") from None


async def story_of_an_error_in_time(bound: Bound) -> None:
    async with bound(60):
        raise ValueError("in time")


async def story_of_a_task_that_was_being_cancelled_before(bound: Bound) -> str:
    task = current()
    task.cancel()
    try:
        await forever()
    except asyncio.CancelledError:
        # Still cancelling, and cleaning up within a limit.
        try:
            async with bound(0):
                await forever()
        except TimeoutError:
            return f"clean-up expired, {task.cancelling()} to go"
    return "nothing expired"


def current() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task


STORIES = [value for name, value in list(globals().items()) if name.startswith("story_of")]


async def ending(story: Callable[[Bound], Any], bound: Bound) -> tuple[Any, ...]:
    async def reported() -> tuple[Any, ...]:
        try:
            result = await story(bound)
        finally:
            left.append(current().cancelling())
        return ("returned", result)

    left: list[int] = []
    task = asyncio.create_task(reported())
    try:
        outcome = await asyncio.wait_for(asyncio.shield(task), 30)
    except BaseException as error:
        outcome = ("raised", type(error), None if isinstance(error, TimeoutError) else error.args)
    return (*outcome, task.cancelled(), left)


MENDED = "_cancelling" in inspect.getsource(asyncio.Timeout)
"""Whether this Python's own timeout tells its cancellation from one that was under way before (since 3.11.5 or so)."""


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__[len("story_of_") :])
async def test_our_timeout_ends_every_story_as_asyncio_does(story: Callable[[Bound], Any]) -> None:
    theirs, ours = [await ending(story, bound) for bound in BOUNDS]

    if story is story_of_a_task_that_was_being_cancelled_before and not MENDED:
        theirs = ("returned", "clean-up expired, 1 to go", False, [1])
    assert ours == theirs


def test_the_stories_are_not_all_the_same_story() -> None:
    assert len(STORIES) == 11
    endings = {asyncio.run(ending(story, asyncio.timeout))[:2] for story in STORIES}
    assert len(endings) >= 6 + MENDED
