"""What a bus promises, whatever carries it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from hark.model import Message

Listener = Callable[[Message], Awaitable[None] | None]
"""Takes a Message. `def` listeners run on the event loop and must be brief; `async def` ones may wait.

A `def` listener that has begun a task to deal with the Message may return it: then it is waited for in `settled`.
"""


class Subscription(Protocol):
    """A listener on a topic, until it is closed."""

    @property
    def name(self) -> str:
        """Who listens, for log lines."""

    def close(self) -> None:
        """Receive nothing more; what waits undelivered is forgotten."""


class Bus(Protocol):
    """Deliver Messages by topic; nothing else. No filter, no memory, no answer."""

    def emit(self, message: Message) -> None:
        """Hand `message` to whoever listens to its topic. Never blocks; may be called from any thread.

        Messages of one emitter reach each listener in the order they were emitted. Brief listeners may have been
        called when it returns.
        """

    def post(self, message: Message) -> None:
        """As `emit`, for callers whose time is measured: no listener is called before it returns."""

    def on(
        self,
        topic: str | Sequence[str],
        listener: Listener,
        *,
        name: str = "",
        concurrent: bool = False,
        eager: bool = False,
        group: str | None = None,
    ) -> Subscription:
        """Call `listener` for every Message on `topic` (or on any of several), one at a time and in order.

        `concurrent` starts a task for each Message instead, in that order; `eager` does so without waiting for the
        event loop, for listeners that do not ask for their own task before their first wait. Of the listeners that
        name the same `group`, each Message reaches one.
        """

    def taken(self, group: str) -> None:
        """Said by a listener in a group that has put down somewhere what it was called with: should this process be
        killed from now on, nobody else gets it. Who does not say so has taken it once it was called.
        """

    def tap(self, watcher: Callable[[Message], None]) -> Callable[[], None]:
        """Show `watcher` every Message as it is emitted; returns a function that ends it."""

    async def settled(self, patience: float = 5.0) -> list[str]:
        """Wait until listeners here have dealt with all that was emitted; the names of those still at it after
        `patience` seconds. Those that take Messages side by side are not waited for.
        """

    async def close(self) -> None:
        """Deliver nothing more and end the tasks that deliveries started."""
