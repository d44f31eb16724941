"""A bus for other processes: a websocket server, to which they connect as they do to ovos-messagebus."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from http import HTTPStatus
from itertools import count
from typing import Any, Final

from picows import WSCloseCode, WSUpgradeRequest, WSUpgradeResponse, WSUpgradeResponseWithListener, ws_create_server

from hark.bus.exchange import Exchange
from hark.bus.local import rejection_of
from hark.bus.protocols import Bus, Subscription
from hark.bus.websocket.auth import LOCAL_CLIENT, Endpoint, EndpointError, HandshakeRefused
from hark.bus.websocket.connection import ClientConnection
from hark.bus.websocket.limits import ServerLimits, ThrottledLog
from hark.bus.websocket.protocol import MAX_MESSAGE_HEADER, SUBPROTOCOL, text_frame
from hark.model import Clock, MalformedMessage, Message, decode, encode
from hark.spec import topics

log = logging.getLogger("hark.bus.websocket")

_CHECK_TOKENS: Final = 0.5
"""Seconds between checks whether the tokens of connected clients are still valid."""
_GRACE: Final = 1.0
"""Seconds in which clients may read what they were sent before the server is gone."""
_LAST_ROUNDS: Final = 50
_IDLE: Final = 30.0
"""Seconds of silence after which a client is pinged, and then has to answer."""
_MOST_FLUSHES: Final = 10_000
"""Flushes that wait for the bus at once."""
_BOM: Final = b"\xef\xbb\xbf"

# picows writes a line for every connection and every fault of a client; ours are fewer. Not in the tree of loggers.
_SILENT: Final = logging.Logger("hark.bus.websocket.wire", logging.CRITICAL + 1)


class WebSocketServer:
    """Connects websocket clients to `bus`: what they send is checked and emitted there, and they get what is on it.

    Clients that speak Hark's subprotocol get the topics they follow, all others everything.

        server = WebSocketServer(bus, [Endpoint()], ServerLimits(), clock)
        urls = await server.start()
        ...
        await server.close()

    `bus` stays open when the server is closed. Messages of one client stay in order. A client that does not read is
    disconnected; it holds up neither the bus nor other clients.
    """

    def __init__(self, bus: Bus, endpoints: Sequence[Endpoint], limits: ServerLimits, clock: Clock) -> None:
        self.limits = limits
        self.clock = clock
        self.log = ThrottledLog(log, clock)
        self.exchange: Exchange[ClientConnection, bytes] = Exchange()
        self._bus = bus
        self._endpoints = tuple(endpoints)
        self._connections: set[ClientConnection] = set()
        self._listening: list[asyncio.Server] = []
        self._end_tap: Callable[[], None] | None = None
        self._reconnected: Subscription | None = None
        self._watching: asyncio.Task[None] | None = None
        self._no_connection = asyncio.Event()
        self._closed = False
        self._loop = asyncio.get_running_loop()
        self._incoming: tuple[Message, bytes] | None = None
        """The Message that is being emitted for a client, and its bytes as they came."""
        self._output: list[ClientConnection] = []
        """Connections with something to be sent."""
        self._flush_scheduled = False
        self._fence = f"hark.fence.{os.urandom(8).hex()}"
        self._fences: dict[int, tuple[ClientConnection, int]] = {}
        """Flushes that are on their way over the bus."""
        self._numbers = count(1)

    def __len__(self) -> int:
        return len(self._connections)

    async def start(self) -> list[str]:
        """Listen at every endpoint; the addresses for clients. Raises `EndpointError`, and then listens nowhere."""
        for endpoint in self._endpoints:
            endpoint.check()
        self._end_tap = self._bus.tap(self._publish)
        self._reconnected = self._bus.on(topics.BUS_AGAIN, self._fence_again, name="websocket server: reconnected")
        if any(endpoint.credentials is not None for endpoint in self._endpoints):
            self._watching = self._loop.create_task(self._watch_tokens())
        try:
            return [await self._listen(endpoint) for endpoint in self._endpoints]
        except EndpointError:
            await self.close()
            raise

    async def close(self) -> None:
        """Disconnect all clients and stop listening."""
        self._closed = True
        if self._end_tap is not None:
            self._end_tap()
        if self._reconnected is not None:
            self._reconnected.close()
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching})
        for listening in self._listening:
            listening.close()
        for connection in list(self._connections):
            connection.close(WSCloseCode.GOING_AWAY, "the bus is shutting down")
        if self._connections:
            with suppress(TimeoutError):  # a client may not read
                async with self.clock.timeout(_GRACE):
                    await self._no_connection.wait()
        for connection in list(self._connections):
            connection.abort()
        for _ in range(_LAST_ROUNDS):
            if not self._connections:
                break
            await asyncio.sleep(0)

    def handle_loop_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """For `loop.set_exception_handler`: asyncio fills the log when the process has no file descriptor left."""
        if str(context.get("message", "")).startswith("socket.accept() out of system resource"):
            self.log.warning("bus: no file descriptor is left for new connections (ulimit -n); they wait")
        else:
            loop.default_exception_handler(context)

    # From clients to the bus. Called by connections.

    def connected(self, connection: ClientConnection) -> None:
        """Register a connection."""
        self._connections.add(connection)
        if self._closed:
            connection.abort()
        else:
            self.exchange.join(connection)
            log.info("bus: %s connected", connection)

    def disconnected(self, connection: ClientConnection) -> None:
        """Forget a connection."""
        self.exchange.leave(connection)
        self._connections.discard(connection)
        if self._closed and not self._connections:
            self._no_connection.set()
        log.info("bus: %s disconnected", connection)

    def received(self, connection: ClientConnection, raw: bytes) -> None:
        """Emit what a client sent, if it is a Message that the client may emit."""
        try:
            message = decode(raw)
        except MalformedMessage as error:
            self.log.warning("bus: dropped a frame from %s that is not a Message: %s", connection, str(error)[:200])
            return
        if connection.permissions.emit is not None:
            if not connection.permissions.may_emit(message.type):
                self.log.warning("bus: dropped a Message that %s may not emit: %s", connection, message.type[:200])
                return
            raw = encode(message)  # what was checked, and not what another parser may read in it
        rejection = rejection_of(message, self.log.warning)
        if rejection is not None:
            message, raw = rejection, encode(rejection)
        elif raw.startswith(_BOM):
            raw = raw[len(_BOM) :]
        self._incoming = (message, raw)
        try:
            self._bus.emit(message)
        except MalformedMessage as error:  # too large for what carries the bus
            self.log.warning("bus: dropped a Message from %s: %s", connection, str(error)[:200])
        finally:
            self._incoming = None

    def flush_bus(self, connection: ClientConnection, number: int) -> None:
        """Answer a client once the bus has carried everything that the client sent before."""
        if len(self._fences) >= _MOST_FLUSHES:
            self.log.warning("bus: too many flushes wait; dropped one of %s", connection)
            return
        key = next(self._numbers)
        self._fences[key] = (connection, number)
        # Messages keep their order: when this one comes back, those before it have.
        self._bus.emit(Message(self._fence, {"key": key}))

    def _fence_again(self, _message: Message) -> None:
        for key in self._fences:
            self._bus.emit(Message(self._fence, {"key": key}))

    # From the bus to clients.

    def _publish(self, message: Message) -> None:
        if message.type == self._fence:
            key = message.data.get("key")
            if isinstance(key, int) and key in self._fences:
                connection, number = self._fences.pop(key)
                connection.flushed(number)
        elif self.exchange.is_followed(message.type):
            incoming = self._incoming
            # What a client sent is passed on as it came: writing it anew costs time, and drops keys we do not know.
            raw = incoming[1] if incoming is not None and incoming[0] is message else encode(message)
            self.exchange.publish(message.type, text_frame(raw))
        if self._incoming is None and self._output:
            self.flush_soon()

    def has_output(self, connection: ClientConnection) -> None:
        """Send to this connection with the next `flush`."""
        self._output.append(connection)

    def flush_soon(self) -> None:
        """Send what was collected in the event loop's next round, unless `flush` is called before."""
        if not self._flush_scheduled:
            self._flush_scheduled = True
            self._loop.call_soon(self._flush_scheduled_output)

    def _flush_scheduled_output(self) -> None:
        self._flush_scheduled = False
        self.flush()

    def flush(self) -> None:
        """Send what was collected."""
        output, self._output = self._output, []
        for connection in output:
            connection.flush()
        if sum(connection.waiting for connection in output) > self.limits.backlogs // 2:
            self._bound_backlogs()

    def _bound_backlogs(self) -> None:
        waiting = {connection: connection.backlog() for connection in self._connections if connection.is_open}
        while sum(waiting.values()) > self.limits.backlogs:
            slowest = max(waiting, key=lambda connection: waiting[connection])
            unread = waiting.pop(slowest)
            self.log.warning("bus: disconnected %s: it left %d bytes unread, too many in all", slowest, unread)
            slowest.abort()

    # Which clients are accepted, and for how long.

    async def _listen(self, endpoint: Endpoint) -> str:
        def factory(request: WSUpgradeRequest) -> WSUpgradeResponseWithListener:
            return self._accept(endpoint, request)

        try:
            listening = await ws_create_server(
                factory,
                endpoint.host,
                endpoint.port,
                ssl=endpoint.tls,
                websocket_handshake_timeout=self.limits.handshake,
                max_frame_size=self.limits.message,
                use_aiofastnet=False,  # no faster here, and it spins when the process has no file descriptor left
                enable_auto_ping=True,
                auto_ping_idle_timeout=_IDLE,
                auto_ping_reply_timeout=_IDLE,
                logger_name=_SILENT,
                ssl_handshake_timeout=self.limits.handshake if endpoint.tls is not None else None,
            )
        except OSError as error:
            text = f"cannot listen at {endpoint.host}, port {endpoint.port}: {error.strerror or error}"
            raise EndpointError(endpoint, text, port_taken=error.errno == errno.EADDRINUSE) from None
        self._listening.append(listening)
        return endpoint.url(listening.sockets[0].getsockname()[1])

    def _accept(self, endpoint: Endpoint, request: WSUpgradeRequest) -> WSUpgradeResponseWithListener:
        try:
            client = endpoint.authenticate(request.path, request.headers)
            if self._closed or len(self._connections) >= self.limits.connections:
                raise HandshakeRefused(HTTPStatus.SERVICE_UNAVAILABLE, "too many clients")
        except HandshakeRefused as refusal:
            self.log.warning("bus: refused a client: %s", refusal)
            response = WSUpgradeResponse.create_error_response(refusal.status, f"{refusal.status.phrase}\n".encode())
            return WSUpgradeResponseWithListener(response, None)
        hark = {"Sec-WebSocket-Protocol": SUBPROTOCOL, MAX_MESSAGE_HEADER: str(self.limits.message)}
        response = WSUpgradeResponse.create_101_response(hark if client.speaks_hark else None)
        return WSUpgradeResponseWithListener(response, ClientConnection(self, endpoint, client))

    async def _watch_tokens(self) -> None:
        """Disconnect clients whose token was revoked or got other permissions."""
        while True:
            await self.clock.sleep(_CHECK_TOKENS)
            for connection in list(self._connections):
                store = connection.endpoint.credentials
                is_local = connection.credential is LOCAL_CLIENT
                if not is_local and (store is None or not store.is_valid(connection.credential)):
                    log.warning("bus: disconnected %s: its token is not valid any more", connection)
                    connection.close(WSCloseCode.POLICY_VIOLATION, "the token is not valid any more")
