"""What plugin authors test with."""

from hark.bus import LocalBus, WireBus
from hark.testing.assistant import Assistant, Hearing
from hark.testing.clock import FakeClock, settle

__all__ = ["Assistant", "FakeClock", "Hearing", "LocalBus", "WireBus", "settle"]
