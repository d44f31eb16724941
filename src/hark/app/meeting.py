"""Where the rooms of an assistant meet: at a bus of our own, or at NATS."""

from __future__ import annotations

from typing import Final

import msgspec

from hark.app.settings import Settings
from hark.app.settings.bus_tables import BusTable, NatsTable
from hark.app.trouble import Trouble
from hark.bus import RemoteBus
from hark.model import Clock

PATIENCE: Final = 10.0
"""Seconds in which a bus has to be there for those who live on it."""
_NATS: Final = ("nats://", "tls://")


class Meeting(msgspec.Struct, frozen=True):
    """At NATS where servers are named, else at the bus."""

    bus: BusTable
    nats: NatsTable

    def __str__(self) -> str:
        # Without what is secret in an address.
        return ", ".join(server.rpartition("@")[2] for server in self.nats.servers) or self.bus.url

    @property
    def is_nats(self) -> bool:
        """Whether it is a broker that others look after."""
        return bool(self.nats.servers)

    async def connected(self, clock: Clock, patience: float = PATIENCE) -> RemoteBus:
        """A way there; raises `Trouble` when there is none within `patience` seconds."""
        # Only here: each needs an extra of its own.
        if self.is_nats:
            from hark.app.connecting_nats import connected_to_nats

            return await connected_to_nats(self.nats, clock, within=patience)
        self.check()
        from hark.app.connecting import connected

        return await connected(self.bus, clock, patience)

    def check(self) -> None:
        """Raises `Trouble` where it is a bus of our own, and what it needs is not installed."""
        if not self.is_nats:
            try:
                import hark.app.connecting  # noqa: F401
            except ImportError as error:
                raise Trouble(str(error)) from None


def meeting_of(settings: Settings, url: str | None) -> Meeting:
    """Where `url` says, which goes before the settings; a `nats://` address is one of NATS."""
    bus, nats = settings.bus, settings.nats
    if url is None:
        return Meeting(bus, nats)
    if url.startswith(_NATS):
        return Meeting(bus, msgspec.structs.replace(nats, servers=(url,)))
    return Meeting(msgspec.structs.replace(bus, url=url), msgspec.structs.replace(nats, servers=()))
