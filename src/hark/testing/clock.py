"""Time for tests. It is the clock that scripts are played on."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Awaitable, Callable
from itertools import count
from weakref import WeakKeyDictionary

from hark.model import Clock, Timer

__all__ = ["FakeClock", "settle"]


_SETTLE = 50
"""Rounds of the event loop in which everything that can happen without time passing has happened."""


Quiet = Callable[[], Awaitable[bool]]
"""Waits until what is under way outside the event loop has arrived; whether anything did."""

_outside: WeakKeyDictionary[asyncio.AbstractEventLoop, list[Quiet]] = WeakKeyDictionary()


def also_wait_for(quiet: Quiet) -> Callable[[], None]:
    """Have `settle` on this event loop wait for a network as well; returns a function that ends it."""
    networks = _outside.setdefault(asyncio.get_running_loop(), [])
    networks.append(quiet)

    def end() -> None:
        if quiet in networks:
            networks.remove(quiet)

    return end


async def settle() -> None:
    """Let everything happen that needs no time."""
    networks = _outside.get(asyncio.get_running_loop(), ())
    while True:
        for _ in range(_SETTLE):
            await asyncio.sleep(0)
        if not any(await asyncio.gather(*(quiet() for quiet in networks))):
            return


class FakeClock(Clock):
    """Time for tests: nothing passes but by `advance`. Starts on 2026-01-01 at noon, UTC."""

    def __init__(self, wall: float = 1_767_268_800.0) -> None:
        self._wall = wall
        self._elapsed = 0.0
        self._timers: list[tuple[float, int, _Call]] = []
        self._order = count()

    def wall(self) -> float:
        """As promised by `Clock`."""
        return self._wall + self._elapsed

    def monotonic(self) -> float:
        """As promised by `Clock`."""
        return self._elapsed

    def after(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """As promised by `Clock`."""
        if seconds != seconds:  # NaN is neither before nor after anything
            raise ValueError("a timer needs a number of seconds")
        call = _Call(callback)
        heapq.heappush(self._timers, (self._elapsed + max(seconds, 0.0), next(self._order), call))
        return call

    @property
    def due(self) -> float | None:
        """Seconds until the next timer goes off; None when there is none."""
        while self._timers and self._timers[0][2].callback is None:
            heapq.heappop(self._timers)
        return self._timers[0][0] - self._elapsed if self._timers else None

    def pass_by(self, seconds: float) -> None:
        """Let time pass without anything happening meanwhile, as code that blocks does."""
        self._elapsed += seconds

    async def advance(self, seconds: float, settled: Callable[[], Awaitable[None]] = settle) -> None:
        """Let `seconds` pass: every timer that is due goes off in its order, and what follows from it happens.

        `settled` waits for that.
        """
        end = self._elapsed + seconds
        await settled()
        while self._timers and self._timers[0][0] <= end:
            due, _, call = heapq.heappop(self._timers)
            if call.callback is not None:
                self._elapsed = max(self._elapsed, due)
                call.callback()
                await settled()
        self._elapsed = max(self._elapsed, end)
        await settled()


class _Call:
    def __init__(self, callback: Callable[[], object]) -> None:
        self.callback: Callable[[], object] | None = callback

    def cancel(self) -> None:
        self.callback = None
