"""The way from one process of an assistant to the others: their bus, and who is on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hark.app.bus_address import PATIENCE, BusAddress
from hark.app.processes.claims import BusClaim, BusMembers, Members, ProcessInfo, ServiceClaim
from hark.bus import RemoteBus
from hark.model import Clock

if TYPE_CHECKING:  # only where the processes meet at NATS
    from hark.app.processes.service_keys import ServiceKeys
    from hark.bus.nats import TurnStreams


class ProcessConnection:
    """`await connect(...)`, and `await close()` at the end."""

    def __init__(self, bus: RemoteBus, streams: TurnStreams | None = None, keys: ServiceKeys | None = None) -> None:
        self.bus = bus
        self.streams = streams
        """Turns at the broker; none on a websocket bus."""
        self._keys = keys
        self.members: Members = keys if keys is not None else BusMembers(bus)

    def claim(
        self, info: ProcessInfo, clock: Clock, lost: Callable[[ProcessInfo], None], worker: str = ""
    ) -> ServiceClaim:
        """What this process claims its services with."""
        if self._keys is None:
            return BusClaim(self.bus, info)
        from hark.app.processes.service_keys import KeyClaim

        return KeyClaim(self._keys, info, worker, clock, lost)

    async def close(self) -> None:
        await self.bus.close()


async def connect(
    address: BusAddress, clock: Clock, patience: float = PATIENCE, translated_for: str | None = None
) -> ProcessConnection:
    """Go where the processes meet; raises `UserError` when that is not there within `patience` seconds.

    `translated_for`: see `BusAddress.connect`.
    """
    bus = await address.connect(clock, patience=patience, translated_for=translated_for)
    if not address.is_nats:
        return ProcessConnection(bus)
    # Only here: it needs an extra.
    from hark.app.processes.service_keys import TTL, ServiceKeys
    from hark.bus.nats import NatsCarrier

    if not isinstance(bus.carrier, NatsCarrier):
        return ProcessConnection(bus)
    streams = bus.carrier.streams
    bucket = streams.bucket("services", TTL)
    await bucket.ensure()
    return ProcessConnection(bus, streams, ServiceKeys(bucket))
