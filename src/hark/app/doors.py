"""A bus server as the settings have it. Needs the extra `websocket`."""

from __future__ import annotations

import errno
import ssl
from pathlib import Path
from typing import Final

from hark.app.settings.bus_tables import BusTable
from hark.app.state.guest_file import GuestFile
from hark.app.tokens import TokenFile
from hark.app.trouble import Trouble
from hark.bus.websocket import Door, Key, Limits, NotClosed, Rights, WebSocketServer
from hark.bus.websocket.door import is_loopback
from hark.model import Clock
from hark.spec import topics

_SHARED: Final = (
    (topics.UTTERANCE_HANDLE, "understand"),
    (topics.UTTERANCE_SPEAK, "speak"),
    (topics.PRESENCE, "speak"),
)
"""What the rooms take as groups. They may be there before the bus, when it was killed: what is sent waits for them."""


class BusTrouble(Trouble):
    """The bus cannot be run like this; the text says what to do."""


class TokenKeys:
    """The tokens of a file as keys to a door."""

    def __init__(self, file: TokenFile) -> None:
        self._file = file

    def find(self, token: str) -> Key | None:
        """As promised by `Keys`."""
        found = self._file.find(token)
        return _key(found.name, found.sha256, found.emit, found.receive) if found is not None else None

    def holds(self, key: Key) -> bool:
        """As promised by `Keys`."""
        return any(_key(t.name, t.sha256, t.emit, t.receive) == key for t in self._file.current())


def _key(name: str, mark: str, emit: tuple[str, ...] | None, receive: tuple[str, ...] | None) -> Key:
    return Key(name, Rights(emit, receive), mark)


def doors(table: BusTable, tokens: TokenFile) -> list[Door]:
    """Where to listen, and to whom; raises `BusTrouble`."""
    found = [_door(table, tokens, table.host, table.port)]
    if table.remote_host is not None:
        found.append(_door(table, tokens, table.remote_host, table.remote_port))
    return found


def limits(table: BusTable) -> Limits:
    """How much one client may take."""
    return Limits(
        message=table.largest_message,
        backlog=table.backlog,
        backlogs=table.backlogs,
        connections=table.connections,
        rate=table.rate,
        burst=table.burst,
        handshake=table.handshake,
    )


async def listen(
    table: BusTable, tokens: TokenFile, clock: Clock, state: Path | None = None
) -> tuple[WebSocketServer, list[str]]:
    """A server that listens, and its addresses; raises `BusTrouble`. It notes in `state` who is connected."""
    server = WebSocketServer(clock, limits(table), GuestFile(state, table.port) if state is not None else None)
    for topic, group in _SHARED:
        server.relay.exchange.expect(topic, group)
    addresses = []
    for door in doors(table, tokens):
        try:
            addresses.append(await server.listen(door))
        except (OSError, NotClosed) as error:
            await server.close()
            raise BusTrouble(_reason(door, error)) from None
    return server, addresses


def _door(table: BusTable, tokens: TokenFile, host: str, port: int) -> Door:
    local = is_loopback(host)
    keys = TokenKeys(tokens) if tokens.read() else None
    tls = None
    if not local:
        where = f"{host} can be reached from other machines"
        if table.certificate is None or table.key is None:
            raise BusTrouble(f"{where}, so it needs TLS: set certificate and key in [bus] (docs/bus.md shows how)")
        if keys is None:
            raise BusTrouble(f"{where}, so clients need tokens, and there are none: hark token add NAME")
        tls = _tls(Path(table.certificate).expanduser(), Path(table.key).expanduser())
    elif table.ask_everybody and keys is None:
        raise BusTrouble("ask_everybody is set in [bus], and there are no tokens: hark token add NAME")
    return Door(
        host,
        port,
        path=table.path,
        tls=tls,
        keys=keys,
        trusting=not table.ask_everybody,
        hosts=table.hosts,
        origins=table.origins,
    )


def _tls(certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
    except OSError as error:  # an SSLError is one
        said = error.strerror or str(error)
        raise BusTrouble(f"{certificate} and {key} are no certificate with its key: {said}") from None
    return context


def _reason(door: Door, error: Exception) -> str:
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        return (
            f"port {door.port} of {door.host} is taken: a bus may be running already; "
            "choose another with --port, or port in [bus]"
        )
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"the bus cannot listen at {door.host}, port {door.port}: {said}"
