"""The connection of a process to a websocket server: Hark's own, or any that works as ovos-messagebus does."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import ssl
from collections import Counter
from contextlib import suppress
from itertools import count
from typing import Final

from picows import (
    WSError,
    WSFrame,
    WSListener,
    WSMsgType,
    WSTransport,
    WSUpgradeRequest,
    WSUpgradeResponse,
    ws_connect,
)

from hark import hints
from hark.bus.backoff import Backoff
from hark.bus.protocols import Receive
from hark.bus.websocket.protocol import (
    FLUSH,
    FLUSHED,
    FOLLOW,
    MAX_MESSAGE_HEADER,
    PRIVATE_HEADER,
    SUBPROTOCOL,
    UNFOLLOW,
    FrameAssembler,
    MalformedCommand,
    command,
    read_command,
)
from hark.bus.websocket.unavailable import NOT_OURS, BusUnavailable, other_scheme, unavailable
from hark.bus.websocket.unsent import UnsentFrames
from hark.model import Clock, MalformedMessage, Message, Timer, decode, encode
from hark.spec import topics

log = logging.getLogger("hark.bus.websocket")

_CONNECT: Final = 10.0
"""Seconds that one attempt to connect may take."""
_ATTEMPT: Final = 3.0
"""Seconds that each attempt has, however little time is left."""
_GOODBYE: Final = 2.0
"""Seconds that the last Messages, and then the closing handshake, may take."""
_STEADY: Final = 5.0
"""Seconds after which a connection counts as good: the next attempt comes soon."""
_MAX_AGE: Final = 30.0
"""Seconds for which Messages wait for a connection. What was said longer ago is not said now."""
_CONNECTED_FACTOR: Final = 16
"""How many times as much may wait while there is a connection, because then it is only a burst."""
_ECHO: Final = 5.0
"""Seconds in which a server without our subprotocol has to send a Message back to its sender."""
_PING: Final = 5.0
"""Seconds between pings to a server that is silent."""
_SILENCE: Final = 10.0
"""Seconds of silence after which a connection counts as lost, though the server was pinged."""
_LARGEST_IN: Final = 256 * 1_048_576
"""Bytes of a received Message. The server bounds what is sent; this is only a last resort."""
_LARGEST_PLAIN: Final = 10 * 1_048_576
"""Bytes of a Message that ovos-messagebus takes as it comes."""

_RECONNECTED: Final = encode(Message(topics.BUS_AGAIN))
_SILENT: Final = logging.Logger("hark.bus.websocket.wire", logging.CRITICAL + 1)


class WebSocketCarrier:
    """See `Carrier` for what it promises. It reconnects by itself and then sends what was emitted meanwhile.

    To a server that speaks Hark's subprotocol it says which topics to send. From any other it gets everything, as an
    OVOS client does, and `flush` waits until that server has sent a private Message back.

    `patience` is for how many seconds `open` tries when there is no server yet; `outbox` how many bytes of Messages
    wait while there is no connection, for 30 seconds at most. One of Hark's own services says `private`: a Hark server
    that does not give it private topics is then as good as none.
    """

    def __init__(
        self,
        url: str,
        clock: Clock,
        *,
        token: str = "",
        tls: ssl.SSLContext | None = None,
        private: bool = False,
        patience: float = 10.0,
        outbox: int = 8_388_608,
        backoff: Backoff | None = None,
    ) -> None:
        self.url = url
        self._clock = clock
        self._token = token
        self._tls = tls
        self.is_private = private
        """Whether this is one of Hark's own services."""
        self._patience = patience
        self._max_waiting = outbox
        self._largest = _LARGEST_PLAIN
        """Bytes of a Message that the server takes, or the last one took."""
        self._backoff = backoff or Backoff(random.Random(), steady=_STEADY)  # noqa: S311 - nothing secret
        self._receive: Receive = _ignore
        self._followed: Counter[str] = Counter()
        """How often each topic is followed, in order."""
        self._connection: _Connection | None = None
        self.is_foreign = False
        """Whether the server is not Hark's own."""
        self._writable = False
        self._since = 0.0
        """When the connection was made or lost."""
        self._waiting = UnsentFrames()
        self._flushes: dict[int, asyncio.Future[None]] = {}
        self._numbers = count(1)
        self._echo = f"hark.flush.{os.urandom(8).hex()}"
        self._reconnecting: asyncio.Task[None] | None = None
        self._next_check: Timer | None = None
        self._closed = False

    @property
    def connected(self) -> bool:
        """Whether there is a connection right now."""
        return self._connection is not None

    async def open(self, receive: Receive) -> None:
        """See `Carrier`; raises `BusUnavailable` when there is no server, or it refuses us."""
        self._receive = receive
        deadline = self._clock.monotonic() + self._patience
        while True:
            try:
                await self._connect(min(_CONNECT, max(_ATTEMPT, deadline - self._clock.monotonic())))
            except BusUnavailable as error:
                pause = self._backoff.after()
                if error.final or self._clock.monotonic() + pause > deadline:
                    raise
                await self._clock.sleep(pause)
            else:
                return

    def send(self, topic: str, frame: bytes) -> None:
        """See `Carrier`. What cannot be sent now waits; what is larger than the server takes is dropped."""
        if len(frame) > self._largest:
            log.error("bus: dropped %s: %d bytes, and the bus takes %d", topic, len(frame), self._largest)
        elif self._connection is not None:
            self._write(WSMsgType.TEXT, frame)
        elif not self._closed:
            now = self._clock.monotonic()
            self._waiting.drop_before(now - _MAX_AGE)
            self._waiting.put(WSMsgType.TEXT, frame, now, self._max_waiting)

    def follow(self, topic: str, group: str = "") -> None:  # noqa: ARG002 - one of a group is picked on our side
        """See `Carrier`. The server knows no groups: every process gets the Message."""
        self._followed[topic] += 1
        if self._followed[topic] == 1:
            self._command(FOLLOW, topic)

    def unfollow(self, topic: str, group: str = "") -> None:  # noqa: ARG002 - as in `follow`
        """See `Carrier`."""
        self._followed[topic] -= 1
        if not self._followed[topic]:
            del self._followed[topic]
            self._command(UNFOLLOW, topic)

    async def flush(self) -> None:
        """See `Carrier`; waits until there is a connection. Raises `BusUnavailable` once it is closed.

        On a server without our subprotocol it gives up after five seconds.
        """
        if self._closed:
            raise BusUnavailable(f"the connection to {self.url} is closed")
        number = next(self._numbers)
        done = self._flushes[number] = asyncio.get_running_loop().create_future()
        self._ask_flush(number)
        try:
            if self._connection is not None and not self._connection.speaks_hark:
                with suppress(TimeoutError):
                    async with self._clock.timeout(_ECHO):
                        await done
            else:
                await done
        finally:
            self._flushes.pop(number, None)

    async def close(self) -> None:
        """See `Carrier`."""
        if self._closed:
            return
        if self._reconnecting is not None:
            self._reconnecting.cancel()
            await asyncio.wait({self._reconnecting})
        connection = self._connection
        if connection is not None:
            with suppress(TimeoutError, BusUnavailable):
                async with self._clock.timeout(_GOODBYE):
                    await self.flush()
        self._closed = True
        if self._next_check is not None:
            self._next_check.cancel()
        unsent = self._waiting.clear()
        if unsent:
            log.warning("bus: closed without a connection; %d Messages were not sent", unsent)
        if connection is not None and self._connection is connection:
            self._connection = None
            await self._disconnect(connection.transport)
        for done in self._flushes.values():
            if not done.done():
                done.set_exception(BusUnavailable(f"the connection to {self.url} is closed"))

    async def _disconnect(self, transport: WSTransport) -> None:
        transport.send_close()
        await self._disconnected(transport)
        transport.disconnect(graceful=False)
        await self._disconnected(transport)

    async def _disconnected(self, transport: WSTransport) -> None:
        """Wait for the end of a connection, for a moment; what the server did wrong is raised there."""
        with suppress(TimeoutError, WSError, OSError):
            async with self._clock.timeout(_GOODBYE):
                await transport.wait_disconnected()

    # Called by the connection.

    def received(self, frame: bytes, speaks_hark: bool) -> None:
        """Pass on a Message, unless it answers a flush."""
        if not speaks_hark and self._flushes and self._echo.encode() in frame and self._is_echo(frame):
            return
        self._receive(frame, None)

    def _is_echo(self, frame: bytes) -> bool:
        try:
            message = decode(frame)
        except MalformedMessage:
            return False
        number = message.data.get("number")
        if message.type != self._echo or not isinstance(number, int):
            return False
        self.flushed(number)
        return True

    def flushed(self, number: int) -> None:
        """End the flush with this number: the server has taken in everything before it."""
        done = self._flushes.get(number)
        if done is not None and not done.done():
            done.set_result(None)

    def may_write(self, connection: _Connection, allowed: bool) -> None:
        """Go on sending, or wait until the network takes more."""
        if connection is self._connection:
            self._writable = allowed
            while self._waiting and self._writable:
                connection.transport.send(*self._waiting.take())
            if not self._waiting:
                self._waiting.report()

    def lost(self, connection: _Connection, why: str) -> None:
        """Reconnect."""
        if connection is not self._connection:
            return
        self._connection = None
        if self._next_check is not None:
            self._next_check.cancel()
        self._waiting.drop_commands()
        now = self._clock.monotonic()
        lived, self._since = now - self._since, now
        if not self._closed:
            log.warning("bus: lost the connection to %s (%s); reconnecting", self.url, why)
            self._reconnecting = asyncio.get_running_loop().create_task(self._reconnect(self._backoff.after(lived)))

    async def _reconnect(self, pause: float) -> None:
        last = ""
        while True:
            await self._clock.sleep(pause)
            try:
                await self._connect()
            except BusUnavailable as error:
                pause = self._backoff.after()
                if str(error) != last:  # the same again says nothing new
                    last = str(error)
                    log.warning("bus: %s; trying again", error)
            else:
                log.warning("bus: reconnected to %s", self.url)
                # Not sent by any client: listeners here learn that Messages may have been lost.
                self._receive(_RECONNECTED, "")
                return

    async def _connect(self, within: float = _CONNECT) -> None:
        connection = _Connection(self)
        try:
            async with self._clock.timeout(within):
                await connection.connect(self.url, self._token, self._tls)
        except TimeoutError:
            why = f"no answer within {within:.0f} s"
            raise BusUnavailable(f"no bus at {self.url} ({why}; {other_scheme(self._tls)})") from None
        if self.is_private and not connection.is_private:
            connection.end()
            await self._disconnected(connection.transport)
            raise BusUnavailable(f"the bus at {self.url} does not know this process: {NOT_OURS}", final=True)
        self._connection = connection
        self.is_foreign = not connection.speaks_hark
        self._largest = connection.largest
        self._writable = True
        self._since = self._clock.monotonic()
        self._check_later(connection)
        self._waiting.drop_before(self._since - _MAX_AGE)
        self._waiting.report()
        # First what is followed, then what is sent: so no answer is missed.
        waiting, self._waiting = self._waiting, UnsentFrames()
        for topic in self._followed:
            self._command(FOLLOW, topic)
        for kind, frame in waiting:
            self._write(kind, frame)
        for number in self._flushes:
            self._ask_flush(number)

    def _check_later(self, connection: _Connection) -> None:
        if self._next_check is not None:
            self._next_check.cancel()
        self._next_check = self._clock.after(_PING, lambda: self._check_link(connection))

    def _check_link(self, connection: _Connection) -> None:
        """Ping a server that is silent, and give up a connection on which it does not answer."""
        if connection is not self._connection:
            return
        silence = self._clock.monotonic() - connection.heard
        if silence >= _SILENCE:
            connection.give_up("it did not answer a ping")
            return
        if silence > 0:
            connection.transport.send_ping()
        self._check_later(connection)

    def now(self) -> float:
        """The time by which silence is measured."""
        return self._clock.monotonic()

    # What goes out.

    def _ask_flush(self, number: int) -> None:
        connection = self._connection
        if connection is None:
            return  # asked when there is a connection
        if connection.speaks_hark:
            self._command(FLUSH, number)
        else:
            self._write(WSMsgType.TEXT, encode(Message(self._echo, {"number": number})))

    def _command(self, word: str, argument: str | int) -> None:
        if self._connection is not None and self._connection.speaks_hark:
            self._write(WSMsgType.BINARY, command(word, argument))

    def _write(self, kind: WSMsgType, frame: bytes) -> None:
        if self._connection is not None and self._writable and not self._waiting:
            self._connection.transport.send(kind, frame)
        else:
            self._waiting.put(kind, frame, self._clock.monotonic(), self._max_waiting * _CONNECTED_FACTOR)


class _Connection(WSListener):
    """One connection to a server, for as long as it lasts."""

    def __init__(self, carrier: WebSocketCarrier) -> None:
        self._carrier = carrier
        self._assembler = FrameAssembler(_LARGEST_IN)
        self._why = "the server closed it"
        self._reason = ""
        """The server's own words when it closed it."""
        self._is_over = False
        """Whether it is lost, or not wanted any more."""
        self.transport: WSTransport
        self.heard = carrier.now()
        """When anything last came from the server."""
        self.speaks_hark = False
        self.is_private = True
        """Whether private topics are sent to us; a server that is not Hark's sends everything to everyone."""
        self.largest = _LARGEST_PLAIN
        """Bytes of a Message that the server takes."""

    async def connect(self, url: str, token: str, tls: ssl.SSLContext | None) -> None:
        """Connect; raises `BusUnavailable`."""
        headers = [("Sec-WebSocket-Protocol", SUBPROTOCOL)]
        if token:
            headers.append(("Authorization", f"Bearer {token}"))
        shown = hints.bus_address(url)
        try:
            self.transport, listener = await ws_connect(
                self._accepted,
                url,
                ssl_context=tls,
                extra_headers=headers,
                max_frame_size=_LARGEST_IN,
                max_redirects=0,
                websocket_handshake_timeout=None,  # the carrier's own time holds
                logger_name=_SILENT,
            )
        except asyncio.CancelledError:
            self._is_over = True  # it may become connected all the same, in a moment
            raise
        except (WSError, OSError, ValueError) as error:
            log.debug("no connection to %s", shown, exc_info=error)
            raise unavailable(error, shown, tls, is_private=self._carrier.is_private) from None
        if self._reason:
            raise BusUnavailable(f"the bus at {shown} refused this client: {self._reason}")
        if listener is None or self._is_over:
            raise BusUnavailable(f"no bus at {shown} (it closed the connection; {other_scheme(tls)})")

    def _accepted(self, _request: WSUpgradeRequest, response: WSUpgradeResponse) -> _Connection:
        self.speaks_hark = response.headers.get("Sec-WebSocket-Protocol") == SUBPROTOCOL
        if self.speaks_hark:
            self.largest = int(response.headers.get(MAX_MESSAGE_HEADER, self.largest))
            self.is_private = response.headers.get(PRIVATE_HEADER) == "yes"
        return self

    def end(self) -> None:
        self._is_over = True
        self.transport.disconnect(graceful=False)

    def give_up(self, why: str) -> None:
        self._why = why
        self._lost()
        self.transport.disconnect(graceful=False)

    def on_ws_connected(self, transport: WSTransport) -> None:
        if self._is_over:
            transport.disconnect(graceful=False)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        kind = frame.msg_type
        self.heard = self._carrier.now()
        if kind in (WSMsgType.TEXT, WSMsgType.BINARY, WSMsgType.CONTINUATION):
            whole = self._assembler.add(frame)
            if whole is not None:
                self._take(*whole)
        elif kind == WSMsgType.CLOSE:
            self._reason = frame.get_close_reason() or ""
            self._why = self._reason or self._why
            self._lost()
            transport.disconnect(graceful=False)

    def _take(self, payload: bytes, kind: WSMsgType) -> None:
        if kind == WSMsgType.TEXT:
            self._carrier.received(payload, self.speaks_hark)
        elif self.speaks_hark:
            with suppress(MalformedCommand):
                word, number = read_command(payload)
                if word == FLUSHED:
                    self._carrier.flushed(number)

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        self._lost()
        ending = asyncio.ensure_future(transport.wait_disconnected())
        # Where the server broke the protocol, this raises; asyncio would write a traceback if it were not looked at.
        ending.add_done_callback(lambda ended: ended.cancelled() or ended.exception())

    def _lost(self) -> None:
        self._is_over = True
        self._carrier.lost(self, self._why)

    def pause_writing(self) -> None:
        self._carrier.may_write(self, False)

    def resume_writing(self) -> None:
        self._carrier.may_write(self, True)


def _ignore(_frame: bytes, _via: str | None) -> None:
    """Nothing is received before `open`."""
