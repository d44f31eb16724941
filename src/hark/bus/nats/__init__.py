"""The bus over NATS (extra `nats`): `RemoteBus(NatsCarrier(NatsOptions(...)))`."""

from hark.bus.nats.carrier import NatsCarrier, NoBroker
from hark.bus.nats.options import NatsOptions

__all__ = ["NatsCarrier", "NatsOptions", "NoBroker"]
