"""The arithmetic of the accuracy tables: nothing here knows an engine or a file."""

from __future__ import annotations

import bisect
import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

Slots = Iterable[tuple[str, str]]
_EDGES = ".,;:!?\"'`()[]{}<>|"


class Judged(NamedTuple):
    """One answer beside what was right."""

    right: str | None
    """None where nothing should match."""
    intent: str | None
    score: float


def accuracy(answers: Sequence[Judged], floor: float) -> float:
    """Share of the sentences whose intent was named, with at least `floor`. A decline is wrong."""
    return _share([a.intent == a.right and a.score >= floor for a in answers])


def claims(answers: Sequence[Judged], floor: float) -> float:
    """Share of the sentences that were claimed at all."""
    return _share([a.intent is not None and a.score >= floor for a in answers])


def _share(held: Sequence[bool]) -> float:
    return sum(held) / len(held) if held else 0.0


class F1(NamedTuple):
    """Slots found right, found in all, and there to be found."""

    right: int = 0
    found: int = 0
    there: int = 0

    def __add__(self, other: object) -> F1:
        assert isinstance(other, F1)
        return F1(self.right + other.right, self.found + other.found, self.there + other.there)

    @property
    def value(self) -> float:
        """The harmonic mean of precision and recall over everything counted (micro)."""
        return 2 * self.right / (self.found + self.there) if self.found + self.there else 0.0


def slot_f1(there: Slots, found: Slots) -> F1:
    """Count one sentence: a slot is right when its name and its whole value are. Case and outer signs do not count."""
    wanted = Counter((name, folded(value)) for name, value in there)
    got = Counter((name, folded(value)) for name, value in found)
    return F1((wanted & got).total(), got.total(), wanted.total())


def folded(value: str) -> str:
    """A slot value as it is compared."""
    words = (word.strip(_EDGES) for word in value.casefold().split())
    return " ".join(word for word in words if word)


def best_floor(known: Sequence[Judged], foreign: Sequence[Judged]) -> float:
    """The floor with the largest mean of accuracy on `known` and declines on `foreign`; the lowest of equals."""
    candidates = sorted({0.0, *(a.score for a in (*known, *foreign) if a.intent is not None)})
    return max(candidates, key=lambda floor: (accuracy(known, floor) - claims(foreign, floor), -floor))


class Point(NamedTuple):
    """What a floor comes to."""

    false: float
    right: float


def curve(known: Sequence[Judged], foreign: Sequence[Judged]) -> list[Point]:
    """False claims and accuracy at every floor that makes a difference, strictest first; the first makes no claim."""
    hits = sorted(a.score for a in known if a.intent is not None and a.intent == a.right)
    wrong = sorted(a.score for a in foreign if a.intent is not None)
    points = [Point(0.0, 0.0)]
    for floor in sorted({*hits, *wrong}, reverse=True):
        point = Point(_reach(wrong, floor) / max(1, len(foreign)), _reach(hits, floor) / max(1, len(known)))
        points.append(point)
    return points


def _reach(ordered: Sequence[float], floor: float) -> int:
    """How many are at least `floor`."""
    return len(ordered) - bisect.bisect_left(ordered, floor)


def right_at(points: Sequence[Point], false: float) -> float:
    """The best accuracy a curve reaches without more false claims than `false`."""
    return max((point.right for point in points if point.false <= false + 1e-9), default=0.0)


def floor_at(foreign: Sequence[Judged], false: float) -> float:
    """The lowest floor that lets no more than that share of `foreign` be claimed."""
    wrong = sorted((a.score for a in foreign if a.intent is not None), reverse=True)
    allowed = int(false * len(foreign) + 1e-9)
    return 0.0 if len(wrong) <= allowed else math.nextafter(wrong[allowed], math.inf)


class Spread(NamedTuple):
    """A figure over several seeds."""

    mean: float
    sd: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Mean and standard deviation of a sample; no deviation of a single value."""
        return cls(statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0)
