"""Joins what the listener did to the trace of the turn that follows."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from hark.bus import Bus
from hark.hear.recording import Capture
from hark.model import Message
from hark.spec import topics
from hark.spec.names import CAPTURE_ID
from hark.trace import TraceStore, TurnTrace

_MANY: Final = 64
_TELLING: Final = (
    topics.INTENT_MATCHED,
    topics.INTENT_UNMATCHED,
    topics.UTTERANCE_CANCELLED,
    topics.UTTERANCE_HANDLED,
)
"""The first Messages that say which turn a command has become."""


class TraceLink:
    """Joins the story of each command to the one of its turn. One that became no turn has a story of its own."""

    def __init__(self, bus: Bus, traces: TraceStore) -> None:
        self._traces = traces
        self._untold: OrderedDict[str, TurnTrace] = OrderedDict()
        """The stories alone: a command holds all its sound."""
        self._subscription = bus.on(_TELLING, self._saw, name="hear: traces")

    def close(self) -> None:
        """Tell nothing more."""
        self._subscription.close()

    def told(self, capture: Capture, outcome: Message) -> None:
        """A command has its outcome, which is about to be sent."""
        if outcome.type == topics.UTTERANCE_HANDLE:
            self.expect(capture)
        else:
            cancelled = outcome.type == topics.UTTERANCE_CANCELLED
            self.alone(capture, "cancelled" if cancelled else "not understood")

    def expect(self, capture: Capture) -> None:
        """A command is about to become a turn."""
        self._untold[capture.id] = capture.trace
        if len(self._untold) > _MANY:
            self._untold.popitem(last=False)

    def alone(self, capture: Capture, outcome: str) -> None:
        """A command has come to nothing."""
        trace = self._traces.begin(capture.id, capture.session_id, ())
        trace.follows(capture.trace)
        self._traces.ended(trace, outcome)

    def _saw(self, message: Message) -> None:
        utterance_id = message.utterance_id
        capture_id = message.context.get(CAPTURE_ID)
        if utterance_id is None or not isinstance(capture_id, str):
            return
        story = self._untold.pop(capture_id, None)
        if story is not None:
            trace = self._traces.of(utterance_id)
            if trace is None:  # the turn is another process's: here is this one's part of it
                trace = self._traces.begin(utterance_id, story.session_id, ())
            trace.follows(story)
