"""Websocket frames as a server sends them (RFC 6455 §5.2): made once, sent to everybody."""

from __future__ import annotations

from typing import Final

_FINAL_TEXT: Final = 0x81
_FINAL_BINARY: Final = 0x82


def text_frame(payload: bytes) -> bytes:
    """A text frame, whole and unmasked."""
    return _frame(_FINAL_TEXT, payload)


def binary_frame(payload: bytes) -> bytes:
    """A binary frame, whole and unmasked."""
    return _frame(_FINAL_BINARY, payload)


def _frame(first: int, payload: bytes) -> bytes:
    size = len(payload)
    if size < 126:
        return bytes((first, size)) + payload
    if size < 65_536:
        return bytes((first, 126)) + size.to_bytes(2) + payload
    return bytes((first, 127)) + size.to_bytes(8) + payload


class Parcel:
    """A Message on its way through the server, in each form somebody wants; each is made once."""

    __slots__ = ("_forms", "again", "frame", "mark", "topic")

    def __init__(self, topic: str, frame: bytes, mark: str = "", again: bool = False) -> None:
        self.topic = topic
        self.frame = frame
        self.mark = mark
        self.again = again
        """Whether a server before this one may have handed it on."""
        self._forms: dict[str | None, bytes] = {}

    def form(self, way: str | None) -> bytes:
        """The websocket frame for Hark's clients, or, without a way, for everybody else's."""
        made = self._forms.get(way)
        if made is None:
            body = self.frame if way is None else b"%b %b\n%b" % (self.mark.encode(), way.encode(), self.frame)
            made = self._forms[way] = text_frame(body)
        return made
