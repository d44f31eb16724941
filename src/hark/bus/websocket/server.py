"""The bus for several processes: one server, to which they connect."""

from __future__ import annotations

import asyncio
import logging
import os
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final

from picows import WSCloseCode, WSUpgradeRequest, WSUpgradeResponse, WSUpgradeResponseWithListener, ws_create_server

from hark.bus.websocket.door import LOCAL, Door, Refusal
from hark.bus.websocket.limits import Limits
from hark.bus.websocket.member import Client
from hark.bus.websocket.protocol import LARGEST, LIFE, SUBPROTOCOL
from hark.bus.websocket.relay import Relay
from hark.bus.websocket.reunion import GuestBook
from hark.bus.websocket.sparing import SparingLog
from hark.model import Clock

log = logging.getLogger("hark.bus.websocket")

_LOOK: Final = 0.5
"""Seconds between looks at whose token still holds."""
_GRACE: Final = 1.0
"""Seconds in which clients may read what they were sent before the server is gone."""
_LAST_ROUNDS: Final = 50
_IDLE: Final = 30.0
"""Seconds without a word after which a client is asked whether it is there, and has to answer."""

# picows writes a line for every connection and every fault of a client; ours are fewer. Not in the tree of loggers.
_SILENT: Final = logging.Logger("hark.bus.websocket.wire", logging.CRITICAL + 1)


class WebSocketServer:
    """Hands every Message to all who are connected: to Hark's clients what they follow, to all others everything.

    `await server.listen(Door())`; then `await server.close()`.
    """

    def __init__(self, clock: Clock, limits: Limits | None = None, book: GuestBook | None = None) -> None:
        self.clock = clock
        self.limits = limits or Limits()
        self.sparing = SparingLog(log, clock)
        self.relay = Relay(clock, self.limits.follows, book, self.sparing, self.flush_soon)
        self._life = os.urandom(8).hex()
        self._clients: set[Client] = set()
        self._listening: list[asyncio.Server] = []
        self._output: list[Client] = []
        self._flushing = False
        """Whether the event loop was asked to send what there is."""
        self._watching: asyncio.Task[None] | None = None
        self._empty = asyncio.Event()
        self._closed = False
        self._loop = asyncio.get_running_loop()

    def trouble(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """For `loop.set_exception_handler`: asyncio fills the log when the process has no file descriptor left."""
        if str(context.get("message", "")).startswith("socket.accept() out of system resource"):
            self.sparing.warning("bus: no file descriptor is left for more connections (ulimit -n); they wait")
        else:
            loop.default_exception_handler(context)

    def __len__(self) -> int:
        return len(self._clients)

    async def listen(self, door: Door) -> str:
        """Let clients in at a door; the address they connect to. Raises `NotClosed` or `OSError`."""
        door.check()

        def factory(request: WSUpgradeRequest) -> WSUpgradeResponseWithListener:
            return self._admit(door, request)

        listening = await ws_create_server(
            factory,
            door.host,
            door.port,
            ssl=door.tls,
            websocket_handshake_timeout=self.limits.handshake,
            max_frame_size=self.limits.message,
            use_aiofastnet=False,  # no faster here, and it spins when the process has no file descriptor left
            enable_auto_ping=True,
            auto_ping_idle_timeout=_IDLE,
            auto_ping_reply_timeout=_IDLE,
            logger_name=_SILENT,
            ssl_handshake_timeout=self.limits.handshake if door.tls is not None else None,
        )
        self._listening.append(listening)
        self.relay.reunion.begin()
        if door.keys is not None and self._watching is None:
            self._watching = self._loop.create_task(self._watch())
        return door.url(listening.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Say goodbye to everybody and stop listening."""
        self._closed = True
        self.relay.close()
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching})
        for listening in self._listening:
            listening.close()
        for client in list(self._clients):
            client.say_goodbye(WSCloseCode.GOING_AWAY, "the bus is shutting down")
        if self._clients:
            with suppress(TimeoutError):  # they may not read
                async with self.clock.timeout(_GRACE):
                    await self._empty.wait()
        for client in list(self._clients):
            client.cut()
        for _ in range(_LAST_ROUNDS):
            if not self._clients:
                break
            await asyncio.sleep(0)

    # What a client calls.

    def joined(self, client: Client) -> None:
        """Somebody is connected."""
        self._clients.add(client)
        if self._closed:
            client.cut()
        else:
            self.relay.exchange.join(client)
            log.info("bus: %s is connected", client)

    def left(self, client: Client) -> None:
        """Somebody is not connected any more."""
        self.relay.exchange.leave(client)
        self._clients.discard(client)
        if self._closed and not self._clients:
            self._empty.set()
        log.info("bus: %s is gone", client)

    def has_output(self, client: Client) -> None:
        """Somebody has something to be sent, once everything that came in together was handed out."""
        self._output.append(client)

    def flush_soon(self) -> None:
        """Send what there is in the event loop's next round, unless somebody does so before."""
        if not self._flushing:
            self._flushing = True
            self._loop.call_soon(self._flush_now)

    def _flush_now(self) -> None:
        self._flushing = False
        self.flush()

    def flush(self) -> None:
        """Send what there is."""
        output, self._output = self._output, []
        for client in output:
            client.flush()
        if sum(client.waiting for client in output) > self.limits.backlogs // 2:
            self._bound_backlogs()

    def _bound_backlogs(self) -> None:
        waiting = {client: client.backlog() for client in self._clients if client.is_open}
        while sum(waiting.values()) > self.limits.backlogs:
            slowest = max(waiting, key=lambda client: waiting[client])
            self.sparing.warning(
                "bus: disconnected %s: %d bytes wait to be read, and too many in all", slowest, waiting.pop(slowest)
            )
            slowest.cut()

    # Who is let in, and for how long.

    def _admit(self, door: Door, request: WSUpgradeRequest) -> WSUpgradeResponseWithListener:
        try:
            entrant = door.admit(request.path, request.headers)
            if self._closed or len(self._clients) >= self.limits.connections:
                raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "too many are connected")
        except Refusal as refusal:
            self.sparing.warning("bus: turned somebody away: %s", refusal)
            response = WSUpgradeResponse.create_error_response(refusal.status, f"{refusal.status.phrase}\n".encode())
            return WSUpgradeResponseWithListener(response, None)
        hark = {"Sec-WebSocket-Protocol": SUBPROTOCOL, LARGEST: str(self.limits.message), LIFE: self._life}
        headers = hark if entrant.speaks_hark else None
        response = WSUpgradeResponse.create_101_response(headers)
        return WSUpgradeResponseWithListener(response, Client(self, door, entrant))

    async def _watch(self) -> None:
        """Disconnect whose token was revoked, or was given other rights."""
        while True:
            await self.clock.sleep(_LOOK)
            for client in list(self._clients):
                keys = client.door.keys
                if client.key is not LOCAL and (keys is None or not keys.holds(client.key)):
                    log.warning("bus: disconnected %s: its token does not hold any more", client)
                    client.say_goodbye(WSCloseCode.POLICY_VIOLATION, "the token does not hold any more")
