"""One client's connection to a websocket server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from picows import WSCloseCode, WSFrame, WSListener, WSMsgType, WSTransport

from hark.bus.protocols import EVERYTHING
from hark.bus.websocket.auth import AcceptedClient, Endpoint
from hark.bus.websocket.limits import TokenBucket
from hark.bus.websocket.protocol import (
    FLUSH,
    FLUSHED,
    FOLLOW,
    UNFOLLOW,
    FrameAssembler,
    MalformedCommand,
    binary_frame,
    command,
    read_command,
    text_frame,
)

if TYPE_CHECKING:
    from hark.bus.websocket.server import WebSocketServer

_BATCH: Final = 65_536
"""Bytes that are sent to a client in one go."""

_CONNECTED: Final = text_frame(b'{"type":"connected","data":{},"context":{"session":{"session_id":"default"}}}')
"""The first Message that ovos-messagebus sends."""

_LAST_READ: Final = 2.0
"""Seconds that a client may still read after the server has closed its connection."""

_DATA: Final = (WSMsgType.TEXT, WSMsgType.BINARY, WSMsgType.CONTINUATION)


class ClientConnection(WSListener):
    """Checks what comes in and hands it to the server; collects what goes out, and bounds it."""

    def __init__(self, server: WebSocketServer, endpoint: Endpoint, client: AcceptedClient) -> None:
        self.endpoint = endpoint
        self.credential = client.credential
        self.permissions = client.credential.permissions
        self.speaks_hark = client.speaks_hark
        self.transport: WSTransport
        self.is_open = False
        """Not before it is connected, and not once it is to be disconnected."""
        self.waiting = 0
        """Bytes that the client had not read when it was last sent something."""
        self._server = server
        self._limits = server.limits
        self._bucket = TokenBucket(server.limits.rate, server.limits.burst, server.clock.monotonic())
        self._assembler = FrameAssembler(server.limits.message)
        self._out: list[bytes] = []
        self._out_bytes = 0
        self._gets_everything = False
        self._address = ""

    def __str__(self) -> str:
        return f"{self.credential.name} at {self._address}"

    # Called by picows.

    def on_ws_connected(self, transport: WSTransport) -> None:
        """Register with the server."""
        self.transport = transport
        self.is_open = True
        peer = transport.underlying_transport.get_extra_info("peername")
        self._address = f"{peer[0]}:{peer[1]}" if peer else "an unknown address"
        self._server.connected(self)
        if self.is_open and not self.speaks_hark:
            self._send(_CONNECTED)
            self._follow(EVERYTHING)
            self._server.flush_soon()

    def on_ws_disconnected(self, _transport: WSTransport) -> None:
        """Unregister."""
        self.is_open = False
        self._out.clear()
        self._server.disconnected(self)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        """Take in a frame."""
        if not self.is_open:  # sent before the client learnt that it is disconnected
            return
        kind = frame.msg_type
        if kind in _DATA:
            whole = self._assembler.add(frame)
            if whole is not None:
                self._take(*whole)
            # Here where nothing else came in: a trip through the event loop costs as much as all the rest. Otherwise
            # what came in together goes out together.
            if frame.last_in_buffer:
                self._server.flush()
            else:
                self._server.flush_soon()
        elif kind == WSMsgType.CLOSE:
            transport.send_close(frame.get_close_code(), b"")
            self.disconnect()

    def pause_writing(self) -> None:
        """Nothing to do: `flush` looks at what waits."""

    def resume_writing(self) -> None:
        """Nothing to do: `flush` looks at what waits."""

    # What comes in.

    def _take(self, payload: bytes, kind: WSMsgType) -> None:
        self._throttle()
        if kind == WSMsgType.BINARY and self.speaks_hark:
            self._obey(payload)
        else:
            self._server.received(self, payload)

    def _throttle(self) -> None:
        """Pause reading while the client is over its rate: nothing is lost, it only waits."""
        pause = self._bucket.take(1, self._server.clock.monotonic())
        if pause and self.is_open:
            reading: Any = self.transport.underlying_transport
            if reading.is_reading():
                self._server.log.warning("bus: %s exceeds its rate and is read more slowly", self)
                reading.pause_reading()
                self._server.clock.after(pause, self._resume_reading)

    def _resume_reading(self) -> None:
        if self.is_open:
            reading: Any = self.transport.underlying_transport
            reading.resume_reading()

    def _obey(self, frame: bytes) -> None:
        try:
            word, argument = read_command(frame)
        except MalformedCommand:
            self._server.log.warning("bus: dropped a malformed command from %s", self)
            return
        if word == FOLLOW:
            self._follow(argument)
        elif word == UNFOLLOW:
            self._server.exchange.unfollow(self, argument)
            self._gets_everything = self._gets_everything and argument != EVERYTHING
        elif word == FLUSH:
            self._server.flush_bus(self, argument)

    def _follow(self, topic: str) -> None:
        if topic != EVERYTHING and not self.permissions.may_receive(topic):
            self._server.log.warning("bus: %s may not receive %s", self, topic[:200])
        elif self._server.exchange.count(self) >= self._limits.follows:
            self._server.log.warning("bus: %s follows more topics than it may", self)
        else:
            self._server.exchange.follow(self, topic)
            self._gets_everything = self._gets_everything or topic == EVERYTHING

    # What goes out.

    def deliver(self, topic: str, frame: bytes, via: str) -> None:
        """See `Subscriber`; the frame as it is on the wire. A client gets each once, also where it follows the topic
        and everything.
        """
        if self._gets_everything and via != EVERYTHING:
            return
        if self.permissions.receive is None or self.permissions.may_receive(topic):
            self._send(frame)

    def flushed(self, number: int) -> None:
        """Tell the client that what it sent before this number is on the bus."""
        self._send(binary_frame(command(FLUSHED, number)))

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
        self.waiting = self.backlog()
        if self.waiting > self._limits.backlog:
            self._server.log.warning("bus: disconnected %s: it left %d bytes unread", self, self.waiting)
            self.abort()

    def backlog(self) -> int:
        """Bytes that the client has not read yet."""
        return self.transport.underlying_transport.get_write_buffer_size()

    # The end.

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
        self._server.exchange.leave(self)
        return was_open
