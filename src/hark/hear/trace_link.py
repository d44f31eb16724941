"""Joins what the listener did to the trace of the turn that follows."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from hark.hear.recording import Capture
from hark.model import Message
from hark.spec import topics
from hark.spec.names import CAPTURE_ID
from hark.trace import TraceStore, TurnTrace

_MOST: Final = 64

TURN_TOPICS: Final = (
    topics.INTENT_MATCHED,
    topics.INTENT_UNMATCHED,
    topics.UTTERANCE_CANCELLED,
    topics.UTTERANCE_HANDLED,
)
"""The first Messages that say which turn a command has become."""


class TraceLink:
    """A command that became no turn has a trace of its own."""

    def __init__(self, traces: TraceStore) -> None:
        self._traces = traces
        self._waiting: OrderedDict[str, TurnTrace] = OrderedDict()
        """Traces of commands whose turn is not known yet. Not the captures: those hold all their sound."""

    def outcome(self, capture: Capture, message: Message) -> None:
        """Take note of a command's outcome, which is about to be emitted."""
        if message.type == topics.UTTERANCE_HANDLE:
            self._waiting[capture.id] = capture.trace
            if len(self._waiting) > _MOST:
                self._waiting.popitem(last=False)
        else:
            cancelled = message.type == topics.UTTERANCE_CANCELLED
            self.no_turn(capture, "cancelled" if cancelled else "not understood")

    def no_turn(self, capture: Capture, outcome: str) -> None:
        """Store the trace of a command that becomes no turn."""
        trace = self._traces.begin(capture.id, capture.session_id, ())
        trace.follows(capture.trace)
        self._traces.ended(trace, outcome)

    def turn_message(self, message: Message) -> None:
        """Join the trace of the command that a Message on one of `TURN_TOPICS` belongs to."""
        utterance_id = message.utterance_id
        capture_id = message.context.get(CAPTURE_ID)
        if utterance_id is None or not isinstance(capture_id, str):
            return
        recorded = self._waiting.pop(capture_id, None)
        if recorded is not None:
            trace = self._traces.of(utterance_id)
            if trace is None:  # another process runs the turn: this is what happened of it here
                trace = self._traces.begin(utterance_id, recorded.session_id, ())
            trace.follows(recorded)
