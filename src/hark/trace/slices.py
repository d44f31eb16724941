"""Traces of which each process has a part, and how they are joined."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

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


def joined(records: Iterable[TraceRecord]) -> TraceRecord | None:
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
