"""Which words stand for which vocabulary, where there is a choice.

Every vocabulary that occurs takes one of its occurrences. Of all ways to do that, the best uses as few words twice as
possible; then it explains as many words as possible; then each vocabulary, in the order of declaration, takes its
longest occurrence, and the leftmost of those.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Final, NamedTuple

from hark.intents.keyword.index import Span

Occurrences = Sequence[Span]
"""Where one vocabulary occurs; never empty."""

TRIED: Final = 256
"""Ways that are compared; where there are more, each vocabulary in turn takes what suits best."""


class Reading(NamedTuple):
    """One occurrence for each vocabulary, and how many words they explain together."""

    spans: Sequence[Span]
    explained: int
    twice: int
    """Words that stand for more than one vocabulary, counted once for each beyond the first."""


def best_reading(vocabularies: Sequence[Occurrences]) -> Reading:
    """The best way to take one occurrence of each vocabulary."""
    favourite = _measured([spans[0] if len(spans) == 1 else min(spans) for spans in vocabularies])
    # Every one has its longest and none is in the way of another: nothing can be better.
    if not favourite.twice:
        return favourite
    if prod(map(len, vocabularies)) > TRIED:
        return min(favourite, _in_turn(vocabularies), key=_worth)
    return min(map(_measured, product(*map(sorted, vocabularies))), key=_worth)


def _worth(reading: Reading) -> tuple[int, int]:
    return reading.twice, -reading.explained


def _measured(spans: Sequence[Span]) -> Reading:
    taken, total = 0, 0
    for length, start in spans:
        taken |= _bits(length, start)
        total -= length
    explained = taken.bit_count()
    return Reading(spans, explained, total - explained)


def _in_turn(vocabularies: Sequence[Occurrences]) -> Reading:
    """Whoever has the least choice goes first; each takes what is least taken, then what is longest and leftmost."""
    chosen: dict[int, Span] = {}
    taken: set[int] = set()
    for place in sorted(range(len(vocabularies)), key=lambda place: len(vocabularies[place])):
        spans = sorted(vocabularies[place])
        # The first that is free; what people repeat they may repeat very often, so the rest is not even looked at.
        span = next((span for span in spans if taken.isdisjoint(_words(*span))), None)
        if span is None:
            span = min(spans, key=lambda span: len(taken.intersection(_words(*span))))
        chosen[place] = span
        taken.update(_words(*span))
    return _measured([chosen[place] for place in range(len(vocabularies))])


def _words(length: int, start: int) -> range:
    return range(start, start - length)


def _bits(length: int, start: int) -> int:
    """The words of a span as a set."""
    return ((1 << -length) - 1) << start
