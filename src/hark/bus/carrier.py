"""What carries Messages to other processes and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

EVERYTHING: Final = "*"
"""What `Carrier.follow` is asked for where every Message is wanted; no topic is called so."""

Receive = Callable[[bytes, str], None]
"""Takes a frame and how it came: by its topic (""), by a group (its name), or because everything is wanted."""


class Carrier(Protocol):
    """A way to a broker, in frames: Messages as `encode` makes them. It keeps what is followed over reconnects.

    What is sent comes back, like everybody else's, to whoever follows its topic. Frames of one sender arrive in the
    order they were sent, and a topic that was followed before a frame was sent brings that frame. When it had lost its
    connection and has one again, it hands a Message on `hark.bus.again` to `receive`, for frames may have been lost.
    """

    async def open(self, receive: Receive) -> None:
        """Connect; from now on `receive` is called on the event loop with every frame that is followed."""

    def send(self, topic: str, frame: bytes) -> None:
        """Send a frame. Never blocks; on the event loop only."""

    def follow(self, topic: str, group: str = "") -> None:
        """Receive what is sent on `topic` (or `EVERYTHING`), as one of a group if one is named."""

    def unfollow(self, topic: str, group: str = "") -> None:
        """Receive that no longer."""

    def took(self, group: str) -> None:
        """Say that the next frame that came by a group is here: until then, the broker gives it to another of the
        group if we go. Nothing, where a broker does not keep count.
        """

    async def flush(self) -> None:
        """Return when the broker has taken in everything that was sent and followed so far."""

    async def close(self) -> None:
        """Send what was not sent yet, then disconnect."""
