"""Which bus the services of an assistant connect to, from the settings and the command line."""

from __future__ import annotations

import ipaddress
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec

from hark import hints
from hark.app.settings import Settings
from hark.app.settings.tables import BusTable, NatsTable
from hark.app.tokens import ServiceToken
from hark.bus import RemoteBus
from hark.errors import UserError
from hark.model import Clock

if TYPE_CHECKING:
    from hark.bus.websocket import WebSocketCarrier

PATIENCE: Final = 3.0
"""Seconds in which a bus has to answer."""
_NATS: Final = ("nats://", "tls://")
_ANY_ADDRESS: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - read, not listened at
"""Where this machine finds a server that listens at all its addresses."""


class BusAddress(msgspec.Struct, frozen=True):
    """NATS where servers are named, else a websocket server: at `url` in [bus], or where `host` and `port` say."""

    bus: BusTable = BusTable()
    nats: NatsTable = NatsTable()
    state: Path | None = None
    """The state directory, in which the token of Hark's own services is."""
    on_disk: bool = True
    """Whether what people say may be kept on disk, here or at the broker."""

    @classmethod
    def of(cls, settings: Settings, url: str | None = None, state: Path | None = None) -> BusAddress:
        """The address in the settings, unless `url` is given; a `nats://` or `tls://` address is one of NATS."""
        bus, nats = settings.bus, settings.nats
        if url is not None and url.startswith(_NATS):
            nats = msgspec.structs.replace(nats, servers=(url,))
        elif url is not None:
            bus, nats = msgspec.structs.replace(bus, url=url), msgspec.structs.replace(nats, servers=())
        return cls(bus, nats, state, settings.trace.disk)

    def __str__(self) -> str:
        # Without the secrets in an address.
        return ", ".join(server.rpartition("@")[2] for server in self.nats.servers) or hints.bus_address(self.url)

    @property
    def is_nats(self) -> bool:
        """Whether the bus is a NATS broker."""
        return bool(self.nats.servers)

    @property
    def url(self) -> str:
        """Where clients find the websocket server."""
        if self.bus.url is not None:
            return self.bus.url
        host = _ANY_ADDRESS.get(self.bus.host, self.bus.host)
        scheme = "ws" if is_loopback(self.bus.host) else "wss"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.bus.port}/{self.bus.path.strip('/')}"

    @property
    def server_table(self) -> BusTable:
        """The [bus] settings of a server that is found at `url`."""
        place = urlsplit(self.url)
        if self.bus.url is None or place.hostname is None:
            return self.bus
        return msgspec.structs.replace(self.bus, host=place.hostname, port=place.port or 80, path=place.path or "/")

    async def connect(
        self, clock: Clock, *, patience: float = PATIENCE, private: bool = True, translated_for: str | None = None
    ) -> RemoteBus:
        """A bus that is connected there. Raises `UserError` when it does not answer within `patience` seconds.

        As one of Hark's own services, unless it is not `private`: then as any client. `translated_for` is the language
        of the device, for the process that translates for clients of OVOS on a bus that is not Hark's own.
        """
        # Imported only here: each needs an extra of its own.
        if self.is_nats:
            from hark.app.nats_connection import connected_to_nats

            return await connected_to_nats(self.nats, clock, within=patience, on_disk=self.on_disk)
        self.check()
        from hark.bus.websocket import BusUnavailable

        carrier = self.carrier(clock, patience, private=private)
        stock = None
        if translated_for is not None and self.bus.ovos:
            from hark.bridges.ovos.stock_bus import StockBus

            stock = StockBus(carrier, str(self))
        bus = RemoteBus(stock or carrier)
        try:
            await bus.open()
        except BusUnavailable as error:
            await bus.close()
            raise UserError(str(error)) from None
        if stock is not None and translated_for is not None:
            stock.translate(bus, clock, translated_for)
        return bus

    def check(self) -> None:
        """Raise `UserError` where it is no address, or the extra that connects to a websocket server is missing."""
        if not self.is_nats:
            check_address(self.url)
            try:
                import hark.bus.websocket  # noqa: F401
            except ImportError as error:
                raise UserError(str(error)) from None

    def carrier(self, clock: Clock, patience: float = PATIENCE, *, private: bool = True) -> WebSocketCarrier:
        """A carrier to the websocket server, not connected yet. Raises `UserError` for settings that lead nowhere."""
        from hark.bus.websocket import WebSocketCarrier

        check_address(self.url)
        token = _read(self.bus.token) if self.bus.token is not None else ""
        if not token and private and self.state is not None and is_loopback(urlsplit(self.url).hostname or ""):
            token = ServiceToken(self.state).read()  # a server on another machine has no use for it
        tls = _tls(self.bus.authority) if self.url.startswith("wss://") else None
        return WebSocketCarrier(self.url, clock, token=token, tls=tls, private=private, patience=patience)


def check_address(url: str) -> None:
    """Raise `UserError` where a websocket bus cannot be at `url`."""
    try:
        place = urlsplit(url)
        is_address = place.scheme in ("ws", "wss") and bool(place.hostname) and place.port != 0
    except ValueError:  # the port is no number
        is_address = False
    if not is_address:
        raise UserError(f"{hints.bus_address(url)!r} is not the address of a bus, such as ws://127.0.0.1:8181/core")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _read(file: str) -> str:
    try:
        return Path(file).expanduser().read_text().strip()
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise UserError(f"[bus] token: {file} cannot be read: {why}") from None


def _tls(authority: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=Path(authority).expanduser() if authority is not None else None)
    except OSError as error:  # an SSLError is one
        why = error.strerror or str(error)
        raise UserError(f"[bus] authority: {authority} is not a certificate: {why}") from None
