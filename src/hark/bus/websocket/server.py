"""The bus for several processes: one server, to which they connect."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final

from picows import WSCloseCode, WSUpgradeRequest, WSUpgradeResponse, WSUpgradeResponseWithListener, ws_create_server

from hark.bus.carrier import EVERYTHING
from hark.bus.exchange import Exchange
from hark.bus.rejection import rejection_of
from hark.bus.websocket.door import LOCAL, Door, Refusal
from hark.bus.websocket.frames import Parcel
from hark.bus.websocket.limits import Limits
from hark.bus.websocket.member import Client
from hark.bus.websocket.protocol import LARGEST, SUBPROTOCOL
from hark.bus.websocket.receipts import Receipts
from hark.bus.websocket.reunion import GuestBook, Reunion
from hark.bus.websocket.senders import Senders
from hark.bus.websocket.sparing import SparingLog
from hark.model import Clock, MalformedMessage, decode, encode

log = logging.getLogger("hark.bus.websocket")

_BOM: Final = b"\xef\xbb\xbf"
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
        self.exchange: Exchange[Client, Parcel] = Exchange(clock.monotonic)
        self.sparing = SparingLog(log, clock)
        self.senders = Senders()
        self.receipts = Receipts(clock)
        self.reunion = Reunion(clock, book, self._reunited)
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
        self.reunion.begin()
        if door.keys is not None and self._watching is None:
            self._watching = self._loop.create_task(self._watch())
        return door.url(listening.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Say goodbye to everybody and stop listening."""
        self._closed = True
        self.reunion.close()
        self.receipts.close()
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
            self.exchange.join(client)
            log.info("bus: %s is connected", client)

    def left(self, client: Client) -> None:
        """Somebody is not connected any more."""
        self.exchange.leave(client)
        self._clients.discard(client)
        if self._closed and not self._clients:
            self._empty.set()
        log.info("bus: %s is gone", client)

    def take(self, client: Client, raw: bytes) -> None:
        """Hand out a Message that somebody sent; what is none is dropped, and nobody is told but the log."""
        mark = client.next_mark()
        if mark is None:
            return
        try:
            message = decode(raw)
        except MalformedMessage as error:
            self.sparing.warning("bus: dropped what is no Message, from %s: %s", client, str(error)[:200])
            return
        rights = client.key.rights
        if rights.emit is not None:
            if not rights.may_emit(message.type):
                self.sparing.warning("bus: dropped a Message that %s may not emit: %s", client, message.type[:200])
                return
            raw = encode(message)  # what was looked at, and not what another reader may see in it
        rejection = rejection_of(message, self.sparing.warning)
        if rejection is not None:
            message, raw = rejection, encode(rejection)
        elif raw.startswith(_BOM):
            raw = raw[len(_BOM) :]
        parcel = Parcel(message.type, raw, mark.text, mark.again)
        if self.reunion.is_on:
            self.reunion.hold(parcel)
        else:
            self._publish(parcel)

    def _publish(self, parcel: Parcel) -> None:
        had = self.reunion.groups_that_had(parcel.mark) if parcel.again else ()
        self.exchange.publish(parcel.topic, parcel, had)

    def _reunited(self, held: list[Parcel]) -> None:
        for parcel in held:
            self._publish(parcel)
        self.flush_soon()

    def had(self, client: Client, group: str, *marks: str) -> None:
        """A client had Messages by one of its groups, from the server before."""
        if self.exchange.is_member(client, group):
            self.reunion.had(group, marks)

    def follow(self, client: Client, topic: str, group: str) -> None:
        """Let a client have what is sent on a topic, if it may."""
        if topic != EVERYTHING and not client.key.rights.may_receive(topic):
            self.sparing.warning("bus: %s may not receive %s", client, topic[:200])
        elif self.exchange.count(client) >= self.limits.follows:
            self.sparing.warning("bus: %s follows more topics than it may", client)
        else:
            self.exchange.follow(client, topic, group)

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
        hark = {"Sec-WebSocket-Protocol": SUBPROTOCOL, LARGEST: str(self.limits.message)}
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
