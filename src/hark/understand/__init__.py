"""From what was said to who answers it."""

from hark.understand.options import Entry, Options
from hark.understand.orchestrator import Orchestrator
from hark.understand.store import DefaultSession
from hark.understand.turn_source import Journal, LocalTurns, TurnSource, end_lost

__all__ = ["DefaultSession", "Entry", "Journal", "LocalTurns", "Options", "Orchestrator", "TurnSource", "end_lost"]
