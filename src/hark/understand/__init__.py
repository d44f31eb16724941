"""From what was said to who answers it."""

from hark.understand.journal import Journal, end_lost
from hark.understand.options import Entry, Options
from hark.understand.orchestrator import Orchestrator
from hark.understand.pace import Pace
from hark.understand.store import DefaultSession
from hark.understand.worker import Worker

__all__ = ["DefaultSession", "Entry", "Journal", "Options", "Orchestrator", "Pace", "Worker", "end_lost"]
