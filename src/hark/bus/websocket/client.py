"""The way from a process to a websocket server."""

from __future__ import annotations

import asyncio
import logging
import ssl
from contextlib import suppress
from typing import Final

from picows import WSError, WSMsgType, WSTransport

from hark.bus.carrier import Receive
from hark.bus.websocket.backoff import Backoff
from hark.bus.websocket.correspondence import Correspondence, is_group_way
from hark.bus.websocket.flushes import Flushes
from hark.bus.websocket.link import Link, NoBus, connect
from hark.bus.websocket.outbox import Outbox
from hark.bus.websocket.protocol import FOLLOW, TOOK, UNFOLLOW, command
from hark.model import Clock, Message, encode
from hark.spec import topics

log = logging.getLogger("hark.bus.websocket")

_CONNECT: Final = 10.0
"""Seconds in which a connection has to be there."""
_GOODBYE: Final = 2.0
"""Seconds that the last words may take."""
_BURST: Final = 16
"""How many times as much may wait while there is a connection."""
_STEADY: Final = 5.0
"""Seconds after which a connection was a good one: the next try comes soon."""

_AGAIN: Final = encode(Message(topics.BUS_AGAIN))


class WebSocketCarrier:
    """See `Carrier` for what it promises. It connects again by itself, with what was emitted meanwhile.

    `patience` is for how many seconds `open` tries when there is no server yet; `outbox` how many bytes of Messages
    are kept while there is none, beyond which the oldest ones are dropped. `stale` is for those in whose place others
    act when they are away: the seconds after which what could not be sent is not sent any more. It does not count
    while the server itself was away, for then nobody could.
    """

    def __init__(
        self,
        url: str,
        clock: Clock,
        *,
        token: str = "",
        tls: ssl.SSLContext | None = None,
        patience: float = 10.0,
        outbox: int = 8_388_608,
        backoff: Backoff | None = None,
        stale: float | None = None,
    ) -> None:
        self.url = url
        self._clock = clock
        self._token = token
        self._tls = tls
        self._patience = patience
        self._outbox = Outbox()
        self._bound = outbox
        self._largest = outbox
        self._backoff = backoff or Backoff()
        self._receive: Receive = _nobody
        self._correspondence = Correspondence(outbox)
        self._followed: dict[tuple[str, str], None] = {}
        """What is followed, in order."""
        self._transport: WSTransport | None = None
        self._writable = False
        self._since = 0.0
        """When the connection came, or went."""
        self._stale = stale
        self._life = ""
        """Of the server that we are, or were, connected to."""
        self._flushes = Flushes()
        self._keeper: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def connected(self) -> bool:
        """Whether there is a connection right now."""
        return self._transport is not None

    async def open(self, receive: Receive) -> None:
        """As promised by `Carrier`; raises `NoBus` when there is none, or none for us."""
        self._receive = receive
        deadline = self._clock.monotonic() + self._patience
        while True:
            try:
                await self._connect()
            except NoBus as error:
                pause = self._backoff.next()
                if error.final or self._clock.monotonic() + pause > deadline:
                    raise
                await self._clock.sleep(pause)
            else:
                return

    def send(self, topic: str, frame: bytes) -> None:
        """As promised by `Carrier`. What cannot be sent now waits; what is larger than the server takes is dropped."""
        if len(frame) > self._largest:
            log.error("bus: dropped %s: %d bytes, and the bus takes %d", topic, len(frame), self._largest)
        elif self._transport is not None and self._writable and not self._outbox:
            self._correspondence.unconfirmed.sent(frame)
            self._transport.send(WSMsgType.TEXT, frame)
        elif not self._closed:
            self._outbox.put(frame, self._room())

    def follow(self, topic: str, group: str = "") -> None:
        """As promised by `Carrier`."""
        self._followed[topic, group] = None
        self._command(command(FOLLOW, topic, group))

    def unfollow(self, topic: str, group: str = "") -> None:
        """As promised by `Carrier`."""
        self._followed.pop((topic, group), None)
        self._command(command(UNFOLLOW, topic, group))

    def took(self, group: str) -> None:
        """As promised by `Carrier`."""
        self._command(command(TOOK, group))

    async def flush(self) -> None:
        """As promised by `Carrier`; waits until there is a connection. Raises `NoBus` once it is closed."""
        if self._closed:
            raise NoBus(f"the connection to {self.url} is closed")
        await self._flushes.wait(self._command)

    async def close(self) -> None:
        """As promised by `Carrier`."""
        if self._closed:
            return
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait({self._keeper})
        transport = self._transport
        if transport is not None:
            with suppress(TimeoutError, NoBus):
                async with self._clock.timeout(_GOODBYE):
                    await self.flush()
        self._closed = True
        left = self._outbox.clear()
        if left:
            log.warning("bus: closed without a connection; %d Messages were not sent", left)
        if transport is not None and self._transport is transport:
            self._transport = None
            transport.send_close()
            with suppress(TimeoutError):
                async with self._clock.timeout(_GOODBYE):
                    await _disconnected(transport)
            transport.disconnect(graceful=False)
        self._flushes.fail(NoBus(f"the connection to {self.url} is closed"))

    # What the connection calls.

    def arrived(self, frame: bytes, way: str, mark: str) -> None:
        """A Message came; it may have come before, from a server that is no more."""
        if self._closed:
            return
        if self._correspondence.is_new(mark, way):
            self._receive(frame, way)
        elif is_group_way(way):
            self.took(way)

    def confirmed(self, number: int) -> None:
        """The server has had all Messages up to this one for a while."""
        self._correspondence.unconfirmed.confirmed(number)

    def flushed(self, number: int) -> None:
        """The server has taken in everything before this number."""
        self._flushes.answered(number)

    def may_write(self, allowed: bool) -> None:
        """The network takes more, or no more for now."""
        self._writable = allowed
        self._send_waiting()

    def lost(self, transport: WSTransport, why: str) -> None:
        """The connection is gone."""
        if transport is not self._transport:
            return
        self._transport = None
        self._outbox.forget_commands()
        now = self._clock.monotonic()
        if now - self._since >= _STEADY:
            self._backoff.reset()
        self._since = now
        if not self._closed:
            log.warning("bus: lost the connection to %s (%s); trying again", self.url, why)
            self._keeper = asyncio.get_running_loop().create_task(self._connect_again())

    async def _connect_again(self) -> None:
        last = ""
        while True:
            await self._clock.sleep(self._backoff.next())
            try:
                await self._connect()
            except NoBus as error:
                if str(error) != last:  # the same again says nothing new
                    last = str(error)
                    log.warning("bus: %s; trying again", error)
            else:
                log.warning("bus: connected to %s again", self.url)
                # Not sent to anybody: whoever listens here learns that something may have been lost.
                self._receive(_AGAIN, "")
                return

    async def _connect(self) -> None:
        try:
            async with self._clock.timeout(_CONNECT):
                link = Link(self)
                transport = await connect(link, self.url, self._token, self._tls)
        except TimeoutError:
            raise NoBus(f"no answer from {self.url}") from None
        if link.life == self._life and self._stale is not None:
            self._forget_stale(self._clock.monotonic() - self._since)
        self._life = link.life
        self._transport = transport
        self._largest = link.largest
        self._writable = True
        self._since = self._clock.monotonic()
        for opening in self._correspondence.opening(self._followed):
            transport.send(WSMsgType.BINARY, opening)
        for frame in self._correspondence.unconfirmed:
            transport.send(WSMsgType.TEXT, frame)
        for flush in self._flushes.again():
            self._outbox.put_command(flush)
        self._send_waiting()

    def _forget_stale(self, away: float) -> None:
        if self._stale is not None and away > self._stale:
            self._correspondence.unconfirmed.forget_all()
            left = self._outbox.clear()
            log.warning("bus: away for %.1f s; %d Messages that others did not wait for were dropped", away, left)

    def _room(self) -> int:
        # A server that is there takes more in a moment: then what waits is a burst, and no loss that one could foresee.
        return self._bound if self._transport is None else self._bound * _BURST

    def _command(self, frame: bytes) -> None:
        if self._transport is None:
            return  # said when there is a connection
        if self._writable and not self._outbox:
            self._transport.send(WSMsgType.BINARY, frame)
        else:
            self._outbox.put_command(frame)

    def _send_waiting(self) -> None:
        while self._outbox and self._writable and self._transport is not None:
            frame, is_command = self._outbox.take()
            if not is_command:
                self._correspondence.unconfirmed.sent(frame)
            self._transport.send(WSMsgType.BINARY if is_command else WSMsgType.TEXT, frame)


def _nobody(_frame: bytes, _way: str) -> None:
    """Nobody receives before `open`."""


async def _disconnected(transport: WSTransport) -> None:
    with suppress(WSError, OSError):
        await transport.wait_disconnected()
