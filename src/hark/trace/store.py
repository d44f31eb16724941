"""The traces of the last turns."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from hark.model import Clock
from hark.trace.turn_trace import TraceRecord, TurnTrace


class SliceTrace(TurnTrace):
    """What one process did in a turn that another has taken in."""

    __slots__ = ("_grown", "_shown")

    def __init__(
        self,
        utterance_id: str,
        wall: float,
        now: Callable[[], float],
        grown: Callable[[TurnTrace], None] | None = None,
    ) -> None:
        super().__init__(utterance_id, "", (), wall, now)
        self._grown = grown
        self._shown = False
        """Whether somebody knows that there is more to write down."""

    def step(self, *step: Any, **more: Any) -> None:
        """Note one step."""
        super().step(*step, **more)
        if self._grown is not None and not self._shown:
            self._shown = True
            self._grown(self)

    def record(self) -> TraceRecord:
        """A copy that can be written down."""
        self._shown = False  # before the copy is made: a step that comes meanwhile is told anew
        return super().record()


def join_slices(records: Iterable[TraceRecord]) -> TraceRecord | None:
    """One story out of the parts that several processes have of it, its steps in the order in which they happened.

    Order goes by the wall clock: between machines, it is as good as their clocks agree.
    """
    parts = sorted(records, key=_knows_least)
    if not parts:
        return None
    main = parts[0]
    steps = [
        msgspec.structs.replace(step, at=part.wall + step.at - main.wall) if part is not main else step
        for part in parts
        if part.utterance_id == main.utterance_id
        for step in part.steps
    ]
    return msgspec.structs.replace(main, steps=sorted(steps, key=lambda step: step.at))


def _knows_least(record: TraceRecord) -> tuple[bool, float]:
    """Whoever took the turn in comes first; it alone knows what was said."""
    return not record.session_id, record.wall


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
        self._keep(trace)
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

    def _keep(self, trace: TurnTrace) -> None:
        self._turns[trace.utterance_id] = trace
        if len(self._turns) > self._size:
            self._turns.popitem(last=False)

    def __iter__(self) -> Iterator[TurnTrace]:
        return iter(self._turns.values())

    def __len__(self) -> int:
        return len(self._turns)


class SliceStore(TraceStore):
    """What happened in one process to turns that were taken in by another: a slice of each, under the same id.

    `on_end` is shown a slice when something was added to it, and again when more was added after it was written down.
    """

    def of(self, utterance_id: str | None) -> TurnTrace | None:
        """The slice of a turn; there is one as soon as somebody asks."""
        if utterance_id is None:
            return None
        known = self._turns.get(utterance_id)
        if known is None:
            known = SliceTrace(utterance_id, self._clock.wall(), self._clock.monotonic, self._on_end)
            self._keep(known)
        return known
