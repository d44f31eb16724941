"""Hark's own work that would block the event loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from hark.hosting import Runner

T = TypeVar("T")

_LIMIT: Final = 20.0
"""Seconds: a file may be on a disk that is asleep or gone."""


async def off_loop(runner: Runner, work: Callable[[], T]) -> T:
    """Run `work` on a worker thread. Returns or raises what it does; `TimeoutError` when it does not come back."""
    job = runner.threads.submit(lambda _job: work())
    try:
        async with runner.clock.timeout(_LIMIT):
            result: T = await job.done
            return result
    finally:
        if job.abandon():
            runner.threads.abandoned(job)
