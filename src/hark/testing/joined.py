"""Several runtimes, seen as one: what a test may ask of an assistant whose parts are in several processes."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextvars import ContextVar
from copy import copy
from typing import Any

import msgspec

from hark.bus import Carrier, RemoteBus
from hark.trace import TraceStore, TurnTrace
from hark.understand import Orchestrator
from hark.understand.turn_state import TurnOptions

_worker: ContextVar[int] = ContextVar("worker", default=0)
"""In which of several workers this is done, counted from 1; 0 anywhere else."""


class WorkerBus(RemoteBus):
    """The bus of one of several workers in one process: whatever comes of what it brings counts as done there."""

    def __init__(self, carrier: Carrier, worker: int) -> None:
        super().__init__(carrier)
        self._worker = worker

    def received(self, frame: bytes, via: str | None) -> None:
        """As `RemoteBus.received`, in the name of the worker."""
        before = _worker.set(self._worker)
        try:
            super().received(frame, via)
        finally:
            _worker.reset(before)


class SaidOnce(logging.Filter):
    """Workers that get the same Message log the same, each in its own log. Here they share one, which has it once."""

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[tuple[str, int, str], Counter[int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether no other worker has said it as often."""
        worker = _worker.get()
        if not worker:
            return True
        said = self._said.setdefault((record.name, record.levelno, record.getMessage()), Counter())
        said[worker] += 1
        return all(said[worker] > times for other, times in said.items() if other != worker)


class JoinedOrchestrators:
    """The orchestrators of two workers. What does not concern both is answered by the first."""

    def __init__(self, orchestrators: Sequence[Orchestrator]) -> None:
        self._all = orchestrators

    @property
    def open_turns(self) -> int:
        """As of `Orchestrator`."""
        return sum(one.open_turns for one in self._all)

    def adopt(self, options: TurnOptions) -> None:
        """As of `Orchestrator`."""
        for one in self._all:
            one.adopt(options)

    def serving(self, plugin_ids: Collection[str]) -> bool:
        """As of `Orchestrator`."""
        return any(one.serving(plugin_ids) for one in self._all)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._all[0], name)


class JoinedTraces:
    """The traces of several runtimes, each turn in one piece."""

    def __init__(self, stores: Mapping[str, TraceStore], second: TraceStore | None, order: Mapping[str, int]) -> None:
        self._stores = stores
        self._taken_in = [stores["understand"], *([] if second is None else [second])]
        self._order = order
        """In which what the turns are about was said to several workers."""

    def find(self, prefix: str = "") -> TurnTrace | None:
        """As of `TraceStore`; the last one is the last of whichever worker."""
        found = [trace for trace in (store.find(prefix) for store in self._taken_in) if trace is not None]
        return self._whole(max(found, key=self._began)) if found else None

    def __iter__(self) -> Iterator[TurnTrace]:
        taken_in = (trace for store in self._taken_in for trace in store)
        return (self._whole(trace) for trace in sorted(taken_in, key=self._began))

    def __len__(self) -> int:
        return sum(len(store) for store in self._taken_in)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._taken_in[0], name)

    def _began(self, trace: TurnTrace) -> tuple[float, int]:
        return trace.wall, self._order.get(trace.utterance_id, len(self._order))

    def _whole(self, trace: TurnTrace) -> TurnTrace:
        whole = copy(trace)
        whole.steps = list(trace.steps)
        for store in self._stores.values():
            part = {one.utterance_id: one for one in store}.get(trace.utterance_id)
            if part is not None and part is not trace:
                late = part.wall - trace.wall
                whole.steps += [msgspec.structs.replace(step, at=step.at + late) for step in part.steps]
        whole.steps.sort(key=lambda step: step.at)
        return whole
