"""The official client, with one order for all subscriptions.

`nats-py` gives each subscription a queue and a task of its own: two Messages on different subjects may then be handled
in either order, and each costs a round of the event loop. Here a Message is handed on as it is read. What is sent goes
out in one write for each round of the event loop, subscriptions and Messages in their order.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Final

from nats.aio.client import Client
from nats.aio.subscription import Subscription

log = logging.getLogger("hark.bus")

_FAIR: Final = 64
"""Messages in one go before the event loop gets to do other things."""

Callback = Callable[[str, str, bytes, bytes], None]
"""Takes what came by a subscription: subject, reply subject, headers as they are on the wire, and payload."""


class OrderedClient(Client):
    """Reconnects, authenticates and replays subscriptions as `Client` does."""

    def __init__(self) -> None:
        super().__init__()
        self._callbacks: dict[int, Callback] = {}
        self._in_a_row = 0

    def subscription(self, subject: str, queue: str, callback: Callback) -> tuple[int, bytes]:
        """The number of a subscription, replayed at each reconnect from now on, and the command that begins it."""
        self._sid += 1
        self._subs[self._sid] = Subscription(self, self._sid, subject, queue)
        self._callbacks[self._sid] = callback
        return self._sid, f"SUB {subject} {queue} {self._sid}\r\n".encode()

    def end(self, sid: int) -> bytes:
        """Replay a subscription no longer; the command that ends it."""
        self._subs.pop(sid, None)
        self._callbacks.pop(sid, None)
        return b"UNSUB %d\r\n" % sid

    def write(self, commands: list[bytes]) -> None:
        """Send commands, in this order, after what was sent before."""
        transport: Any = self._transport
        transport.write(b"".join(commands))

    async def drained(self) -> None:
        """Return when the network has taken most of what was written."""
        transport: Any = self._transport
        await transport.drain()

    async def _process_connect_init(self) -> None:
        try:
            await super()._process_connect_init()
        except BaseException:  # the client forgets this connection, and would leave its socket open
            transport: Any = self._transport
            transport.close()
            raise

    async def _process_msg(self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes) -> None:
        callback = self._callbacks.get(sid)
        if callback is None:
            return
        try:
            callback(subject.decode(errors="replace"), reply.decode(errors="replace"), headers or b"", data)
        except Exception:  # the client would read no more
            log.exception("nats: what came on %s could not be taken in", subject.decode(errors="replace"))
        self._in_a_row += 1
        if self._in_a_row >= _FAIR:
            self._in_a_row = 0
            await asyncio.sleep(0)
