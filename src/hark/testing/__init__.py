"""What plugin authors test with."""

from hark.bus import LocalBus, WireBus
from hark.testing.assistant import Assistant, Hearing
from hark.testing.clock import FakeClock, settle
from hark.testing.model_server import ModelReply, ModelServer
from hark.testing.scripts.play import play
from hark.testing.transformer import Transformed, transformed

__all__ = [
    "Assistant",
    "FakeClock",
    "Hearing",
    "LocalBus",
    "ModelReply",
    "ModelServer",
    "Transformed",
    "WireBus",
    "play",
    "settle",
    "transformed",
]
