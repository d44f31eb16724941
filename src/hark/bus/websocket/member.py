"""One client of a websocket server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from picows import WSCloseCode, WSFrame, WSListener, WSMsgType, WSTransport

from hark.bus.carrier import EVERYTHING
from hark.bus.websocket.door import Door, Entrant
from hark.bus.websocket.frames import Parcel, binary_frame, text_frame
from hark.bus.websocket.limits import Bucket
from hark.bus.websocket.parts import Parts
from hark.bus.websocket.protocol import (
    AGAIN,
    BACK,
    FLUSH,
    FLUSHED,
    FOLLOW,
    HAD,
    HAVE,
    HELLO,
    TOOK,
    UNFOLLOW,
    Malformed,
    command,
    read_command,
)
from hark.bus.websocket.senders import UNMARKED, Mark, Sender, sender_name

if TYPE_CHECKING:
    from hark.bus.websocket.server import WebSocketServer

_BATCH: Final = 65_536
"""Bytes that are sent to a client in one go."""

_CONNECTED: Final = text_frame(b'{"type":"connected","data":{},"context":{"session":{"session_id":"default"}}}')
"""What ovos-messagebus says first."""

_PATIENCE: Final = 2.0
"""Seconds in which a client that is to go may read what it was sent."""

_DATA: Final = (WSMsgType.TEXT, WSMsgType.BINARY)


class Client(WSListener):
    """A connection: what comes in is checked and handed to the server, what goes out is collected and bounded."""

    def __init__(self, server: WebSocketServer, door: Door, entrant: Entrant) -> None:
        self.door = door
        self.key = entrant.key
        self.speaks_hark = entrant.speaks_hark
        self.transport: WSTransport
        self.is_open = False
        """Whether it is one of them: not before it is connected, and not once it is to be disconnected."""
        self._server = server
        self._relay = server.relay
        self._limits = server.limits
        self._bucket = Bucket(server.limits.rate, server.limits.burst, server.clock.monotonic())
        self.waiting = 0
        """Bytes that waited to be read by it when it was last sent something."""
        self._out: list[bytes] = []
        self._out_bytes = 0
        self._parts = Parts(server.limits.message)
        self._address = ""
        self._sender: Sender | None = None
        self._returned = False
        """Whether it was connected before, to this server or another."""

    def __str__(self) -> str:
        return f"{self.key.name} at {self._address}"

    # What picows calls.

    def on_ws_connected(self, transport: WSTransport) -> None:
        """Join the others."""
        self.transport = transport
        self.is_open = True
        peer = transport.underlying_transport.get_extra_info("peername")
        self._address = f"{peer[0]}:{peer[1]}" if peer else "an unknown address"
        self._server.joined(self)
        if self.is_open and not self.speaks_hark:
            self._put(_CONNECTED)
            self._relay.exchange.follow(self, EVERYTHING)
            self._server.flush_soon()

    def on_ws_disconnected(self, _transport: WSTransport) -> None:
        """Leave."""
        self.is_open = False
        self._out.clear()
        self._server.left(self)
        self._relay.receipts.left(self)
        if self._sender is not None:
            self._relay.reunion.left(self._sender.name)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        """Take in a frame."""
        if not self.is_open:  # what it sent before it heard that it is to go
            return
        kind = frame.msg_type
        if kind in _DATA or kind == WSMsgType.CONTINUATION:
            self._take(frame)
            # Here and not in a moment where nothing else came in: a trip through the event loop costs as much as all
            # the rest. Otherwise what came in together goes out together.
            if frame.last_in_buffer:
                self._server.flush()
            else:
                self._server.flush_soon()
        elif kind == WSMsgType.CLOSE:
            transport.send_close(frame.get_close_code(), b"")
            self.leave()

    def pause_writing(self) -> None:
        """What waits to be read is looked at with every Message."""

    def resume_writing(self) -> None:
        """As `pause_writing`."""

    # In.

    def _take(self, frame: WSFrame) -> None:
        whole = self._parts.whole(frame)
        if whole is None:
            return
        payload, kind = whole
        self._throttle()
        if kind == WSMsgType.BINARY and self.speaks_hark:
            self._obey(payload)
        else:
            self._relay.take(self, payload)

    def _throttle(self) -> None:
        """Read on only when it may send again: nothing is lost, it only waits."""
        pause = self._bucket.take(1, self._server.clock.monotonic())
        if pause and self.is_open:
            reading: Any = self.transport.underlying_transport
            if reading.is_reading():
                self._server.sparing.warning("bus: %s sends more than it may, and is read more slowly", self)
                reading.pause_reading()
                self._server.clock.after(pause, self._read_on)

    def _read_on(self) -> None:
        if self.is_open:
            reading: Any = self.transport.underlying_transport
            reading.resume_reading()

    def _obey(self, frame: bytes) -> None:
        try:
            word, rest = read_command(frame)
        except Malformed:
            self._server.sparing.warning("bus: dropped what is no command, from %s", self)
            return
        if word == FOLLOW:
            self._relay.follow(self, *rest)
        elif word in (HELLO, AGAIN):
            self._introduced(word == AGAIN, *rest)
        elif word == HAD:
            self._relay.had(self, *rest)
        elif word == BACK and self._sender is not None:
            self._relay.reunion.back(self._sender.name)
        elif word == UNFOLLOW:
            self._relay.exchange.unfollow(self, *rest)
        elif word == TOOK:
            self._relay.exchange.took(self, *rest)
        elif word == FLUSH:
            self._put(binary_frame(command(FLUSHED, *rest)))

    def _introduced(self, returned: bool, origin: str, first: int = 1, fresh: int = 1) -> None:
        if self._sender is not None:
            self._server.sparing.warning("bus: %s has said who it is already", self)
            return
        name = sender_name(self.key, origin)
        self._sender = Sender(self._relay.senders, name, first, fresh)
        self._returned = returned
        self._relay.reunion.joined(name)

    def next_mark(self) -> Mark | None:
        """The mark of the Message that came; None if it came before, over another connection."""
        if self._sender is None:
            return UNMARKED
        mark = self._sender.next()
        self._relay.receipts.came(self)
        return mark

    @property
    def number(self) -> int:
        """As promised by `Counting`."""
        return self._sender.number if self._sender is not None else 0

    # Out.

    def deliver(self, _topic: str, frame: Parcel, way: str) -> None:
        """As promised by `Member`. What was sent before is for those who were there and may have lost it."""
        if frame.again and not self._returned and way in ("", EVERYTHING):
            return
        if self.key.rights.receive is None or self.key.rights.may_receive(frame.topic):
            self._put(frame.form(way if self.speaks_hark else None))

    def confirm(self, number: int) -> None:
        """As promised by `Counting`."""
        self._put(binary_frame(command(HAVE, number)))
        self._server.flush_soon()

    def _put(self, wire: bytes) -> None:
        if not self.is_open:
            return
        if not self._out:
            self._server.has_output(self)
        self._out.append(wire)
        self._out_bytes += len(wire)
        if self._out_bytes >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Send what was collected; disconnect who does not read what is sent."""
        if not self.is_open or not self._out:
            return
        line = self.transport.underlying_transport
        line.write(self._out[0] if len(self._out) == 1 else b"".join(self._out))
        self._out.clear()
        self._out_bytes = 0
        self.waiting = self.backlog()
        if self.waiting > self._limits.backlog:
            self._server.sparing.warning("bus: disconnected %s: %d bytes wait to be read", self, self.waiting)
            self.cut()

    def backlog(self) -> int:
        """Bytes that wait to be read by it."""
        return self.transport.underlying_transport.get_write_buffer_size()

    def leave(self) -> None:
        """Disconnect once it has what it was sent."""
        self.flush()
        if self._stop():
            self.transport.disconnect()
            self._server.clock.after(_PATIENCE, lambda: self.transport.disconnect(graceful=False))

    def say_goodbye(self, code: WSCloseCode, why: str) -> None:
        """Send what there is, say why, and disconnect."""
        self.flush()
        if self.is_open:
            self.transport.send_close(code, why.encode())
            self.leave()

    def cut(self) -> None:
        """Disconnect at once."""
        self._stop()
        self.transport.disconnect(graceful=False)

    def _stop(self) -> bool:
        was_open, self.is_open = self.is_open, False
        self._out.clear()
        self._relay.exchange.leave(self)
        return was_open
