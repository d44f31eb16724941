"""The wire: Messages in text frames, and the commands of the subprotocol `hark.2` in binary ones.

A client that does not offer the subprotocol gets every Message, as from ovos-messagebus. One that does says what it
follows and gets that. Commands are JSON arrays:

    client: ["follow", topic]  ["unfollow", topic]  ["flush", number]
    server: ["flushed", number]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from picows import WSCloseCode, WSFrame, WSMsgType, WSProtocolError

from hark.bus.protocols import EVERYTHING
from hark.spec import topics

SUBPROTOCOL: Final = "hark.2"
MAX_MESSAGE_HEADER: Final = "Hark-Largest-Message"
"""The header in which the server names the largest Message it takes, in bytes."""

PRIVATE_HEADER: Final = "Hark-Private"
"""The header in which the server says whether the client gets private topics: `yes` for Hark's own services."""

FENCE: Final = "hark.fence."
"""How the topics begin by which `Bus.settled` waits: such a Message comes back to its sender alone."""
MAX_FENCE: Final = 1_000
"""Bytes of such a Message; it is kept until the bus has carried what was sent before."""

FOLLOW: Final = "follow"
UNFOLLOW: Final = "unfollow"
FLUSH: Final = "flush"
FLUSHED: Final = "flushed"

_decode = msgspec.json.Decoder(list[str | int]).decode
_encode = msgspec.json.Encoder().encode


class MalformedCommand(ValueError):
    """A binary frame that is not a command."""


def command(word: str, argument: str | int) -> bytes:
    """A command, ready to be sent."""
    return _encode([word, argument])


def read_command(frame: bytes) -> tuple[str, Any]:
    """The word of a command and its argument, checked; raises `MalformedCommand`."""
    try:
        word, *arguments = _decode(frame)
    except (msgspec.DecodeError, UnicodeError, ValueError, RecursionError):
        raise MalformedCommand("not a command") from None
    check = _CHECKS.get(word) if isinstance(word, str) else None
    if check is None or not check(arguments):
        raise MalformedCommand("not a command")
    return str(word), arguments[0]


def _is_topic(arguments: Sequence[str | int]) -> bool:
    if len(arguments) != 1 or not isinstance(arguments[0], str):
        return False
    return arguments[0] == EVERYTHING or topics.is_topic(arguments[0])


def _is_number(arguments: Sequence[str | int]) -> bool:
    return len(arguments) == 1 and isinstance(arguments[0], int)


_CHECKS: Final = {FOLLOW: _is_topic, UNFOLLOW: _is_topic, FLUSH: _is_number, FLUSHED: _is_number}


def text_frame(payload: bytes) -> bytes:
    """A text frame as a server sends it (RFC 6455 §5.2): made once, the same bytes for every client."""
    return _frame(0x81, payload)


def binary_frame(payload: bytes) -> bytes:
    """A binary frame as a server sends it."""
    return _frame(0x82, payload)


def pong_frame(payload: bytes) -> bytes:
    """The answer to a ping."""
    return _frame(0x8A, payload)


def _frame(first: int, payload: bytes) -> bytes:
    size = len(payload)
    if size < 126:
        return bytes((first, size)) + payload
    if size < 65_536:
        return bytes((first, 126)) + size.to_bytes(2) + payload
    return bytes((first, 127)) + size.to_bytes(8) + payload


class FrameAssembler:
    """Joins the frames of a fragmented message. Raises `WSProtocolError` where the peer breaks the protocol."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._bytes = bytearray()
        self._kind: WSMsgType | None = None
        """The kind of the message that is not complete yet."""

    def add(self, frame: WSFrame) -> tuple[bytes, WSMsgType] | None:
        """The message that `frame` completes, and its kind."""
        kind = frame.msg_type
        if frame.rsv1 or frame.rsv2 or frame.rsv3:
            raise WSProtocolError(WSCloseCode.PROTOCOL_ERROR, "an extension that was not agreed on")
        if (kind == WSMsgType.CONTINUATION) != (self._kind is not None):
            raise WSProtocolError(WSCloseCode.PROTOCOL_ERROR, "a fragment out of order")
        payload = frame.get_payload_as_bytes()
        if self._kind is None and frame.fin:
            return payload, kind
        self._kind = self._kind or kind
        self._bytes += payload
        if len(self._bytes) > self._largest:
            raise WSProtocolError(WSCloseCode.MESSAGE_TOO_BIG, f"more than {self._largest} bytes")
        if not frame.fin:
            return None
        complete = bytes(self._bytes), self._kind
        self._bytes, self._kind = bytearray(), None
        return complete
