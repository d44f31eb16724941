"""All sentences users may say, as one graph of words. Common parts are stored once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

START: Final = 0
END: Final = 1
ANYTHING: Final = "{}"
"""Stands for one word or more that can be anything; no word is written like that."""

MAX_STATES: Final = 50_000
"""More than this is too much for a small recogniser."""


class GrammarTooLarge(ValueError):
    """The registered sentences need more than `MAX_STATES` states."""


class WordGraph(NamedTuple):
    """States are numbers from 0; a sentence begins in `START` and is complete in any of `finals`."""

    arcs: tuple[Mapping[str, int], ...]
    """For each state, the next state by word."""
    finals: frozenset[int]

    @property
    def words(self) -> frozenset[str]:
        return frozenset(word for arcs in self.arcs for word in arcs)

    def without(self, words: Collection[str]) -> WordGraph:
        """The graph of the sentences that have none of these words."""
        if not words:
            return self
        arcs = tuple({word: to for word, to in leads.items() if word not in words} for leads in self.arcs)
        return WordGraph(arcs, self.finals)

    def accepts(self, words: Iterable[str]) -> bool:
        """Whether these words are one of the sentences."""
        state = START
        for word in words:
            if word not in self.arcs[state]:
                return False
            state = self.arcs[state][word]
        return state in self.finals


class GraphBuilder:
    """Builds a graph from transitions by a word or without one."""

    def __init__(self) -> None:
        self._words: list[list[tuple[str, int]]] = [[], []]
        self._skips: list[set[int]] = [set(), set()]

    def state(self) -> int:
        """Add a state."""
        self._words.append([])
        self._skips.append(set())
        if len(self._words) > MAX_STATES:
            raise GrammarTooLarge(f"more than {MAX_STATES} states")
        return len(self._words) - 1

    def word(self, start: int, word: str, end: int) -> None:
        """Add a transition by a word."""
        self._words[start].append((word, end))

    def skip(self, start: int, end: int) -> None:
        """Add a transition without a word."""
        self._skips[start].add(end)

    def phrase(self, start: int, words: Iterable[str], end: int) -> None:
        """Add a path of several words."""
        words = tuple(words)
        if not words:
            self.skip(start, end)
        for place, word in enumerate(words):
            after = end if place == len(words) - 1 else self.state()
            self.word(start, word, after)
            start = after

    def graph(self) -> WordGraph:
        """The minimal deterministic graph of the same sentences."""
        return _minimal(*self._deterministic())

    def _deterministic(self) -> tuple[list[dict[str, int]], list[bool]]:
        begin = self._closure(frozenset({START}))
        known = {begin: 0}
        waiting, arcs, finals = [begin], list[dict[str, int]](), list[bool]()
        for states in waiting:
            finals.append(END in states)
            leads: dict[str, set[int]] = {}
            for state in states:
                for word, end in self._words[state]:
                    leads.setdefault(word, set()).add(end)
            arcs.append({})
            for word in sorted(leads):
                to = self._closure(frozenset(leads[word]))
                if to not in known:
                    known[to] = len(known)
                    waiting.append(to)
                    if len(known) > MAX_STATES:
                        raise GrammarTooLarge(f"more than {MAX_STATES} states")
                arcs[-1][word] = known[to]
        return arcs, finals

    def _closure(self, states: frozenset[int]) -> frozenset[int]:
        found, waiting = set(states), list(states)
        while waiting:
            for state in self._skips[waiting.pop()]:
                if state not in found:
                    found.add(state)
                    waiting.append(state)
        return frozenset(found)


def _minimal(arcs: list[dict[str, int]], finals: list[bool]) -> WordGraph:
    """Join states with the same continuations, from the ends to the beginning: there are no loops."""
    shapes: dict[tuple[bool, tuple[tuple[str, int], ...]], int] = {}
    place: dict[int, int] = {}
    for state in _post_order(arcs):
        # States that lead to no end, as before an open slot, are left out.
        leads = tuple((word, place[to]) for word, to in arcs[state].items() if to in place)
        if leads or finals[state] or state == START:
            place[state] = shapes.setdefault((finals[state], leads), len(shapes))
    number = [*shapes]
    begin = place[START]
    renamed = {begin: START}
    for old in range(len(number)):
        renamed.setdefault(old, len(renamed))
    ordered = sorted(range(len(number)), key=renamed.__getitem__)
    return WordGraph(
        tuple({word: renamed[to] for word, to in number[old][1]} for old in ordered),
        frozenset(renamed[old] for old in range(len(number)) if number[old][0]),
    )


def _post_order(arcs: list[dict[str, int]]) -> Iterator[int]:
    seen = [False] * len(arcs)
    stack: list[tuple[int, Iterator[int]]] = [(START, iter(arcs[START].values()))]
    seen[START] = True
    while stack:
        state, rest = stack[-1]
        for to in rest:
            if not seen[to]:
                seen[to] = True
                stack.append((to, iter(arcs[to].values())))
                break
        else:
            stack.pop()
            yield state
