"""All sentences users may say, as one graph of words. Common parts are stored once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

START: Final = 0
END: Final = 1
ANYTHING: Final = "{}"
"""Stands for one word or more that nobody knows before; no word is written like that."""

MAX_STATES: Final = 50_000
"""More than this, and a small recogniser is the wrong one."""


class GrammarTooLarge(ValueError):
    """There is too much that may be said."""


class WordGraph(NamedTuple):
    """States are numbers from 0; it begins in `START`, and a sentence is complete in any of `finals`."""

    arcs: tuple[Mapping[str, int], ...]
    """Of each state: where a word leads."""
    finals: frozenset[int]

    @property
    def words(self) -> frozenset[str]:
        """Every word there is."""
        return frozenset(word for arcs in self.arcs for word in arcs)

    def without(self, words: Collection[str]) -> WordGraph:
        """The sentences that have none of these words."""
        if not words:
            return self
        arcs = tuple({word: to for word, to in leads.items() if word not in words} for leads in self.arcs)
        return WordGraph(arcs, self.finals)

    def accepts(self, words: Iterable[str]) -> bool:
        """Whether this is one of the sentences, as a whole."""
        state = START
        for word in words:
            if word not in self.arcs[state]:
                return False
            state = self.arcs[state][word]
        return state in self.finals


class GraphBuilder:
    """A graph in the making: words lead from one state to another, and so may nothing at all."""

    def __init__(self) -> None:
        self._words: list[list[tuple[str, int]]] = [[], []]
        self._skips: list[set[int]] = [set(), set()]

    def state(self) -> int:
        """A new state."""
        self._words.append([])
        self._skips.append(set())
        if len(self._words) > MAX_STATES:
            raise GrammarTooLarge(f"more than {MAX_STATES} states")
        return len(self._words) - 1

    def word(self, start: int, word: str, end: int) -> None:
        """`word` leads from `start` to `end`."""
        self._words[start].append((word, end))

    def skip(self, start: int, end: int) -> None:
        """Who is at `start` may go on at `end` without a word."""
        self._skips[start].add(end)

    def phrase(self, start: int, words: Iterable[str], end: int) -> None:
        """Several words in a row."""
        words = tuple(words)
        if not words:
            self.skip(start, end)
        for place, word in enumerate(words):
            after = end if place == len(words) - 1 else self.state()
            self.word(start, word, after)
            start = after

    def graph(self) -> WordGraph:
        """The smallest graph for the same sentences in which a word leads to one place only."""
        return _smallest(*self._determined())

    def _determined(self) -> tuple[list[dict[str, int]], list[bool]]:
        begin = self._reached(frozenset({START}))
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
                to = self._reached(frozenset(leads[word]))
                if to not in known:
                    known[to] = len(known)
                    waiting.append(to)
                    if len(known) > MAX_STATES:
                        raise GrammarTooLarge(f"more than {MAX_STATES} states")
                arcs[-1][word] = known[to]
        return arcs, finals

    def _reached(self, states: frozenset[int]) -> frozenset[int]:
        found, waiting = set(states), list(states)
        while waiting:
            for state in self._skips[waiting.pop()]:
                if state not in found:
                    found.add(state)
                    waiting.append(state)
        return frozenset(found)


def _smallest(arcs: list[dict[str, int]], finals: list[bool]) -> WordGraph:
    """Join states that have the same future, from the ends to the beginning: sentences have no loops."""
    shapes: dict[tuple[bool, tuple[tuple[str, int], ...]], int] = {}
    place: dict[int, int] = {}
    for state in _futures_first(arcs):
        # What leads to no end, as an open slot does, is left out.
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


def _futures_first(arcs: list[dict[str, int]]) -> Iterator[int]:
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
