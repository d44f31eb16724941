"""Starting work at once instead of in the event loop's next round."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from types import coroutine
from typing import Any


def start(work: Coroutine[Any, Any, None], loop: asyncio.AbstractEventLoop) -> asyncio.Task[None] | None:
    """Run `work` up to its first wait, now; the task that goes on with it, or None when it is through already.

    Up to that wait it has no task of its own, so it must not ask for one (Python 3.12 can do this by itself).
    """
    try:
        waits_for = work.send(None)
    except (StopIteration, asyncio.CancelledError):
        return None
    return loop.create_task(_go_on(work, waits_for))


@coroutine
def _go_on(work: Coroutine[Any, Any, None], waits_for: Any) -> Generator[Any, Any, None]:
    """Be `work` to a task: hand out what it waits for, hand in what comes of it."""
    try:
        while True:
            try:
                result = yield waits_for
            except BaseException as error:
                waits_for = work.throw(error)
            else:
                waits_for = work.send(result)
    except StopIteration:
        return
