"""What happened, and why: a trace of every turn."""

from hark.trace.render import render
from hark.trace.store import SliceStore, TraceStore, join_slices
from hark.trace.turn_trace import TraceRecord, TraceStep, TurnTrace

__all__ = ["SliceStore", "TraceStep", "TraceRecord", "TraceStore", "TurnTrace", "join_slices", "render"]
