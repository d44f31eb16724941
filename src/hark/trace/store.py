"""The traces of the last turns, and the slices that several processes have of one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from hark.model import Clock
from hark.trace.turn_trace import TraceRecord, TurnTrace


class TraceStore:
    """The traces of the last `size` turns, of at most `most_bytes` together and `max_age` seconds old.

    `on_end` is called with each one as it ends.
    """

    def __init__(
        self,
        clock: Clock,
        size: int = 1_000,
        on_end: Callable[[TurnTrace], None] | None = None,
        *,
        most_bytes: int = 16_777_216,
        max_age: float = 30 * 86_400.0,
    ) -> None:
        self._clock = clock
        self._size = size
        self._on_end = on_end
        self._most_bytes = most_bytes
        self._max_age = max_age
        self._turns: OrderedDict[str, TurnTrace] = OrderedDict()
        self._weights: dict[str, int] = {}
        """The bytes of each trace that has ended, as they were then."""
        self._bytes = 0

    def begin(self, utterance_id: str, session_id: str, utterances: tuple[str, ...]) -> TurnTrace:
        """Start the trace of a turn."""
        trace = TurnTrace(utterance_id, session_id, utterances, self._clock.wall(), self._clock.monotonic)
        self._keep(trace)
        return trace

    def of(self, utterance_id: str | None) -> TurnTrace | None:
        """The trace of a turn, so that another service can add its steps."""
        return self._turns.get(utterance_id) if utterance_id is not None else None

    def find(self, prefix: str = "") -> TurnTrace | None:
        """The turn with this `utterance_id`, else the last one whose id begins with it."""
        if prefix in self._turns:
            return self._turns[prefix]
        for utterance_id in reversed(self._turns):
            if utterance_id.startswith(prefix):
                return self._turns[utterance_id]
        return None

    def ended(self, trace: TurnTrace, outcome: str) -> None:
        """End a trace."""
        trace.end(outcome)
        known = trace.utterance_id
        if trace.keep == "none":
            if known in self._turns:
                self._drop(known)
            return
        if self._on_end is not None:
            self._on_end(trace)
        if known in self._turns:
            weight = trace.weight()
            self._bytes += weight - self._weights.get(known, 0)
            self._weights[known] = weight
            while self._bytes > self._most_bytes and len(self._turns) > 1:
                self._drop(next(iter(self._turns)))

    def forget(self, is_meant: Callable[[TurnTrace], bool]) -> list[str]:
        """Drop the traces of turns that are meant; their ids."""
        dropped = [utterance_id for utterance_id, trace in self._turns.items() if is_meant(trace)]
        for utterance_id in dropped:
            self._drop(utterance_id)
        return dropped

    def _keep(self, trace: TurnTrace) -> None:
        turns = self._turns
        turns[trace.utterance_id] = trace
        if len(turns) > self._size:
            self._drop(next(iter(turns)))
        oldest = next(iter(turns.values()))
        if trace.wall - oldest.wall > self._max_age:
            self._drop(oldest.utterance_id)

    def _drop(self, utterance_id: str) -> None:
        del self._turns[utterance_id]
        self._bytes -= self._weights.pop(utterance_id, 0)

    def __iter__(self) -> Iterator[TurnTrace]:
        return iter(self._turns.values())

    def __len__(self) -> int:
        return len(self._turns)


class SliceStore(TraceStore):
    """The slices of one process, for turns that another process takes in: one for each turn, under the same id.

    `on_end` is called when a slice has got a step, and again when it got more after it was recorded.
    """

    def of(self, utterance_id: str | None) -> TurnTrace | None:
        """The slice of a turn, created on first use."""
        if utterance_id is None:
            return None
        known = self._turns.get(utterance_id)
        if known is None:
            known = SliceTrace(utterance_id, self._clock.wall(), self._clock.monotonic, self._on_end)
            self._keep(known)
        return known


class SliceTrace(TurnTrace):
    """The steps of one process in a turn that another process took in."""

    __slots__ = ("_on_growth", "_reported")

    def __init__(
        self,
        utterance_id: str,
        wall: float,
        now: Callable[[], float],
        on_growth: Callable[[TurnTrace], None] | None = None,
    ) -> None:
        super().__init__(utterance_id, "", (), wall, now)
        self._on_growth = on_growth
        self._reported = False
        """Whether `on_growth` was called since the last `record`."""

    def step(self, *step: Any, **more: Any) -> None:
        super().step(*step, **more)
        if self._on_growth is not None and not self._reported and self.keep != "none":
            self._reported = True
            self._on_growth(self)

    def record(self) -> TraceRecord:
        self._reported = False  # before the copy is made: a step that comes meanwhile is reported again
        return super().record()


def join_slices(records: Iterable[TraceRecord]) -> TraceRecord | None:
    """One trace from the slices that several processes have of a turn, its steps in order of time.

    Times are compared by wall clock: between machines the order is as good as their clocks agree.
    """
    slices = sorted(records, key=_main_first)
    if not slices:
        return None
    main = slices[0]
    steps = [
        msgspec.structs.replace(step, at=part.wall + step.at - main.wall) if part is not main else step
        for part in slices
        if part.utterance_id == main.utterance_id
        for step in part.steps
    ]
    return msgspec.structs.replace(main, steps=sorted(steps, key=lambda step: step.at))


def _main_first(record: TraceRecord) -> tuple[bool, float]:
    """The process that took the turn in comes first: only its slice has the session and the utterances."""
    return not record.session_id, record.wall
