"""One client's connection to a websocket server."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from picows import WSCloseCode, WSFrame, WSListener, WSMsgType, WSTransport

from hark.bus.protocols import EVERYTHING
from hark.bus.websocket.auth import LOCAL_CLIENT, AcceptedClient, Endpoint
from hark.bus.websocket.bounded_reader import BoundedReader
from hark.bus.websocket.fair_queue import SLICE
from hark.bus.websocket.limits import ClientUsage, TokenBucket
from hark.bus.websocket.local_processes import Link
from hark.bus.websocket.protocol import (
    FENCE,
    FLUSH,
    FLUSHED,
    FOLLOW,
    UNFOLLOW,
    FrameAssembler,
    MalformedCommand,
    binary_frame,
    command,
    pong_frame,
    read_command,
    text_frame,
)
from hark.model import Message, encode_for_clients, encode_foreign

if TYPE_CHECKING:
    from hark.bus.websocket.server import WebSocketServer

_BATCH: Final = 65_536
"""Bytes that are sent to a client in one go."""

_CONNECTED: Final = text_frame(b'{"type":"connected","data":{},"context":{"session":{"session_id":"default"}}}')
"""The first Message that ovos-messagebus sends."""

_LAST_READ: Final = 2.0
"""Seconds that a client may still read after the server has closed its connection."""

_SHORT: Final = 0.001
"""Seconds for which reading is not paused."""

_SILENCE: Final = 10.0
"""Seconds of silence after which a client that speaks Hark's subprotocol is disconnected, though it was pinged."""
_SILENCE_OF_OTHERS: Final = 30.0
"""The same for others: they may be busy for a while, and do not notice what they miss."""

_DATA: Final = (WSMsgType.TEXT, WSMsgType.BINARY, WSMsgType.CONTINUATION)


class ClientConnection(WSListener):
    """Checks what comes in and hands it to the server; collects what goes out, and bounds it."""

    def __init__(self, server: WebSocketServer, endpoint: Endpoint, client: AcceptedClient, usage: ClientUsage) -> None:
        self.endpoint = endpoint
        self.usage = usage
        """What the client uses, on all its connections."""
        self.credential = client.credential
        self.permissions = client.credential.permissions
        self.is_limited = self.permissions.are_limited
        """Whether its Messages have to be looked into."""
        self._receives_public = self.permissions.receive is None
        self.speaks_hark = client.speaks_hark
        self.translator = (
            server.translators(self) if server.translators is not None and not client.speaks_hark else None
        )
        self.transport: WSTransport
        self.is_open = False
        """Not before it is connected, and not once it is to be disconnected."""
        self.waiting = 0
        """Bytes that the client had not read when it was last sent something."""
        self._server = server
        self._limits = server.limits
        self._bucket = TokenBucket(server.limits.rate, server.limits.burst, server.clock.monotonic())
        self._assembler = FrameAssembler(server.limits.message)
        self._inbox: deque[tuple[bytes, WSMsgType]] = deque()
        """What the client sent and was not handled yet, in order; nothing more is read meanwhile."""
        self._worked = 0.0
        """Seconds that what came in together has taken so far."""
        self._is_throttled = False
        """Whether the client is over its rate, and therefore not read."""
        self._waits_to_read = False
        """Whether it waits for a turn to be read: reading alone took more than its share of the event loop."""
        self._out: list[bytes] = []
        self._out_bytes = 0
        self._gets_everything = False
        self._follow_bytes = 0
        self.flushes = 0
        """How many wait for the bus."""
        self._address = ""
        self.skills: set[str] = set()
        """Those that were registered on it, among them some that have another connection by now."""
        self.link: Link | None = None
        """Its two ends; None where the client may be on another machine."""
        self.owner = ""
        """The local program it belongs to, once that was looked up."""
        self._heard = self.active = server.clock.monotonic()
        """When anything last came from the client, and when something other than a ping or its answer did."""

    def __str__(self) -> str:
        return f"{self.credential.name} at {self._address}"

    @property
    def has_token(self) -> bool:
        """Whether the client showed a token; without one it looks like all other clients of this machine."""
        return self.credential is not LOCAL_CLIENT

    # Called by picows.

    def on_ws_connected(self, transport: WSTransport) -> None:
        """Register with the server."""
        self.transport = transport
        self.is_open = True
        peer = transport.underlying_transport.get_extra_info("peername")
        self._address = f"{peer[0]}:{peer[1]}" if peer else "an unknown address"
        here = transport.underlying_transport.get_extra_info("sockname")
        if peer and here and not self.has_token:
            self.link = Link((peer[0], peer[1]), (here[0], here[1]))
        if not self.permissions.private:
            BoundedReader.put_before(transport.underlying_transport, self._server.clock, self._was_read)
        self._server.connected(self)
        if self.is_open and not self.speaks_hark:
            self._send(_CONNECTED)
            self._follow(EVERYTHING)
            self._server.flush_soon()

    def on_ws_disconnected(self, _transport: WSTransport) -> None:
        """Unregister."""
        self.is_open = False
        self._out.clear()
        self._inbox.clear()
        self._waits_to_read = False
        self._set_waiting(0)
        if self.translator is not None:
            self.translator.close()
            self.translator = None  # the connection itself is kept while a program may come back
        self._server.disconnected(self)

    def on_ws_frame(self, _transport: WSTransport, frame: WSFrame) -> None:
        """Take in a frame."""
        if not self.is_open:  # sent before the client learnt that it is disconnected
            return
        kind = frame.msg_type
        self._heard = self._server.clock.monotonic()
        if kind in _DATA:
            self.active = self._heard
            whole = self._assembler.add(frame)
            if whole is not None:
                self._take(*whole)
            # Here where nothing else came in: a trip through the event loop costs as much as all the rest. Otherwise
            # what came in together goes out together.
            if frame.last_in_buffer:
                self._server.flush()
            else:
                self._server.flush_soon()
        elif kind == WSMsgType.PING:
            self._send(pong_frame(frame.get_payload_as_bytes()))
            self._server.flush_soon()
        elif kind == WSMsgType.CLOSE:
            code: Any = frame.get_close_code()
            closing = int(code).to_bytes(2)
            if self._inbox:
                self._inbox.append((closing, kind))
            else:
                self._handle(closing, kind)

    def pause_writing(self) -> None:
        """Nothing to do: `flush` looks at what waits."""

    def resume_writing(self) -> None:
        """Nothing to do: `flush` looks at what waits."""

    # What comes in.

    def _take(self, payload: bytes, kind: WSMsgType) -> None:
        """Handle something at once, or later where what the client sent has kept the event loop busy for a while."""
        if self.permissions.private:
            self._handle(payload, kind)
        elif self._inbox:
            self._inbox.append((payload, kind))
        elif self._worked >= SLICE or self.usage.is_over_share(self._heard):
            self._inbox.append((payload, kind))
            self._set_reading()
            self._server.queue.add(self)
        else:
            self._server.queue.note_activity(self._heard)
            self._worked += self._charged(payload, kind, self._heard)

    def _was_read(self, seconds: float) -> None:
        """Charge the client for what it sent, also where no Message came of it: parts, pings, what is not finished."""
        now = self._server.clock.monotonic()
        self.usage.charge(max(0.0, seconds - self._worked), now)
        self._worked = 0.0
        if self.usage.is_over_share(now):
            self._server.queue.note_late_work(seconds, now)
            if self.is_open and not self.has_work:
                self._waits_to_read = True
                self._set_reading()
                self._server.queue.add(self)

    @property
    def has_work(self) -> bool:
        """Whether anything the client sent waits to be handled, or to be read."""
        return bool(self._inbox) or self._waits_to_read

    def work(self) -> None:
        """Handle what waits in the inbox, for a while."""
        now, worked = self._server.clock.monotonic(), 0.0
        while self._inbox and worked < SLICE:
            spent = self._charged(*self._inbox.popleft(), now)
            now, worked = now + spent, worked + spent
        if not self._inbox:
            self._waits_to_read = False
            self._set_reading()

    def _charged(self, payload: bytes, kind: WSMsgType, began: float) -> float:
        """Handle something, and charge the client for the time it took; the seconds."""
        self._handle(payload, kind)
        now = self._server.clock.monotonic()
        self.usage.charge(now - began, now)
        return now - began

    def _handle(self, payload: bytes, kind: WSMsgType) -> None:
        if kind == WSMsgType.CLOSE:
            code: Any = int.from_bytes(payload)  # a client may have codes of its own, which WSCloseCode does not name
            self.transport.send_close(code, b"")
            self.disconnect()
            return
        self._throttle(len(payload))
        if kind == WSMsgType.BINARY and self.speaks_hark:
            self._obey(payload)
        else:
            self._server.received(self, payload)

    def _set_reading(self) -> None:
        """Read from the client, unless it is over its rate or something of it waits to be handled."""
        if self.is_open:
            reading: Any = self.transport.underlying_transport
            wanted = not self._is_throttled and not self.has_work
            if wanted != reading.is_reading():
                reading.resume_reading() if wanted else reading.pause_reading()

    def _throttle(self, size: int) -> None:
        """Pause reading while the client is over its rate: nothing is lost, it only waits."""
        pause = self._excess(1, size, self._heard)
        if pause and self.is_open and not self._is_throttled:
            self._server.log.warning("bus: %s exceeds its rate and is read more slowly", self)
            self._is_throttled = True
            self._set_reading()
            self._server.clock.after(pause, self._resume_reading)

    def _excess(self, count: int, size: int, now: float) -> float:
        """The seconds after which the client is within its rates again, having sent so many Messages and bytes."""
        pause = self._bucket.take(count, now)
        return pause if self.permissions.private else max(pause, self.usage.bytes.take(size, now))

    def _resume_reading(self) -> None:
        pause = self._excess(0, 0, self._server.clock.monotonic())
        if pause > _SHORT:  # other connections of the client have sent something meanwhile
            self._server.clock.after(pause, self._resume_reading)
        else:
            self._is_throttled = False
            self._set_reading()

    def _obey(self, frame: bytes) -> None:
        try:
            word, argument = read_command(frame)
        except MalformedCommand:
            self._server.log.warning("bus: dropped a malformed command from %s", self)
            return
        if word == FOLLOW:
            self._follow(argument)
        elif word == UNFOLLOW:
            if self._server.exchange.unfollow(self, argument):
                self._follow_bytes -= len(argument)
            self._gets_everything = self._gets_everything and argument != EVERYTHING
        elif word == FLUSH:
            self._server.flush_bus(self, binary_frame(command(FLUSHED, argument)))

    def _follow(self, topic: str) -> None:
        limits = self._limits
        if topic.startswith(FENCE):
            return  # its Messages come back anyway
        if topic != EVERYTHING and not self.permissions.may_receive(topic):
            self._server.log.warning("bus: %s may not receive %s", self, topic[:200])
        elif (
            self._server.exchange.count(self) >= limits.follows or self._follow_bytes + len(topic) > limits.follow_bytes
        ):
            self._server.log.warning("bus: %s follows more topics than it may", self)
        else:
            if self._server.exchange.follow(self, topic):
                self._follow_bytes += len(topic)
            self._gets_everything = self._gets_everything or topic == EVERYTHING

    # What goes out.

    def deliver(self, topic: str, frame: bytes, via: str) -> None:
        """See `Subscriber`; the frame as it is on the wire. A client gets each once, also where it follows the topic
        and everything.
        """
        if self._gets_everything and via != EVERYTHING:
            return
        # Most clients may receive every public topic: not worth a call for each of them.
        if (self._receives_public and topic[:5] != "hark.") or self.permissions.may_receive(topic):
            message, translator = self._server.publishing, self.translator
            translated = translator.to_client(message) if translator is not None and message is not None else None
            if translated is None:
                self._send(frame)
            else:
                for one in translated:
                    self._send(text_frame(encode_for_clients(one)))

    def send(self, message: Message) -> None:
        """See `ClientLink`."""
        self._send(text_frame(encode_for_clients(message)))
        self._server.flush_soon()

    def send_foreign(self, message: Message, topic: str, data: object) -> None:
        """See `ClientLink`."""
        self._send(text_frame(encode_foreign(message, topic, data)))
        self._server.flush_soon()

    def emit(self, message: Message) -> None:
        """See `ClientLink`. What is emitted while a Message is delivered follows once every client has that one."""
        if self._server.publishing is not None:
            asyncio.get_running_loop().call_soon(self.emit, message)
        elif self.is_open:
            began = self._server.clock.monotonic()
            self._server.take(self, message, encode_for_clients(message))
            self._server.flush_soon()
            now = self._server.clock.monotonic()
            self.usage.charge(now - began, now)

    def passed(self, wire: bytes) -> None:
        """Send the client this frame: what it sent before is on the bus."""
        self.flushes -= 1
        self._send(wire)

    def _send(self, wire: bytes) -> None:
        if not self.is_open:
            return
        if not self._out:
            self._server.has_output(self)
        self._out.append(wire)
        self._out_bytes += len(wire)
        if self._out_bytes >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Send what was collected; disconnect a client that does not read what it is sent."""
        if not self.is_open or not self._out:
            return
        line = self.transport.underlying_transport
        if not line.is_closing():  # the client may be gone, and asyncio logs every write to one that is
            line.write(self._out[0] if len(self._out) == 1 else b"".join(self._out))
        self._out.clear()
        self._out_bytes = 0
        self._set_waiting(self.backlog())
        if self.waiting > self._limits.backlog:
            self._server.log.warning("bus: disconnected %s: it left %d bytes unread", self, self.waiting)
            self.abort()

    def backlog(self) -> int:
        """Bytes that the client has not read yet."""
        return self.transport.underlying_transport.get_write_buffer_size()

    def _set_waiting(self, size: int) -> None:
        self._server.waiting += size - self.waiting
        self.waiting = size

    def look(self) -> int:
        """Bytes that the client has not read by now."""
        if self.is_open:
            self._set_waiting(self.backlog())
        return self.waiting

    # The end.

    def check_link(self, now: float) -> None:
        """Ping the client if it is silent; disconnect it if it has been for long. What waits for it is sent first."""
        silence = now - self._heard
        if not self.is_open or not self.transport.underlying_transport.is_reading():
            return  # a client that is read more slowly may have answered
        if silence >= (_SILENCE if self.speaks_hark else _SILENCE_OF_OTHERS):
            self._server.log.warning("bus: disconnected %s: it did not answer a ping", self)
            self.abort()
        elif silence > 0:
            self.transport.send_ping()

    def disconnect(self) -> None:
        """Disconnect once the client has read what it was sent."""
        self.flush()
        if self._end():
            self.transport.disconnect()
            self._server.clock.after(_LAST_READ, lambda: self.transport.disconnect(graceful=False))

    def close(self, code: WSCloseCode, why: str) -> None:
        """Send what there is and the reason, then disconnect."""
        self.flush()
        if self.is_open:
            self.transport.send_close(code, why.encode())
            self.disconnect()

    def abort(self) -> None:
        """Disconnect at once."""
        self._end()
        self.transport.disconnect(graceful=False)

    def _end(self) -> bool:
        was_open, self.is_open = self.is_open, False
        self._out.clear()
        self._inbox.clear()
        self._waits_to_read = False
        self._server.exchange.leave(self)
        return was_open
