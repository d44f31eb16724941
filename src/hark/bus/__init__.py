"""Publish, subscribe, ask and poll."""

from hark.bus.answers import Answers, ask, gather
from hark.bus.base import Bus, Listener, Subscription
from hark.bus.local import LocalBus
from hark.bus.poll import Poll
from hark.bus.wire import WireBus

__all__ = ["Answers", "Bus", "Listener", "LocalBus", "Poll", "Subscription", "WireBus", "ask", "gather"]
