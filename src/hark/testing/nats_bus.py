"""A bus over a real NATS server."""

from __future__ import annotations

from itertools import count
from typing import ClassVar

from hark.bus import RemoteBus
from hark.bus.nats import NatsCarrier, NatsOptions
from hark.testing.quiet import QuietCarrier

_prefixes = count(1)


class NatsBus(RemoteBus):
    """Made without arguments, like `LocalBus`, once `url` says where the server is. `settle` waits for it."""

    url: ClassVar[str] = ""
    """Where the server is."""

    def __init__(self) -> None:
        options = NatsOptions((self.url,), prefix=f"bus{next(_prefixes)}.")  # no other bus receives it
        super().__init__(QuietCarrier(NatsCarrier(options)))
