"""The way from one process of an assistant to the others: their bus, and who is on it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hark.app.bus_address import PATIENCE, BusAddress
from hark.app.processes.claims import BusClaim, BusMembers, Members, ProcessInfo, ServiceClaim
from hark.bus import RemoteBus
from hark.model import Clock

if TYPE_CHECKING:  # only where the processes meet at NATS
    from nats.aio.client import Client

    from hark.app.processes.service_keys import ServiceKeys


class ProcessConnection:
    """`await connect(...)`, and `await close()` at the end."""

    def __init__(self, bus: RemoteBus, client: Client | None = None, keys: ServiceKeys | None = None) -> None:
        self.bus = bus
        self.client = client
        """The client of NATS by which JetStream is used; none on a websocket bus."""
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
        if self.client is not None:
            with suppress(Exception):  # it may be in the middle of a reconnect
                await self.client.close()


async def connect(address: BusAddress, clock: Clock, patience: float = PATIENCE) -> ProcessConnection:
    """Go where the processes meet; raises `Trouble` when that is not there within `patience` seconds."""
    bus = await address.connect(clock, patience=patience)
    if not address.is_nats:
        return ProcessConnection(bus)
    # Only here: it needs an extra.
    from hark.app.connecting_nats import jetstream_client
    from hark.app.processes.service_keys import ServiceKeys

    client: Any = None
    try:
        client = await jetstream_client(address.nats)
        return ProcessConnection(bus, client, await ServiceKeys.open(client, address.nats.prefix))
    except BaseException:
        await ProcessConnection(bus, client).close()
        raise
