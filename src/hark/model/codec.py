"""Bytes to Message and back. Any bytes at all either decode or raise `MalformedMessage`."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from itertools import accumulate
from typing import Any, Final

import msgspec

from hark.model.errors import MalformedMessage
from hark.model.frozen import MAX_DEPTH
from hark.model.message import Message, from_wire, to_wire
from hark.spec.names import DEFAULT_SESSION_ID, SESSION, SESSION_ID

_BOM: Final = b"\xef\xbb\xbf"

# Brackets as steps up and down, read as signed bytes; all other bytes are deleted.
_STEPS: Final = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[{]}"))


class _Envelope(msgspec.Struct):
    """The three keys of the envelope; msgspec ignores others, as MSG-1 §2 requires."""

    type: str
    data: dict[str, Any] = {}
    context: dict[str, Any] = {}


_decode = msgspec.json.Decoder(_Envelope).decode
_encode = msgspec.json.Encoder().encode


def decode(raw: bytes | bytearray | memoryview | str, *, without_nulls: bool = False) -> Message:
    """The Message in `raw`. If a key occurs twice, the last one counts.

    `without_nulls` leaves out the fields of its session that are null: clients of OVOS write those they have no value
    for so, in every Message, and each would be logged as malformed.
    """
    try:
        octets = raw.encode() if isinstance(raw, str) else bytes(raw)
        if octets.startswith(_BOM):
            octets = octets[3:]
        if not octets.isascii():
            octets.decode()  # msgspec does not validate the keys it ignores
        # msgspec stops at Python's recursion limit, which depends on the caller's stack; this limit does not. Most
        # messages have too few brackets to nest too deep; removing them is the fastest way to count them.
        brackets = len(octets) - len(octets.replace(b"{", b"").replace(b"[", b""))
        if brackets > MAX_DEPTH and depth(octets) > MAX_DEPTH:
            raise MalformedMessage(f"nested deeper than {MAX_DEPTH} levels")
        envelope = _decode(octets)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise MalformedMessage(f"not a Message: {error}") from None
    context = envelope.context
    if without_nulls and isinstance(session := context.get(SESSION), dict) and None in session.values():
        context[SESSION] = {name: value for name, value in session.items() if value is not None}
    return from_wire(envelope.type, envelope.data, context)


def encode(message: Message) -> bytes:
    """`message` as UTF-8 JSON."""
    return _encode(to_wire(message))


def encode_for_clients(message: Message) -> bytes:
    """`message` as UTF-8 JSON, in which the device's own session is named.

    SESSION-1 §2.1 lets a producer leave `session_id` out. OVOS clients then take the session for a new one, with a
    random id.
    """
    return _encode(_wire_for_clients(message))


def encode_foreign(message: Message, topic: str, data: object) -> bytes:
    """As `encode_for_clients`, under a topic and with a payload that need not be those of a Message (MSG-1 §2).

    Older clients of OVOS have topics with two colons, and payloads that are arrays.
    """
    return _encode({**_wire_for_clients(message), "type": topic, "data": data})


def _wire_for_clients(message: Message) -> dict[str, Any]:
    wire = to_wire(message)
    context: dict[str, Any] = wire.get("context", {})
    session = context.get(SESSION)
    if isinstance(session, Mapping) and message.session_id == DEFAULT_SESSION_ID:
        wire["context"] = {**context, SESSION: {**session, SESSION_ID: DEFAULT_SESSION_ID}}
    return wire


def depth(octets: bytes) -> int:
    """How deep the brackets outside strings nest, as far as `octets` is JSON."""
    # Without escapes every quote opens or closes a string, so every other piece between quotes is outside a string.
    unescaped = octets.replace(b"\\\\", b"").replace(b'\\"', b"")
    outside = b"".join(unescaped.split(b'"')[::2])
    return max(accumulate(array("b", outside.translate(_STEPS, _NO_BRACKETS))), default=0)
