"""Starting work at once instead of in the event loop's next round."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Coroutine, Generator
from contextlib import suppress
from types import coroutine
from typing import Any


class NotBegun(asyncio.CancelledError):
    """The task that was to go on with the work was cancelled before its first step."""


def start(work: Coroutine[Any, Any, None], loop: asyncio.AbstractEventLoop) -> asyncio.Task[None] | None:
    """Run `work` up to its first wait, now; the task that goes on with it, or None when it is through already.

    Up to that wait it has no task of its own, so it must not ask for one (Python 3.12 can do this by itself).
    """
    try:
        waits_for = work.send(None)
    except (StopIteration, asyncio.CancelledError):
        return None
    task = loop.create_task(_rest_of(work, waits_for))
    task.add_done_callback(lambda _task: _end(work))
    return task


def _end(work: Coroutine[Any, Any, None]) -> None:
    """A task that is cancelled before its first step never enters `_go_on`: tell `work` that it is over."""
    if inspect.getcoroutinestate(work) == inspect.CORO_SUSPENDED:
        with suppress(StopIteration, asyncio.CancelledError):
            work.throw(NotBegun())
        work.close()


async def _rest_of(work: Coroutine[Any, Any, None], waits_for: Any) -> None:
    await _go_on(work, waits_for)  # a task takes nothing but a coroutine


@coroutine
def _go_on(work: Coroutine[Any, Any, None], waits_for: Any) -> Generator[Any, Any, None]:
    """Be `work` to a task: hand out what it waits for, hand in what comes of it."""
    try:
        while True:
            try:
                result = yield waits_for
            except BaseException as error:  # noqa: BLE001 - handed on, not caught
                waits_for = work.throw(error)
            else:
                waits_for = work.send(result)
    except StopIteration:
        return
