"""A clock that can be stopped for good."""

from __future__ import annotations

from collections.abc import Callable

from hark.model import Clock, Timer


class StoppableClock(Clock):
    """Another clock, whose timers all end with `stop`, whoever set them: nothing goes off in a closed house."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._timers: set[_Timer] = set()
        self._stopped = False
        # Every step of a turn asks for the time: no detour.
        self.wall = clock.wall  # type: ignore[method-assign]
        self.monotonic = clock.monotonic  # type: ignore[method-assign]

    def wall(self) -> float:
        """As promised by `ClockWords`."""
        return self._clock.wall()

    def monotonic(self) -> float:
        """As promised by `ClockWords`."""
        return self._clock.monotonic()

    def after(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """As promised by `ClockWords`; never, once it is stopped."""
        timer = _Timer(callback, self._timers)
        if not self._stopped:
            self._timers.add(timer)
            timer.inner = self._clock.after(seconds, timer.due)
        return timer

    def stop(self) -> None:
        """Let nothing go off any more."""
        self._stopped = True
        for timer in list(self._timers):
            timer.cancel()


class _Timer:
    __slots__ = ("_callback", "_open", "inner")

    def __init__(self, callback: Callable[[], object], open_timers: set[_Timer]) -> None:
        self._callback = callback
        self._open = open_timers
        self.inner: Timer | None = None

    def due(self) -> None:
        self._open.discard(self)
        self._callback()

    def cancel(self) -> None:
        self._open.discard(self)
        if self.inner is not None:
            self.inner.cancel()
