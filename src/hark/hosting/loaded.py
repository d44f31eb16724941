"""A loaded plugin: how it is called, its limits, and its record of failures."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from threading import Lock
from typing import Any, Final, Generic, Literal, TypeVar

from hark.plugins import Plugin

P = TypeVar("P", bound=Plugin)

Mode = Literal["inline", "worker", "loop"]
"""Where its main method runs: on the calling thread, on a worker thread, or as a task on the event loop."""

TOO_MANY_ABANDONED: Final = 3
"""Calls that have not returned at the same time, after which a plugin is unloaded."""

OVERRUNS: Final = 3
"""Slow calls within `OVERRUNS_WITHIN` after which a quick plugin is moved to a worker thread."""
OVERRUNS_WITHIN: Final = 60.0
"""Seconds after which a slow call is forgotten."""

_QUICK_AGAIN: Final = 50
"""Quick calls on a worker thread after which a plugin runs inline again; each time four times as many."""
_SLOW_COUNTS: Final = 10
"""How many quick calls a slow one among them outweighs."""

DEMOTED_AT_ONCE: Final = 0.25
"""Seconds of a single call that move a quick plugin to a worker thread."""

_abandoned_lock: Final = Lock()


class Loaded(Generic[P]):
    """One loaded plugin with its circuit breaker. `available` says whether it may be called."""

    __slots__ = (
        "_failures_allowed",
        "_overran_at",
        "_quick_again",
        "_quick_calls",
        "_retry_after",
        "_timeouts_only",
        "abandoned",
        "call",
        "demoted",
        "essential",
        "failures",
        "id",
        "limit",
        "mode",
        "open_until",
        "origin",
        "overruns",
        "plugin",
        "priority",
        "stall",
        "timeouts",
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
        timeouts_only: bool = False,
    ) -> None:
        self.plugin = plugin
        self.id = plugin.id
        self.call = call
        self.origin = origin
        """Where it was loaded from: file and line, or package."""
        self.limit = limit
        """Seconds one call may take."""
        self.mode: Mode = "loop" if inspect.iscoroutinefunction(call) else "inline" if plugin.quick else "worker"
        self.failures = 0
        """Failures in a row."""
        self.timeouts = 0
        """Calls in a row that exceeded their limit."""
        self.priority: int = getattr(plugin, "priority", 50)
        """Of a transformer: its place in the chain, its own or that of the settings."""
        self.essential = False
        """Of a transformer: whether what it does not approve of is cancelled (ruling R19)."""
        self.abandoned = 0
        """Calls that exceeded their limit and are still running."""
        self.overruns = 0
        """Calls that took longer than a quick plugin may."""
        self.demoted = ""
        """Why it does not run inline although it is declared quick."""
        self._overran_at = 0.0
        self._quick_again = _QUICK_AGAIN
        self._quick_calls = 0
        self.unloaded = ""
        """Why it is out of service for the life of this process."""
        self.open_until = 0.0
        """When a call is tried again while the breaker is open."""
        self.stall = ""
        """The stack with which the watchdog last saw it block the event loop."""
        self._failures_allowed = failures_allowed
        self._retry_after = retry_after
        self._timeouts_only = timeouts_only
        """Whether only timeouts open the breaker: a transformer that raises is called again (ruling R19)."""

    def set_limits(self, limit: float, failures_allowed: int, retry_after: float) -> None:
        """Use other limits from the next call on."""
        self.limit = limit
        self._failures_allowed = failures_allowed
        self._retry_after = retry_after

    def available(self, now: float) -> bool:
        """Whether it may be called: it is not unloaded, and the breaker is not open."""
        if self.unloaded:
            return False
        return self._counted < self._failures_allowed or now >= self.open_until

    def suspended(self, now: float) -> str:
        """Why it is not called at the moment; empty when it is."""
        if self.unloaded:
            return self.unloaded
        if self.available(now):
            return ""
        what = "it was late" if self._timeouts_only else "it failed"
        return f"{what} {self._counted} times in a row"

    def succeeded(self) -> None:
        """Reset the count of failures."""
        self.failures = self.timeouts = 0

    def failed(self, now: float, *, late: bool = False) -> bool:
        """Count a failure, `late` if it exceeded its limit; true when it opens the breaker."""
        self.failures += 1
        self.timeouts = self.timeouts + 1 if late else 0
        if (late or not self._timeouts_only) and self._counted >= self._failures_allowed:
            self.open_until = now + self._retry_after
            return self._counted == self._failures_allowed
        return False

    @property
    def _counted(self) -> int:
        return self.timeouts if self._timeouts_only else self.failures

    def was_abandoned(self) -> None:
        """Count a call that is still running after its limit; too many at once unload the plugin."""
        with _abandoned_lock:
            self.abandoned += 1
            if self.abandoned >= TOO_MANY_ABANDONED:
                self.unloaded = f"{self.abandoned} of its calls have not returned"

    def returned_late(self) -> None:
        """An abandoned call has returned after all, on its own thread."""
        with _abandoned_lock:
            self.abandoned -= 1

    def overran(self, seconds: float, now: float) -> bool:
        """Count a slow call of a quick plugin; true when it runs on a worker thread from now on.

        A busy machine can delay any thread for a while, so a single overrun does not demote a plugin.
        """
        self.overruns = self.overruns + 1 if now - self._overran_at < OVERRUNS_WITHIN else 1
        self._overran_at = now
        if self.overruns < OVERRUNS and seconds < DEMOTED_AT_ONCE:
            return False
        self.mode = "worker"
        self.demoted = f"took {seconds * 1000:.0f} ms although it is declared quick"
        self._quick_calls = 0
        return True

    def returned(self, quickly: bool) -> bool:
        """Count a call of a demoted plugin on a worker thread; true when it runs inline again from now on.

        The machine may have been busy when it was demoted, and a call on a worker thread costs many times as much.
        """
        self._quick_calls = self._quick_calls + 1 if quickly else max(0, self._quick_calls - _SLOW_COUNTS)
        if self._quick_calls < self._quick_again or self.mode != "worker":
            return False
        self._quick_again *= 4
        self.overruns, self.demoted, self.mode = 0, "", "inline"
        return True

    def __repr__(self) -> str:
        return f"<{type(self.plugin).__name__} {self.id!r} {self.mode}>"
