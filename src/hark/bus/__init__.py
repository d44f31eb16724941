"""Publish, subscribe, ask and poll."""

from hark.bus.answers import Answers, ask, gather
from hark.bus.base import Bus, Listener, Subscription
from hark.bus.carrier import EVERYTHING, Carrier, Receive
from hark.bus.exchange import Exchange, Member
from hark.bus.local import LocalBus
from hark.bus.poll import Poll
from hark.bus.remote import RemoteBus
from hark.bus.wire import WireBus

__all__ = [
    "EVERYTHING",
    "Answers",
    "Bus",
    "Carrier",
    "Exchange",
    "Listener",
    "LocalBus",
    "Member",
    "Poll",
    "Receive",
    "RemoteBus",
    "Subscription",
    "WireBus",
    "ask",
    "gather",
]
