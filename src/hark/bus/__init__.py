"""Publish, subscribe, ask and poll."""

from hark.bus.backoff import Backoff
from hark.bus.exchange import Exchange, Subscriber
from hark.bus.local import LocalBus, WireBus
from hark.bus.protocols import EVERYTHING, Bus, Carrier, Listener, Receive, Subscription
from hark.bus.remote import RemoteBus
from hark.bus.requests import Answers, Poll, ask, gather

__all__ = [
    "EVERYTHING",
    "Answers",
    "Backoff",
    "Bus",
    "Carrier",
    "Exchange",
    "Listener",
    "LocalBus",
    "Poll",
    "Receive",
    "RemoteBus",
    "Subscriber",
    "Subscription",
    "WireBus",
    "ask",
    "gather",
]
