"""Sending to the broker: once for each round of the event loop, and not faster than the network takes it."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from hark.model import Clock

if TYPE_CHECKING:
    from hark.bus.nats.client import OrderedClient

log = logging.getLogger("hark.bus")

_AT_ONCE: Final = 256 * 1024
"""Bytes that are written before the network is waited for."""


class Outbox:
    """Commands for the broker in their order, bounded in bytes and, while there is no connection, in age."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._waiting: deque[tuple[float, bytes]] = deque()
        self._size = 0
        self._dropped = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, command: bytes, now: float) -> None:
        """Put a command at the end; the oldest make room, and the log says so at the first and at every thousandth."""
        self._waiting.append((now, command))
        self._size += len(command)
        while self._size > self._limit and len(self._waiting) > 1:
            self._drop()
            if self._dropped % 1_000 == 1:
                log.error("nats: more than %d bytes wait to be sent; the oldest are dropped", self._limit)

    def take(self, most: int) -> list[bytes]:
        """The next commands, up to about `most` bytes; they are the caller's now."""
        taken: list[bytes] = []
        while self._waiting and most > 0:
            _, command = self._waiting.popleft()
            taken.append(command)
            most -= len(command)
            self._size -= len(command)
        return taken

    def drop_before(self, moment: float) -> None:
        """Forget what has waited since before `moment`."""
        while self._waiting and self._waiting[0][0] < moment:
            self._drop()

    def report(self) -> int:
        """How many commands were dropped since this was last asked."""
        dropped, self._dropped = self._dropped, 0
        return dropped

    def _drop(self) -> None:
        _, command = self._waiting.popleft()
        self._size -= len(command)
        self._dropped += 1


class Writing:
    """Commands go out in their order to the client that is `ready`; where none is, they wait in the outbox."""

    def __init__(self, limit: int, clock: Clock, ready: Callable[[], OrderedClient | None]) -> None:
        self.outbox = Outbox(limit)
        self._clock = clock
        self._ready = ready
        self._scheduled = False
        self._written = 0
        """Bytes since the network was last waited for."""
        self._draining: asyncio.Task[None] | None = None
        """Waits for the network."""
        self._loop: asyncio.AbstractEventLoop

    def add(self, command: bytes) -> None:
        """Send a command, as soon as it can be."""
        self.outbox.add(command, self._clock.monotonic())
        if not self._scheduled and self._ready() is not None:
            self._scheduled = True
            self._loop.call_soon(self._write)

    def resume(self) -> None:
        """There is a connection, perhaps another one."""
        self._loop = asyncio.get_running_loop()
        self._written = 0
        self._write()

    async def close(self) -> None:
        """Write nothing more."""
        if self._draining is not None:
            self._draining.cancel()
            await asyncio.wait([self._draining])

    def _write(self) -> None:
        self._scheduled = False
        client = self._ready()
        if client is None or self._draining is not None:
            return
        commands = self.outbox.take(_AT_ONCE)
        if commands:
            client.write(commands)
            self._written += sum(map(len, commands))
            if self._written >= _AT_ONCE:
                self._draining = self._loop.create_task(self._drain(client))

    async def _drain(self, client: OrderedClient) -> None:
        with suppress(OSError):  # the client notices by itself that the connection broke
            await client.drained()
        self._written = 0
        self._draining = None
        self._write()
