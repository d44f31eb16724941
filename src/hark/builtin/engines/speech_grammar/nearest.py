"""The registered sentences most similar to what was heard."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from heapq import heappop, heappush
from itertools import count
from typing import Final, NamedTuple

from hark.builtin.engines.speech_grammar.graph import ANYTHING, START, WordGraph

_FAR: Final = float("inf")
WORK: Final = 12_000
"""Letters of sentences that are compared: of a very large grammar, only the most promising part."""
_ALIKE: Final = ("aeiouyw", "bp", "dt", "gkcq", "szcx", "fv", "mn", "lr", "jg")
_HALF: Final = frozenset((one, other) for group in _ALIKE for one in group for other in group)
_FAINT: Final = frozenset("aeiouhw")


class NearSentence(NamedTuple):
    """A registered sentence, and how many of its letters differ."""

    cost: float
    words: tuple[str, ...]


class _Path(NamedTuple):
    """The beginning of a sentence."""

    state: int
    words: tuple[str, ...]
    row: tuple[float, ...]
    """For each number of letters that were heard: the cost of matching them with this beginning."""
    sure: int
    """Letters outside open slots."""


def nearest(graph: WordGraph, heard: Sequence[str], share: float, most: int, work: int = WORK) -> list[NearSentence]:
    """The sentences most similar to these words, nearest first: at most `share` of their letters differ.

    Spaces do not count: "dishwasher off" may be heard as "dish wash her off". Open slots take the words as they were
    heard. `work`: how many letters of sentences are compared at most.
    """
    return _Search(graph, heard, share, work).run(most)


class _Search:
    def __init__(self, graph: WordGraph, heard: Sequence[str], share: float, work: int) -> None:
        self._graph = graph
        self._heard = heard
        self._letters = "".join(heard)
        self._bounds = [0]
        for word in heard:
            self._bounds.append(self._bounds[-1] + len(word))
        self._share = share
        self._limit = share * len(self._letters)
        self._left = work
        self._number = count()
        self._waiting: list[tuple[float, int, _Path | NearSentence]] = []

    def run(self, most: int) -> list[NearSentence]:
        start = [0.0]
        for letter in self._letters:
            start.append(start[-1] + _alone(letter))
        self._add(_Path(START, (), tuple(start), 0))
        found: list[NearSentence] = []
        while self._waiting and len(found) < most:
            _, _, first = heappop(self._waiting)
            if isinstance(first, NearSentence):
                if all(first.words != near.words for near in found):
                    found.append(first)
            elif self._left > 0:
                self._expand(first)
        return found

    def _expand(self, path: _Path) -> None:
        for word, state in self._graph.arcs[path.state].items():
            if word == ANYTHING:
                self._fill(path, state)
                continue
            if self._left <= 0:
                return
            row = path.row
            for letter in word:
                self._left -= 1
                row = _after(row, letter, self._letters, self._limit)
                if row is _NONE:
                    break
            else:
                self._add(_Path(state, (*path.words, word), row, path.sure + len(word)))

    def _fill(self, path: _Path, state: int) -> None:
        """An open slot takes one or more of the words that were heard."""
        best, begin = _FAR, 0
        for place, bound in enumerate(self._bounds[1:], start=1):
            before = path.row[self._bounds[place - 1]]
            if before < best:
                best, begin = before, place - 1
            if best < _FAR:
                row = [_FAR] * len(path.row)
                row[bound] = best
                for at in range(bound + 1, len(row)):
                    row[at] = row[at - 1] + _alone(self._letters[at - 1])
                self._add(_Path(state, (*path.words, *self._heard[begin:place]), tuple(row), path.sure))

    def _add(self, path: _Path) -> None:
        least = min(path.row)
        if least > self._limit:
            return
        heappush(self._waiting, (least, next(self._number), path))
        if path.state in self._graph.finals and path.row[-1] <= self._share * path.sure:
            heappush(self._waiting, (path.row[-1], next(self._number), NearSentence(path.row[-1], path.words)))


_NONE: Final[tuple[float, ...]] = ()


def _after(row: tuple[float, ...], letter: str, heard: str, limit: float) -> tuple[float, ...]:
    """The row after one more letter; `_NONE` when every cost is above the limit."""
    costs, alone = _costs(letter), _alone(letter)
    last = row[0] + alone
    after = [last]
    least = last
    diagonal = row[0]
    for above, sign in zip(row[1:], heard, strict=True):
        cost = diagonal + costs.get(sign, 1.0)
        if above + alone < cost:
            cost = above + alone
        left = last + (0.5 if sign in _FAINT else 1.0)
        if left < cost:
            cost = left
        after.append(cost)
        if cost < least:
            least = cost
        last, diagonal = cost, above
    return tuple(after) if least <= limit else _NONE


def _alone(letter: str) -> float:
    """The cost of a letter without a counterpart."""
    return 0.5 if letter in _FAINT else 1.0


@lru_cache(maxsize=256)
def _costs(letter: str) -> dict[str, float]:
    """The cost of hearing this letter as another one; 1 for those not listed."""
    return {other: 0.5 for one, other in _HALF if one == letter} | {letter: 0.0}
