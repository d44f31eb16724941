"""Plugins as hosting sees them: loaded, with a call that a test decides."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from hark.hosting import Loaded, Runner, WorkerThreads
from hark.plugins import Plugin
from hark.testing import FakeClock


class Quick(Plugin):
    id = "quick"
    quick = True


class Slow(Plugin):
    id = "slow"


def loaded(call: Callable[..., Any], *, quick: bool = False, limit: float = 10.0, **options: Any) -> Loaded[Any]:
    """A plugin whose main method is `call`."""
    return Loaded(Quick() if quick else Slow(), call, limit=limit, **options)


def make_runner(max_threads: int = 256) -> tuple[Runner, FakeClock]:
    """A runner, and the clock it goes by."""
    clock = FakeClock()
    return Runner(clock, WorkerThreads(max_threads)), clock


class Blocker:
    """A call that blocks its thread until the test sets `opened`."""

    def __init__(self, result: Any = "through") -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()
        self.left = threading.Event()
        self.calls = 0
        self.result = result

    def __call__(self, *_args: Any) -> Any:
        self.calls += 1
        self.reached.set()
        assert self.opened.wait(20), "the test did not release it"
        self.left.set()
        if isinstance(self.result, BaseException):
            raise self.result
        return self.result


async def until(holds: Any) -> None:
    """Wait for another thread to get there."""
    for _ in range(10_000):
        if holds():
            return
        await asyncio.to_thread(lambda: None)
    raise AssertionError("it never came to that")
