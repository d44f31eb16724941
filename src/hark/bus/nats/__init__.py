"""The bus over NATS (extra `nats`): `RemoteBus(NatsCarrier(NatsOptions(...)))`. It needs a server with JetStream."""

from hark.bus.nats.carrier import NatsCarrier
from hark.bus.nats.connection import NoBroker
from hark.bus.nats.consumers import Delivery, StreamReader
from hark.bus.nats.jetstream import JetStreamError, StoredEntry, WrongRevision
from hark.bus.nats.key_value import KeyValue
from hark.bus.nats.options import NatsOptions
from hark.bus.nats.streams import TurnStreams

__all__ = [
    "Delivery",
    "JetStreamError",
    "KeyValue",
    "NatsCarrier",
    "NatsOptions",
    "NoBroker",
    "StoredEntry",
    "StreamReader",
    "TurnStreams",
    "WrongRevision",
]
