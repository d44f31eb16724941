"""What happened, and why: a trace of every turn."""

from hark.trace.render import render
from hark.trace.slices import joined
from hark.trace.store import SliceStore, TraceStore
from hark.trace.turn_trace import Step, TraceRecord, TurnTrace

__all__ = ["SliceStore", "Step", "TraceRecord", "TraceStore", "TurnTrace", "joined", "render"]
