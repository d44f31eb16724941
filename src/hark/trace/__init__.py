"""What happened, and why: a trace of every turn."""

from hark.trace.render import render
from hark.trace.store import TraceStore
from hark.trace.turn_trace import Step, TraceRecord, TurnTrace

__all__ = ["Step", "TraceRecord", "TraceStore", "TurnTrace", "render"]
