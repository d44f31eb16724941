"""A plugin that was accepted, with everything that is known about its behaviour."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from threading import Lock
from typing import Any, Final, Generic, Literal, TypeVar

from hark.plugins import Plugin

P = TypeVar("P", bound=Plugin)

Mode = Literal["inline", "worker", "loop"]
"""Where its main method runs: on the spot, on a worker thread, or as a task on the event loop."""

TOO_MANY_ABANDONED: Final = 3

OVERRUNS: Final = 3
DEMOTED_AT_ONCE: Final = 0.25

_counting: Final = Lock()


class Loaded(Generic[P]):
    """One loaded plugin: how it is called, and whether it can be relied on."""

    __slots__ = (
        "_failures_allowed",
        "_retry_after",
        "abandoned",
        "call",
        "demoted",
        "failures",
        "id",
        "limit",
        "mode",
        "open_until",
        "origin",
        "overruns",
        "plugin",
        "stall",
        "unloaded",
    )

    def __init__(
        self,
        plugin: P,
        call: Callable[..., Any],
        *,
        origin: str = "",
        limit: float = 10.0,
        failures_allowed: int = 5,
        retry_after: float = 60.0,
    ) -> None:
        self.plugin = plugin
        self.id = plugin.id
        self.call = call
        self.origin = origin
        """Where it came from: file and line, or package."""
        self.limit = limit
        """Seconds one call may take."""
        self.mode: Mode = "loop" if inspect.iscoroutinefunction(call) else "inline" if plugin.quick else "worker"
        self.failures = 0
        """Calls in a row that failed."""
        self.abandoned = 0
        """Calls that did not come back in time and are still running."""
        self.overruns = 0
        """Calls that took longer than a quick plugin may."""
        self.demoted = ""
        """Why it no longer runs inline, when it does not keep its promise to be quick."""
        self.unloaded = ""
        """Why it is out of service for the life of this process."""
        self.open_until = 0.0
        """While the breaker is open: when the next try is allowed."""
        self.stall = ""
        """The stack the watchdog last saw it block the event loop with."""
        self._failures_allowed = failures_allowed
        self._retry_after = retry_after

    def allow(self, limit: float, failures_allowed: int, retry_after: float) -> None:
        """Set other limits; they hold from the next call on."""
        self.limit = limit
        self._failures_allowed = failures_allowed
        self._retry_after = retry_after

    def available(self, now: float) -> bool:
        """Whether it may be called: not unloaded, and not resting after too many failures in a row."""
        if self.unloaded:
            return False
        return self.failures < self._failures_allowed or now >= self.open_until

    def succeeded(self) -> None:
        """A call went well: the count of failures starts over."""
        self.failures = 0

    def failed(self, now: float) -> bool:
        """A call went wrong; true when the breaker opens with it."""
        self.failures += 1
        if self.failures >= self._failures_allowed:
            self.open_until = now + self._retry_after
            return self.failures == self._failures_allowed
        return False

    def was_abandoned(self) -> None:
        """A call is still running somewhere and was given up; too many of those at once and the plugin is out."""
        with _counting:
            self.abandoned += 1
            if self.abandoned >= TOO_MANY_ABANDONED:
                self.unloaded = f"{self.abandoned} of its calls have not returned"

    def came_back(self) -> None:
        """A call that was given up has returned after all, on its own thread."""
        with _counting:
            self.abandoned -= 1

    def overran(self, seconds: float) -> bool:
        """A quick call was slow; true when it runs on a worker from now on.

        Any thread may be kept from running for a while by a busy machine: it takes a few overruns, or one that no
        machine explains, to break the promise.
        """
        self.overruns += 1
        if self.overruns < OVERRUNS and seconds < DEMOTED_AT_ONCE:
            return False
        self.mode = "worker"
        self.demoted = f"took {seconds * 1000:.0f} ms although it is declared quick"
        return True

    def __repr__(self) -> str:
        return f"<{type(self.plugin).__name__} {self.id!r} {self.mode}>"
