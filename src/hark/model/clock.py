"""Time as an argument: the only module, besides test clocks, that reads the time of the machine."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Protocol


class Timer(Protocol):
    """A scheduled call."""

    def cancel(self) -> None:
        """Cancel the call; no effect once it was made."""


class Clock(ABC):
    """Wall time, elapsed time, and waiting. Waiting needs a running event loop."""

    @abstractmethod
    def wall(self) -> float:
        """Unix seconds, for times that other machines and users read."""

    @abstractmethod
    def monotonic(self) -> float:
        """Seconds that never run backwards, for measuring."""

    @abstractmethod
    def after(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """Call `callback` on the event loop once `seconds` have passed."""

    async def sleep(self, seconds: float) -> None:
        """Return when `seconds` have passed."""
        done = asyncio.get_running_loop().create_future()

        def wake() -> None:
            if not done.done():
                done.set_result(None)

        timer = self.after(seconds, wake)
        try:
            await done
        finally:
            timer.cancel()

    def timeout(self, seconds: float | None) -> Timeout:
        """`async with clock.timeout(2): ...` raises `TimeoutError` when the block takes longer; None never does."""
        return Timeout(self, seconds)


class SystemClock(Clock):
    """The machine's own time."""

    wall = staticmethod(time.time)
    monotonic = staticmethod(time.monotonic)

    def after(self, seconds: float, callback: Callable[[], object]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, callback)


class Timeout:
    """Bounds one block of code, as `asyncio.timeout` does; see `Clock.timeout`."""

    def __init__(self, clock: Clock, seconds: float | None) -> None:
        self._clock = clock
        self._seconds = seconds
        self._timer: Timer | None = None
        self._task: asyncio.Task[object] | None = None
        self._expired = False
        self._cancelling = 0

    async def __aenter__(self) -> Timeout:
        if self._task is not None:
            raise RuntimeError("a timeout can be entered once")
        self._task = asyncio.current_task()
        if self._task is None:
            raise RuntimeError("a timeout needs a running task")
        self._cancelling = self._task.cancelling()
        if self._seconds is not None:
            self._timer = self._clock.after(self._seconds, self._expire)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if not self._expired or self._task is None:
            return
        # The task may have been cancelled by other code as well: then that cancellation goes on.
        ours = self._task.uncancel() <= self._cancelling
        if ours and kind is not None and issubclass(kind, asyncio.CancelledError):
            raise TimeoutError(f"took longer than {self._seconds} s") from error

    def _expire(self) -> None:
        self._expired = True
        if self._task is not None:
            self._task.cancel()
