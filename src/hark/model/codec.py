"""Bytes to Message and back. Any bytes at all either decode or raise `MalformedMessage`."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from hark.model.errors import MalformedMessage
from hark.model.frozen import MAX_DEPTH
from hark.model.message import Message, from_wire

_BOM: Final = b"\xef\xbb\xbf"


class _Envelope(msgspec.Struct):
    """The three keys that count; msgspec ignores any other, as MSG-1 §2 asks."""

    type: str
    data: dict[str, Any] = {}
    context: dict[str, Any] = {}


_decode = msgspec.json.Decoder(_Envelope).decode
_encode = msgspec.json.Encoder().encode


def decode(raw: bytes | bytearray | memoryview | str) -> Message:
    """The Message in `raw`. Of a key that is there twice, the last one counts."""
    try:
        octets = raw.encode() if isinstance(raw, str) else bytes(raw)
        if octets.startswith(_BOM):
            octets = octets[3:]
        # msgspec stops at Python's recursion limit, which depends on who calls; ours does not.
        if octets.count(b"[") + octets.count(b"{") > MAX_DEPTH:
            _check_depth(octets)
        envelope = _decode(octets)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise MalformedMessage(f"no Message: {error}") from None
    return from_wire(envelope.type, envelope.data, envelope.context)


def encode(message: Message) -> bytes:
    """`message` as UTF-8 JSON."""
    return _encode(message.wire())


def _check_depth(octets: bytes) -> None:
    depth = 0
    in_string = escaped = False
    for octet in octets:
        if escaped:
            escaped = False
        elif in_string:
            if octet == 0x5C:
                escaped = True
            elif octet == 0x22:
                in_string = False
        elif octet == 0x22:
            in_string = True
        elif octet in b"[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise MalformedMessage(f"nested deeper than {MAX_DEPTH} levels")
        elif octet in b"]}":
            depth -= 1
