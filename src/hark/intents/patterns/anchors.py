"""Words a template cannot do without: it is looked at only where they were said."""

from __future__ import annotations

from hark.intents.grammar import Graph, is_slot
from hark.intents.patterns.line import Line
from hark.intents.patterns.web import Web

Anchor = tuple[str, ...]
"""Words of which every sentence has one."""


def anchors(pattern: Line | Web) -> list[Anchor]:
    """What every sentence has, one word of each; never empty."""
    if isinstance(pattern, Line):
        return [(word,) for word in dict.fromkeys(pattern.sentence) if not is_slot(word)]
    return _of_graph(pattern.graph) or [tuple(pattern.graph.words)]


def _of_graph(graph: Graph) -> list[Anchor]:
    """From the places that no sentence goes around: between two of them, the words all ways begin or end with."""
    steps = graph.steps()
    found: dict[Anchor, None] = {}
    begin, furthest = 0, 0
    for place in range(len(steps)):
        if place and furthest <= place:
            found.update(dict.fromkeys(_between(steps, begin, place)))
            begin = place
        furthest = max([furthest, *[to for _, to in steps[place]]])
    return list(found)


def _between(steps: list[list[tuple[str, int]]], begin: int, end: int) -> list[Anchor]:
    first = [term for term, _ in steps[begin]]
    last = [term for place in range(begin, end) for term, to in steps[place] if to == end]
    return [tuple(dict.fromkeys(terms)) for terms in (first, last) if all(term and not is_slot(term) for term in terms)]
