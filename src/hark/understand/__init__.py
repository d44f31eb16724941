"""From what was said to who answers it."""

from hark.understand.default_session import DefaultSession
from hark.understand.options import PipelineEntry, TurnOptions
from hark.understand.orchestrator import Orchestrator
from hark.understand.turn_source import Journal, LocalTurns, TurnSource, end_lost

__all__ = [
    "DefaultSession",
    "Journal",
    "LocalTurns",
    "Orchestrator",
    "PipelineEntry",
    "TurnOptions",
    "TurnSource",
    "end_lost",
]
