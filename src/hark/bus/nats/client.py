"""The official client, with one order for all subscriptions.

`nats-py` gives each subscription a queue and a task of its own: two Messages on different subjects may then be handled
in either order, and each costs a round of the event loop. Here a Message is handed on as it is read. What is sent goes
out in one write for each round of the event loop, subscriptions and Messages in their order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from nats.aio.client import Client
from nats.aio.subscription import Subscription

_FAIR: Final = 64
"""Messages in one go before the event loop gets to do other things."""

Deliver = Callable[[str, str, bytes], None]
"""Takes the subject and the queue group of a subscription, and a frame that came by it."""


class OrderedClient(Client):
    """Reconnects, authenticates and replays subscriptions as `Client` does."""

    def __init__(self, deliver: Deliver) -> None:
        super().__init__()
        self._deliver = deliver
        self._in_a_row = 0

    def subscription(self, subject: str, queue: str) -> tuple[Subscription, bytes]:
        """A subscription that is replayed from now on at each reconnect, and the command that begins it."""
        self._sid += 1
        subscription = self._subs[self._sid] = Subscription(self, self._sid, subject, queue)
        return subscription, f"SUB {subject} {queue} {self._sid}\r\n".encode()

    def end(self, subscription: Subscription) -> bytes:
        """Replay a subscription no longer; the command that ends it."""
        self._subs.pop(subscription._id, None)
        return b"UNSUB %d\r\n" % subscription._id

    def write(self, commands: list[bytes]) -> None:
        """Send commands, in this order, after what was sent before."""
        transport: Any = self._transport
        transport.write(b"".join(commands))

    async def drained(self) -> None:
        """Return when the network has taken most of what was written."""
        transport: Any = self._transport
        await transport.drain()

    async def _process_msg(self, sid: int, _subject: bytes, _reply: bytes, data: bytes, _headers: bytes) -> None:
        subscription = self._subs.get(sid)
        if subscription is None:
            return
        self._deliver(subscription.subject, subscription.queue, data)
        self._in_a_row += 1
        if self._in_a_row >= _FAIR:
            self._in_a_row = 0
            await asyncio.sleep(0)
