"""Few-shot accuracy: what every engine answers, and what that comes to at its operating points."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from intents.engines import KINDS
from intents.fewshot import Row, rehearse, teach, third
from intents.jobs import Jobs
from intents.scores import F1, Judged, Point, Spread, accuracy, best_floor, claims, curve, floor_at, right_at, slot_f1
from intents.sources import source

DATA_SETS: Final = ("snips", "clinc150", "house")
LARGE: Final = 300
"""Of more sentences than this a slow engine is asked a third."""
T = TypeVar("T")
SHIPPED: Final = "shipped default"
TRAINED: Final = "from training data"
FREE: Final = "none"


def asked_of(engine: str, rows: list[T]) -> list[T]:
    """Those of the rows that an engine is asked."""
    return third(rows) if KINDS[engine].third and len(rows) > LARGE else rows


class Answers(NamedTuple):
    """What one engine, taught once, said to the sentences of a test and to sentences out of scope."""

    rows: list[Row]
    known: list[Judged]
    foreign: list[Judged]
    slots: list[dict[str, str]]
    """Of `known`."""
    nanoseconds: Sequence[int] = ()
    """Of both."""

    def f1(self, floor: float) -> float:
        """Slots found in the test; what was declined has none."""
        total = F1()
        for row, judged, slots in zip(self.rows, self.known, self.slots, strict=True):
            claimed = judged.intent is not None and judged.score >= floor
            total += slot_f1(row.slots, slots.items() if claimed else ())
        return total.value

    def only(self, engine: str) -> Answers:
        """What was said to the sentences `engine` is asked."""
        return Answers(
            asked_of(engine, self.rows),
            asked_of(engine, self.known),
            asked_of(engine, self.foreign),
            asked_of(engine, self.slots),
        )


class Seed(NamedTuple):
    """All answers of one engine for one seed of one data set."""

    shipped: Answers
    free: Answers
    """The same as `shipped` for an engine without a floor of its own."""
    floor: float
    """What the training samples suggest. Hark ignores it: it is measured as it ships."""

    @property
    def points(self) -> list[Point]:
        """The trade-off of accuracy against false claims."""
        return curve(self.free.known, self.free.foreign)


class Operating(NamedTuple):
    """One row of the table: an engine at one floor on one data set."""

    engine: str
    point: str
    right: Spread
    false: Spread
    f1: Spread | None
    hark: Spread | None
    """Hark's accuracy at the same false claims on the same sentences, seed by seed."""
    hark_f1: Spread | None
    microseconds: float
    """Median over all sentences and seeds."""
    seeds: int
    sentences: int


class Study:
    """Asks the engines about one data set."""

    def __init__(self, jobs: Jobs, data: Path, name: str, note: Callable[[str], None]) -> None:
        self.name = name
        self._jobs, self._note = jobs, note
        self._source = source(name, data)

    def seed(self, engine: str, seed: int) -> Seed:
        """Every answer of one engine for one draw of samples."""
        self._note(f"{self.name}: {engine}, seed {seed}")
        drawn, test, foreign = self._source.task(seed)
        corpus = teach(drawn).to_json()
        test, foreign = asked_of(engine, test), asked_of(engine, foreign)
        answers = self._ask(engine, corpus, test, foreign, free=True)
        shipped = self._ask(engine, corpus, test, foreign, free=False) if KINDS[engine].ours else answers
        if not KINDS[engine].scored:
            return Seed(shipped, answers, 0.0)
        practice = rehearse(drawn, seed)
        practised = self._ask(engine, practice.corpus.to_json(), practice.known, practice.foreign, free=True)
        return Seed(shipped, answers, best_floor(practised.known, practised.foreign))

    def _ask(
        self, engine: str, corpus: dict[str, Any], known: Sequence[Row], foreign: Sequence[Row], free: bool
    ) -> Answers:
        questions = [row.text for row in (*known, *foreign)]
        job = {"kind": "ask", "engine": engine, "free": free, "corpus": corpus, "questions": questions}
        result = self._jobs.run(job, keep=True)
        answered = result["answers"]
        rows = [*known, *foreign]
        judged = [Judged(row.intent, said[0], said[1]) for row, said in zip(rows, answered, strict=True)]
        # A row of the training data is out of scope here although it has an intent of its own.
        outside = [Judged(None, judgement.intent, judgement.score) for judgement in judged[len(known) :]]
        slots = [said[2] for said in answered[: len(known)]]
        return Answers(list(known), judged[: len(known)], outside, slots, [said[3] for said in answered])


def operating_points(engine: str, seeds: Sequence[Seed]) -> list[tuple[str, list[float]]]:
    """Names and floors, seed by seed: what ships, what the training samples suggest, and none at all."""
    kind = KINDS[engine]
    if kind.ours or not kind.scored:
        return [(SHIPPED, [0.0] * len(seeds))]
    shipped = [(f"shipped tier {tier:g}", [tier] * len(seeds)) for tier in kind.tiers]
    return [*shipped, (TRAINED, [seed.floor for seed in seeds]), (FREE, [0.0] * len(seeds))]


def tabulate(engine: str, seeds: Sequence[Seed], hark: Sequence[Seed] | None) -> list[Operating]:
    """The rows of one engine. Points that come to the same figures are one row."""
    rows: list[Operating] = []
    slots = _has_slots(seeds[0])
    for name, floors in operating_points(engine, seeds):
        pairs = list(zip(seeds, floors, strict=True))
        false = [claims(seed.shipped.foreign, floor) for seed, floor in pairs]
        there = _hark_at(engine, false, hark) if hark and not KINDS[engine].ours else None
        row = Operating(
            engine=engine,
            point=name,
            right=Spread.of([accuracy(seed.shipped.known, floor) for seed, floor in pairs]),
            false=Spread.of(false),
            f1=Spread.of([seed.shipped.f1(floor) for seed, floor in pairs]) if KINDS[engine].slots and slots else None,
            hark=there[0] if there else None,
            hark_f1=there[1] if there and slots else None,
            microseconds=statistics.median(ns for seed in seeds for ns in seed.shipped.nanoseconds) / 1000,
            seeds=len(seeds),
            sentences=len(seeds[0].shipped.known),
        )
        same = next((old for old in rows if (old.right, old.false) == (row.right, row.false)), None)
        if same is None:
            rows.append(row)
        else:
            rows[rows.index(same)] = same._replace(point=f"{same.point}, {name.removeprefix('shipped tier ')}")
    return rows


def _has_slots(seed: Seed) -> bool:
    return any(row.slots for row in seed.shipped.rows)


def _hark_at(engine: str, false: Sequence[float], hark: Sequence[Seed]) -> tuple[Spread, Spread]:
    """Accuracy and slot F1 of Hark on the sentences that engine was asked, with no more false claims than it made."""
    right, f1 = [], []
    for seed, share in zip(hark, false, strict=False):
        same = seed.free.only(engine)
        floor = floor_at(same.foreign, share)
        right.append(accuracy(same.known, floor))
        f1.append(same.f1(floor))
    return Spread.of(right), Spread.of(f1)


def floors(engines: Mapping[str, Sequence[Seed]]) -> dict[str, Spread]:
    """The floors the training samples suggest, by engine."""
    return {
        engine: Spread.of([seed.floor for seed in seeds]) for engine, seeds in engines.items() if KINDS[engine].scored
    }


def mean_curve(seeds: Sequence[Seed], steps: int = 100) -> list[Point]:
    """The curve over the seeds, closer where false claims are few; it ends where the engine has no more claims."""
    curves = [seed.points for seed in seeds]
    end = max(points[-1].false for points in curves)
    shares = [(step / steps) ** 2 for step in range(steps + 1)]
    return [
        Point(false, statistics.fmean(right_at(points, false) for points in curves))
        for false in [*(share for share in shares if share < end), end]
    ]
