"""The traces of the last turns."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator

from hark.model import Clock
from hark.trace.turn_trace import TurnTrace


class TraceStore:
    """The last `size` turns in memory; `on_end` is shown each one as it ends."""

    def __init__(self, clock: Clock, size: int = 1_000, on_end: Callable[[TurnTrace], None] | None = None) -> None:
        self._clock = clock
        self._size = size
        self._on_end = on_end
        self._turns: OrderedDict[str, TurnTrace] = OrderedDict()

    def begin(self, utterance_id: str, session_id: str, utterances: tuple[str, ...]) -> TurnTrace:
        """A trace for a lifecycle that just opened."""
        trace = TurnTrace(utterance_id, session_id, utterances, self._clock.wall(), self._clock.monotonic)
        self._turns[utterance_id] = trace
        if len(self._turns) > self._size:
            self._turns.popitem(last=False)
        return trace

    def of(self, utterance_id: str | None) -> TurnTrace | None:
        """The trace of a lifecycle, so that another room can add its steps."""
        return self._turns.get(utterance_id) if utterance_id is not None else None

    def find(self, prefix: str = "") -> TurnTrace | None:
        """The turn with this `utterance_id`, else the last one whose id begins so."""
        if prefix in self._turns:
            return self._turns[prefix]
        for utterance_id in reversed(self._turns):
            if utterance_id.startswith(prefix):
                return self._turns[utterance_id]
        return None

    def ended(self, trace: TurnTrace, outcome: str) -> None:
        """Close a trace."""
        trace.end(outcome)
        if self._on_end is not None:
            self._on_end(trace)

    def __iter__(self) -> Iterator[TurnTrace]:
        return iter(self._turns.values())

    def __len__(self) -> int:
        return len(self._turns)
