"""Some of the sentences a template stands for, picked without making the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hark.intents.grammar import Graph, Sentence, is_slot

_WHOLE: Final = 1 << 20
_STRIDE: Final = 648_055
"""The golden section of `_WHOLE`: its multiples fall evenly and never into step with anything."""


def pick(graph: Graph, most: int) -> list[Sentence]:
    """At most `most` different sentences, the same every time; all of them if there are no more ways than that."""
    steps = graph.steps()
    ways = _ways(steps)
    total = ways[0]
    picked: dict[Sentence, None] = {}
    for number in _numbers(total, most):
        sentence = _sentence(steps, ways, number)
        if not all(map(is_slot, sentence)):
            picked[sentence] = None
    return list(picked)


def _numbers(total: int, most: int) -> Iterator[int]:
    if total <= most:
        yield from range(total)
        return
    # One from each of `most` equal parts. Not at equal distances: a choice among ten would always come out the same.
    for part in range(most):
        begin, end = part * total // most, (part + 1) * total // most
        yield begin + (end - begin) * ((part + 1) * _STRIDE % _WHOLE) // _WHOLE


def _ways(steps: list[list[tuple[str, int]]]) -> list[int]:
    """How many ways lead from each place to the end."""
    ways = [0] * len(steps)
    ways[-1] = 1
    for place in range(len(steps) - 2, -1, -1):
        ways[place] = sum([ways[to] for _, to in steps[place]])
    return ways


def _sentence(steps: list[list[tuple[str, int]]], ways: list[int], number: int) -> Sentence:
    terms = []
    place = 0
    while steps[place]:
        for term, to in steps[place]:
            if number < ways[to]:
                place = to
                if term:
                    terms.append(term)
                break
            number -= ways[to]
    return tuple(terms)
