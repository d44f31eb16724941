"""What plugin authors test with."""

from hark.bus import LocalBus, WireBus
from hark.testing.assistant import Assistant, Hearing
from hark.testing.clock import FakeClock, settle
from hark.testing.playing import play

__all__ = ["Assistant", "FakeClock", "Hearing", "LocalBus", "WireBus", "play", "settle"]
