"""Messages that come in several frames."""

from __future__ import annotations

from picows import WSCloseCode, WSFrame, WSMsgType, WSProtocolError


class Parts:
    """Puts the frames of a Message together. Raises `WSProtocolError` where the protocol is not kept to."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._bytes = bytearray()
        self._kind: WSMsgType | None = None
        """Of the Message that is not complete yet, if there is one."""

    def whole(self, frame: WSFrame) -> tuple[bytes, WSMsgType] | None:
        """The Message that a frame completes, and its kind."""
        kind = frame.msg_type
        if frame.rsv1 or frame.rsv2 or frame.rsv3:
            raise WSProtocolError(WSCloseCode.PROTOCOL_ERROR, "an extension that was not agreed on")
        if (kind == WSMsgType.CONTINUATION) != (self._kind is not None):
            raise WSProtocolError(WSCloseCode.PROTOCOL_ERROR, "a message in the middle of another, or the end of none")
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
