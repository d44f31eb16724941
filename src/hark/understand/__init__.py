"""From what was said to who answers it."""

from hark.understand.orchestrator import Orchestrator
from hark.understand.turn_source import Journal, LocalTurns, TurnSource, end_lost
from hark.understand.turn_state import DefaultSession, PipelineEntry, TurnOptions

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
