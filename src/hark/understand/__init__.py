"""From what was said to who answers it."""

from hark.understand.options import Entry, Options
from hark.understand.orchestrator import Orchestrator
from hark.understand.store import DefaultSession

__all__ = ["DefaultSession", "Entry", "Options", "Orchestrator"]
