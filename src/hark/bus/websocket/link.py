"""One connection from a client to a websocket server."""

from __future__ import annotations

import asyncio
import logging
import ssl
from typing import TYPE_CHECKING, Final

from picows import (
    WSError,
    WSFrame,
    WSInvalidStatusError,
    WSListener,
    WSMsgType,
    WSTransport,
    WSUpgradeRequest,
    WSUpgradeResponse,
    ws_connect,
)

from hark.bus.websocket.protocol import FLUSHED, HAVE, LARGEST, LIFE, SUBPROTOCOL, Malformed, read_command

if TYPE_CHECKING:
    from hark.bus.websocket.client import WebSocketCarrier

_IDLE: Final = 30.0
_LARGEST: Final = 256 * 1_048_576
"""The server bounds what is sent; this is only a last resort."""

_SILENT: Final = logging.Logger("hark.bus.websocket.wire", logging.CRITICAL + 1)

_REFUSALS: Final = {
    401: "it needs a token, or another one: hark token add NAME, on the machine of the bus",
    403: "it does not know this machine by that name; see hosts and origins in the [bus] settings there",
    404: "its path is another one; see path in the [bus] settings there",
    503: "too many are connected",
}


class NoBus(ConnectionError):
    """There is no server, or none for us; the text says why."""

    def __init__(self, text: str, *, final: bool = False) -> None:
        super().__init__(text)
        self.final = final
        """Whether trying again would not help."""


class Link(WSListener):
    """Takes what the server sends to the carrier."""

    def __init__(self, carrier: WebSocketCarrier) -> None:
        self._carrier = carrier
        self.largest = _LARGEST
        """Bytes that a Message may have."""
        self.life = ""
        """Of the server."""
        self._why = "it went away"
        self.is_over = False
        """Whether the connection is gone, or nobody wants it any more."""

    def on_ws_connected(self, transport: WSTransport) -> None:
        """It may be too late."""
        if self.is_over:
            transport.disconnect(graceful=False)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        """A Message, the answer to a command, or a goodbye."""
        kind = frame.msg_type
        if kind == WSMsgType.TEXT:
            head, _, message = frame.get_payload_as_bytes().partition(b"\n")
            mark, _, way = head.decode().partition(" ")
            self._carrier.arrived(message, way, mark)
        elif kind == WSMsgType.BINARY:
            try:
                word, rest = read_command(frame.get_payload_as_bytes())
            except Malformed:
                return
            if word == FLUSHED:
                self._carrier.flushed(rest[0])
            elif word == HAVE:
                self._carrier.confirmed(rest[0])
        elif kind == WSMsgType.CLOSE:
            self._why = frame.get_close_reason() or "it said goodbye"
            self.is_over = True
            self._carrier.lost(transport, self._why)
            transport.disconnect(graceful=False)

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        """The connection is gone."""
        self.is_over = True
        self._carrier.lost(transport, self._why)

    def pause_writing(self) -> None:
        """The network takes no more for now."""
        self._carrier.may_write(False)

    def resume_writing(self) -> None:
        """It takes more again."""
        self._carrier.may_write(True)


async def connect(link: Link, url: str, token: str, tls: ssl.SSLContext | None) -> WSTransport:
    """Connect to a server that speaks to Hark's clients; raises `NoBus`."""
    headers = [("Sec-WebSocket-Protocol", SUBPROTOCOL)]
    if token:
        headers.append(("Authorization", f"Bearer {token}"))

    def factory(_request: WSUpgradeRequest, response: WSUpgradeResponse) -> Link:
        if response.headers.get("Sec-WebSocket-Protocol") != SUBPROTOCOL:
            raise NoBus(f"what answers at {url} is no bus of Hark", final=True)
        link.largest = int(response.headers.get(LARGEST, link.largest))
        link.life = response.headers.get(LIFE, "")
        return link

    try:
        transport, connected = await ws_connect(
            factory,
            url,
            ssl_context=tls,
            extra_headers=headers,
            enable_auto_ping=True,
            auto_ping_idle_timeout=_IDLE,
            auto_ping_reply_timeout=_IDLE,
            max_frame_size=_LARGEST,
            max_redirects=0,
            logger_name=_SILENT,
        )
    except asyncio.CancelledError:
        link.is_over = True  # it may be connected all the same, in a moment
        raise
    except WSInvalidStatusError as error:
        status = int(error.response.status) if error.response is not None else 0
        why = _REFUSALS.get(status, f"it answered with status {status}")
        raise NoBus(f"the bus at {url} does not let us in: {why}", final=status in (401, 403, 404)) from None
    except NoBus:
        raise
    except (WSError, OSError, ValueError) as error:
        raise NoBus(f"no bus at {url} ({_said(error)}); start one with: hark bus") from None
    if connected is None or link.is_over:
        raise NoBus(f"no bus at {url} (it hung up)")
    return transport


def _said(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
