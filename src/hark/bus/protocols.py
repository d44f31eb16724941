"""What a bus promises, and what carries its Messages to other processes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol

from hark.model import Message

Listener = Callable[[Message], Awaitable[None] | None]
"""Takes a Message. `def` listeners run on the event loop and must be brief; `async def` ones may wait.

A `def` listener that started a task for the Message may return it: `Bus.settled` then waits for that task.
"""


class Subscription(Protocol):
    """A listener on a topic, until it is closed."""

    @property
    def name(self) -> str:
        """The listener's name, for log lines."""

    def close(self) -> None:
        """Receive nothing more; Messages that wait undelivered are dropped."""


class Bus(Protocol):
    """Delivers Messages by topic; nothing else. No filter, no memory, no answer."""

    @property
    def is_foreign(self) -> bool:
        """Whether a server carries it that is not Hark's own: that one checks nothing, and names no connections."""

    def emit(self, message: Message) -> None:
        """Deliver `message` to the listeners of its topic. Never blocks; may be called from any thread.

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
        event loop, for listeners that do not ask for their own task before their first wait.

        Of the listeners with the same `group`, each Message reaches one: of all processes where the broker shares out
        the work (NATS), else of this process.
        """

    def tap(self, watcher: Callable[[Message], None]) -> Callable[[], None]:
        """Show `watcher` every Message as it is emitted; returns a function that ends it."""

    async def settled(self, patience: float = 5.0) -> list[str]:
        """Wait until the listeners here have handled all that was emitted, at most `patience` seconds; the names of
        those still at work. Concurrent listeners are not waited for.
        """

    async def close(self) -> None:
        """Deliver nothing more and end the tasks that deliveries started."""


EVERYTHING: Final = "*"
"""What `Carrier.follow` is called with where every Message is wanted; no topic has this name."""

Receive = Callable[[bytes, str | None], None]
"""Takes a frame and the subscription that it came by: "" for its topic, a group's name, or `EVERYTHING`.

None stands for all of them at once: the broker sends each frame once, and the receiver finds its listeners.
"""


class Carrier(Protocol):
    """A connection to a broker, in frames: Messages as `encode` makes them. It reconnects, and follows again.

    A frame also comes back to its sender, if that follows the topic. Frames of one sender arrive in the order they were
    sent, each at most once, and a topic that was followed before a frame was sent brings that frame. After a lost
    connection, `receive` gets a Message on `hark.bus.again`: frames may have been lost.
    """

    async def open(self, receive: Receive) -> None:
        """Connect; from now on `receive` is called on the event loop with every frame that is followed."""

    def send(self, topic: str, frame: bytes) -> None:
        """Send a frame. Never blocks; on the event loop only."""

    def follow(self, topic: str, group: str = "") -> None:
        """Receive what is sent on `topic` (or `EVERYTHING`), as one of a group if one is named."""

    def unfollow(self, topic: str, group: str = "") -> None:
        """End `follow` with the same arguments."""

    async def flush(self) -> None:
        """Return when the broker has taken in everything that was sent and followed so far."""

    async def close(self) -> None:
        """Send what was not sent yet, then disconnect."""
