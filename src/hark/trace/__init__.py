"""What happened in each turn, and why."""

from hark.trace.render import render
from hark.trace.store import SliceStore, TraceStore, join_slices
from hark.trace.turn_trace import TraceRecord, TraceStep, TurnTrace, summarize

__all__ = ["SliceStore", "TraceRecord", "TraceStep", "TraceStore", "TurnTrace", "join_slices", "render", "summarize"]
