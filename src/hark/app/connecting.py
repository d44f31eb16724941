"""The way to the bus as the settings have it. Needs the extra `websocket`."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Final

from hark.app.settings.bus_tables import BusTable
from hark.app.trouble import Trouble
from hark.bus import RemoteBus
from hark.bus.websocket import NoBus, WebSocketCarrier
from hark.model import Clock


class ConnectionTrouble(Trouble):
    """The settings do not lead to a bus; the text says what to do."""


PATIENCE: Final = 10.0
"""Seconds in which a bus has to be there."""


async def connected(table: BusTable, clock: Clock, patience: float = PATIENCE) -> RemoteBus:
    """The bus that [bus] names; raises `ConnectionTrouble`."""
    bus = RemoteBus(carrier(table, clock, patience))
    try:
        await bus.open()
    except NoBus as error:
        await bus.close()
        raise ConnectionTrouble(str(error)) from None
    return bus


def carrier(table: BusTable, clock: Clock, patience: float = PATIENCE) -> WebSocketCarrier:
    """A way to the bus that [bus] names; raises `ConnectionTrouble`. Opening it raises `NoBus`."""
    if not table.url.startswith(("ws://", "wss://")):
        raise ConnectionTrouble(f"[bus] url: {table.url!r} is no address such as ws://127.0.0.1:8181/core")
    token = _read(table.token) if table.token is not None else ""
    tls = _tls(table.authority) if table.url.startswith("wss://") else None
    return WebSocketCarrier(table.url, clock, token=token, tls=tls, patience=patience)


def _read(file: str) -> str:
    try:
        return Path(file).expanduser().read_text().strip()
    except (OSError, UnicodeError) as error:
        said = getattr(error, "strerror", None) or "it is not text"
        raise ConnectionTrouble(f"[bus] token: {file} cannot be read: {said}") from None


def _tls(authority: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=Path(authority).expanduser() if authority is not None else None)
    except OSError as error:  # an SSLError is one
        said = error.strerror or str(error)
        raise ConnectionTrouble(f"[bus] authority: {authority} is no certificate: {said}") from None
