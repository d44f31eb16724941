"""A bus for other processes: a websocket server, to which they connect as they do to ovos-messagebus."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from http import HTTPStatus
from itertools import count
from typing import Any, Final

import msgspec
from picows import WSCloseCode, WSUpgradeRequest, WSUpgradeResponse, WSUpgradeResponseWithListener, ws_create_server

from hark.bus.exchange import Exchange
from hark.bus.local import rejection_of
from hark.bus.protocols import Bus, Subscription
from hark.bus.websocket.admission import Admission
from hark.bus.websocket.auth import Endpoint, EndpointError, HandshakeRefused
from hark.bus.websocket.connection import ClientConnection
from hark.bus.websocket.fair_queue import FairQueue
from hark.bus.websocket.limits import ServerLimits, ThrottledLog
from hark.bus.websocket.protocol import FENCE, MAX_FENCE, MAX_MESSAGE_HEADER, PRIVATE_HEADER, SUBPROTOCOL, text_frame
from hark.bus.websocket.skills import OF_SCHEDULES, OF_SKILLS, SkillOwners
from hark.bus.websocket.translation import TranslatorFactory
from hark.model import Clock, MalformedMessage, Message, decode, encode_for_clients
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.spec.names import CLIENT, SCHEDULER, SKILL_ID, UTTERANCE_ID

log = logging.getLogger("hark.bus.websocket")

_CHECK_TOKENS: Final = 0.5
"""Seconds between checks whether the tokens of connected clients are still valid."""
_GRACE: Final = 1.0
"""Seconds in which clients may read what they were sent before the server is gone."""
_LAST_ROUNDS: Final = 50
_PING: Final = 5.0
"""Seconds between pings to clients that are silent."""
_COUNTED: Final = frozenset({topics.UTTERANCE_HANDLE, topics.SCHEDULER_SCHEDULE})
"""Messages that are bounded by client."""
_OF_ASSISTANT: Final = topics.LIFECYCLE - {topics.UTTERANCE_CANCELLED} | {topics.INTENTS_READY}
"""What only an assistant says; speech may be cancelled by a program that renders it (ruling R1)."""
_SPEECH: Final = frozenset({topics.UTTERANCE_SPEAK, topics.UTTERANCE_SPEAK_B64})
"""Counts as that of the skill that the context names; where that is another client's, as no skill's."""
_LONGEST_ID: Final = 1_000
"""Characters of a `session_id`: what is remembered by session is bounded in number."""
_BOM: Final = b"\xef\xbb\xbf"

# picows writes a line for every connection and every fault of a client; ours are fewer. Not in the tree of loggers.
_SILENT: Final = logging.Logger("hark.bus.websocket.wire", logging.CRITICAL + 1)


class WebSocketServer:
    """Connects websocket clients to `bus`: what they send is checked and emitted there, and they get what is on it.

    Clients that speak Hark's subprotocol get the topics they follow, all others everything. Private topics are for
    Hark's own services alone, which have a credential that says so. `reserved` are ids of skills that no client may
    register, besides those it sees registered on the bus. With `has_assistant`, and while services of Hark are
    connected, the bus is an assistant's: it alone calls handlers and says how turns go. `translators` makes a
    translator for each client that does not speak Hark's subprotocol, where such clients may speak a dialect.

        server = WebSocketServer(bus, [Endpoint()], ServerLimits(), clock)
        urls = await server.start()
        ...
        await server.close()

    `bus` stays open when the server is closed. Messages of one client stay in order. A client that does not read is
    disconnected; it holds up neither the bus nor other clients.
    """

    def __init__(
        self,
        bus: Bus,
        endpoints: Sequence[Endpoint],
        limits: ServerLimits,
        clock: Clock,
        *,
        reserved: Iterable[str] = (),
        has_assistant: bool = False,
        translators: TranslatorFactory | None = None,
    ) -> None:
        self.limits = limits
        self.clock = clock
        self.log = ThrottledLog(log, clock)
        self.exchange: Exchange[ClientConnection, bytes] = Exchange()
        self.queue = FairQueue(clock, self.flush)
        """What clients sent and what has to wait for others."""
        self.waiting = 0
        """Bytes that clients had not read when they were last sent something."""
        self.translators = translators
        self.publishing: Message | None = None
        """The Message that is being delivered to clients, while it is."""
        self._bus = bus
        self._endpoints = tuple(endpoints)
        self._admission = Admission(limits, clock, self.log)
        self._has_assistant = has_assistant
        self._skills = SkillOwners(limits, clock, bus.emit, reserved)
        self._listening: list[asyncio.Server] = []
        self._end_tap: Callable[[], None] | None = None
        self._reconnected: Subscription | None = None
        self._watching: list[asyncio.Task[None]] = []
        self._no_connection = asyncio.Event()
        self._closed = False
        self._loop = asyncio.get_running_loop()
        self._incoming: tuple[Message, bytes] | None = None
        """The Message that is being emitted for a client, and its bytes as they came."""
        self._output: list[ClientConnection] = []
        """Connections with something to be sent."""
        self._flush_scheduled = False
        self._fence = f"{FENCE}{os.urandom(8).hex()}"
        self._fences: dict[int, tuple[ClientConnection, bytes]] = {}
        """Flushes that are on their way over the bus, with what answers them."""
        self._numbers = count(1)

    def __len__(self) -> int:
        return len(self._admission.connections)

    async def start(self) -> list[str]:
        """Listen at every endpoint; the addresses for clients. Raises `EndpointError`, and then listens nowhere."""
        for endpoint in self._endpoints:
            endpoint.check()
        self._end_tap = self._bus.tap(self._publish)
        self._reconnected = self._bus.on(topics.BUS_AGAIN, self._fence_again, name="websocket server: reconnected")
        self._watching.append(self._loop.create_task(self._watch_links()))
        if any(endpoint.credentials is not None for endpoint in self._endpoints):
            self._watching.append(self._loop.create_task(self._watch_tokens()))
        self._skills.report(started=True)
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
        for watching in self._watching:
            watching.cancel()
        if self._watching:
            await asyncio.wait(self._watching)
        for listening in self._listening:
            listening.close()
        for connection in list(self._admission.connections):
            connection.close(WSCloseCode.GOING_AWAY, "the bus is shutting down")
        if self._admission.connections:
            with suppress(TimeoutError):  # a client may not read
                async with self.clock.timeout(_GRACE):
                    await self._no_connection.wait()
        for connection in list(self._admission.connections):
            connection.abort()
        for _ in range(_LAST_ROUNDS):
            if not self._admission.connections:
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
        self._admission.joined(connection)
        if self._closed:
            connection.abort()
        elif self._admission.has_room(connection):
            self.exchange.join(connection)
            log.info("bus: %s connected", connection)
        else:
            why = f"too many connections of {connection.owner or connection.credential.name}"
            self.log.warning("bus: refused a client: %s", why)
            connection.close(WSCloseCode.TRY_AGAIN_LATER, why)

    def disconnected(self, connection: ClientConnection) -> None:
        """Forget a connection."""
        self.exchange.leave(connection)
        self._admission.left(connection)
        if connection.flushes:
            self._fences = {key: fence for key, fence in self._fences.items() if fence[0] is not connection}
        if not self._closed:
            self._skills.disconnected(connection)
        if self._closed and not self._admission.connections:
            self._no_connection.set()
        log.info("bus: %s disconnected", connection)

    def received(self, connection: ClientConnection, raw: bytes) -> None:
        """Emit what a client sent, if it is a Message that the client may emit."""
        translator = connection.translator
        try:
            message = decode(raw, without_nulls=translator is not None)
        except MalformedMessage as error:
            self.log.warning("bus: dropped a frame from %s that is not a Message: %s", connection, str(error)[:200])
            return
        if translator is None or message.type[:5] == "hark." or message.malformed_session is not None:
            self.take(connection, message, raw)
            return
        try:
            made = list(translator.from_client(message))
        except Exception as error:  # noqa: BLE001 - picows would disconnect the client, and log nothing
            self.log.warning(
                "bus: dropped a Message of %s that could not be translated: %s: %.200r",
                connection,
                message.type[:200],
                error,
            )
            return
        for translated in made:
            is_unchanged = translated is message and b"null" not in raw
            self.take(connection, translated, raw if is_unchanged else encode_for_clients(translated))

    def take(self, connection: ClientConnection, message: Message, raw: bytes) -> None:
        """Emit a Message in the name of a client, if the client may emit it."""
        if message.type.startswith(FENCE) and len(raw) <= MAX_FENCE:
            self.flush_bus(connection, text_frame(raw))
            return
        refusal = self._refusal(connection, message, len(raw))
        if refusal is not None:
            self.log.warning("bus: dropped a Message of %s: %s (%s)", connection, refusal, message.type[:200])
            return
        if connection.permissions.private:
            self._skills.seen(message, connection)
        else:
            passed = self._from_program(connection, message)
            if passed is None:
                return
            if passed is not message and (self._admission.services or message.type not in _COUNTED):
                raw = encode_for_clients(passed)
            message = passed
        rejection = rejection_of(message, self.log.warning)
        if rejection is not None:
            message, raw = rejection, encode_for_clients(rejection)
        elif connection.is_limited or _is_unnamed(message, raw):
            raw = encode_for_clients(message)  # what was checked, and not what another parser may read in it
        elif raw.startswith(_BOM):
            raw = raw[len(_BOM) :]
        self._incoming = (message, raw)
        try:
            self._bus.emit(message)
        except MalformedMessage as error:  # too large for what carries the bus
            self.log.warning("bus: dropped a Message from %s: %s", connection, str(error)[:200])
        finally:
            self._incoming = None

    def _refusal(self, connection: ClientConnection, message: Message, size: int) -> str | None:
        """Why a Message of a client is dropped; None when it may pass."""
        refusal = None
        if connection.is_limited or message.type[:5] == "hark.":
            refusal = connection.permissions.refusal(message)
        if refusal is not None:
            return refusal
        if len(message.session_id) > _LONGEST_ID:
            return f"its session_id has more than {_LONGEST_ID} characters"
        if message.type in OF_SKILLS:
            return self._skills.refusal(connection, message, size)
        if SCHEDULER in message.context or message.type in OF_SCHEDULES:
            return self._schedule_refusal(connection, message)
        if (self._has_assistant or self._admission.services) and not connection.permissions.private:
            if message.type in _OF_ASSISTANT:
                return "only the assistant says that"
            if topics.is_dispatch_topic(message.type):
                return self._skills.call_refusal(connection, message.type)
        return None

    def _schedule_refusal(self, connection: ClientConnection, message: Message) -> str | None:
        """See `SkillOwners.schedule_refusal`; a request that is refused is answered."""
        refusal = self._skills.schedule_refusal(connection, message)
        if refusal is not None and message.type in OF_SCHEDULES:
            answer = {"ok": False, "error": "skill_id_mismatch", "reason": refusal}
            self._bus.emit(message.response(answer))
        return refusal

    def _from_program(self, connection: ClientConnection, message: Message) -> Message | None:
        """A Message of a client that is not Hark's own, as it goes on; None where it ends a handler, which is all."""
        if UTTERANCE_ID in message.context:
            ending = self._skills.worked(connection, message)
            if ending is not None:
                self._bus.emit(ending)
                return None
        if message.type in _COUNTED:
            return message.carrying(**{CLIENT: connection.usage.id})
        if message.type in _SPEECH and not self._skills.may_speak_as(connection, message.context.get(SKILL_ID)):
            return message.carrying(**{SKILL_ID: None})
        return message

    def flush_bus(self, connection: ClientConnection, answer: bytes) -> None:
        """Send a client this frame once the bus has carried everything that the client sent before."""
        if connection.flushes >= self.limits.flushes:
            self.log.warning("bus: too many flushes wait; dropped one of %s", connection)
            return
        connection.flushes += 1
        key = next(self._numbers)
        self._fences[key] = (connection, answer)
        # Messages keep their order: when this one comes back, those before it have.
        self._bus.emit(Message(self._fence, {"key": key}))

    def _fence_again(self, _message: Message) -> None:
        for key in self._fences:
            self._bus.emit(Message(self._fence, {"key": key}))

    # From the bus to clients.

    def _publish(self, message: Message) -> None:
        incoming = self._incoming
        is_ours = incoming is not None and incoming[0] is message
        if not is_ours:
            self._skills.seen(message)
        if message.type == self._fence:
            key = message.data.get("key")
            if isinstance(key, int) and key in self._fences:
                connection, answer = self._fences.pop(key)
                connection.passed(answer)
        elif self.exchange.is_followed(message.type) and (
            self._admission.services or not topics.is_private(message.type)
        ):
            if message.type == topics.UTTERANCE_HANDLE and not is_ours and CLIENT in message.context:
                message = message.carrying(**{CLIENT: None})  # it concerns no client
            # What a client sent is passed on as it came: writing it anew costs time, and drops keys we do not know.
            raw = incoming[1] if incoming is not None and is_ours else encode_for_clients(message)
            self.publishing = message
            try:
                self.exchange.publish(message.type, text_frame(raw))
            finally:
                self.publishing = None
        if incoming is None and self._output:
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
        if self.waiting > self.limits.backlogs:
            self._bound_backlogs()

    def _bound_backlogs(self) -> None:
        waiting = {connection: connection.look() for connection in self._admission.connections if connection.is_open}
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
                enable_auto_pong=False,  # connections answer: it costs time, and is charged to the client
                use_aiofastnet=False,  # no faster here, and it spins when the process has no file descriptor left
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
            if self._closed:
                raise HandshakeRefused(HTTPStatus.SERVICE_UNAVAILABLE, "the bus is shutting down")
            self._admission.check(client)
        except HandshakeRefused as refusal:
            self.log.warning("bus: refused a client: %s", refusal)
            response = WSUpgradeResponse.create_error_response(refusal.status, f"{refusal.status.phrase}\n".encode())
            return WSUpgradeResponseWithListener(response, None)
        is_private = client.credential.permissions.private
        hark = {
            "Sec-WebSocket-Protocol": SUBPROTOCOL,
            MAX_MESSAGE_HEADER: str(self.limits.message),
            PRIVATE_HEADER: "yes" if is_private else "no",
        }
        response = WSUpgradeResponse.create_101_response(hark if client.speaks_hark else None)
        usage = self._admission.usage_of(client.credential)
        return WSUpgradeResponseWithListener(response, ClientConnection(self, endpoint, client, usage))

    async def _watch_links(self) -> None:
        """Ping clients that are silent, and disconnect those that do not answer."""
        while True:
            await self.clock.sleep(_PING)
            now = self.clock.monotonic()
            for connection in list(self._admission.connections):
                connection.check_link(now)

    async def _watch_tokens(self) -> None:
        """Disconnect clients whose token was revoked or got other permissions."""
        while True:
            await self.clock.sleep(_CHECK_TOKENS)
            for connection in list(self._admission.connections):
                store = connection.endpoint.credentials
                if connection.has_token and (store is None or not store.is_valid(connection.credential)):
                    self.log.warning("bus: disconnected %s: its token is not valid any more", connection)
                    connection.close(WSCloseCode.POLICY_VIOLATION, "the token is not valid any more")


class _SessionId(msgspec.Struct):
    session_id: object = None


class _Context(msgspec.Struct):
    session: _SessionId | None = None


class _Carrier(msgspec.Struct):
    context: _Context | None = None


_carrier = msgspec.json.Decoder(_Carrier).decode


def _is_unnamed(message: Message, raw: bytes) -> bool:
    """Whether a Message carries the device's own session without naming it."""
    if message.session_id != DEFAULT_SESSION_ID:
        return False
    try:
        context = _carrier(raw).context
    except (msgspec.DecodeError, UnicodeError):
        return False  # its session is malformed
    session = context.session if context is not None else None
    return session is not None and session.session_id != DEFAULT_SESSION_ID
