"""Which program has a port that Hark wanted, and what to do about it."""

from __future__ import annotations

import socket
from typing import Final

_WITHIN: Final = 1.0
"""Seconds in which a bus on this machine answers."""
_SUBPROTOCOL: Final = "hark.2"
_ELSE: Final = "choose another with port in [bus], or turn the server off with serve = false in [bus]"


def remedy_for_taken(host: str, port: int, path: str) -> str:
    """What to do about a port that another program has, which is asked to become a websocket, for a second at most."""
    answer = _answer(host, port, path)
    if not answer.startswith("http/1.1 101"):
        return f"stop the process that has the port, {_ELSE}"
    if f"sec-websocket-protocol: {_SUBPROTOCOL}" in answer:
        return f"another Hark assistant or bus has the port: stop it, {_ELSE}"
    url = f"ws://{host}:{port}{path}"
    return (
        f"a message bus that is not Hark's has the port, such as ovos-messagebus: stop it, join it with "
        f'url = "{url}" in [bus], {_ELSE}'
    )


def _answer(host: str, port: int, path: str) -> str:
    request = (
        f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: aGFyayBkb2N0b3IgYXNrcw==\r\n"
        f"Sec-WebSocket-Protocol: {_SUBPROTOCOL}\r\n\r\n"
    )
    try:
        with socket.create_connection((host, port), _WITHIN) as connection:
            connection.settimeout(_WITHIN)
            connection.sendall(request.encode())
            return connection.recv(4_096).decode("latin-1").lower()
    except OSError:
        return ""
