"""Templates as they are compared with an utterance: one sentence, or a graph of several.

The sentences of a graph are never made. All paths through it are followed side by side: words times places at most,
whatever was said. Places are the bits of a number, so that a set of them costs hardly more than one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from hark.intents.grammar import Sentence, SentenceGraph, build_graph, is_slot, read_template

Span = tuple[int, int]
"""First word and the one after the last."""

SlotKinds = Mapping[str, frozenset[str]]
"""For each slot that is written with a type in a template, its types; empty text where it is written without as well.
Under empty text, the slots whose values are written out as words beside other slots."""
NO_KINDS: Final[SlotKinds] = MappingProxyType({})


class SentenceParts:
    """The slots of a sentence, and the literal words before, between and after them."""

    __slots__ = ("chunks", "names")

    def __init__(self, sentence: Sentence) -> None:
        self.names = [word[1:-1] for word in sentence if is_slot(word)]
        self.chunks: list[list[str]] = [[]]
        for word in sentence:
            if is_slot(word):
                self.chunks.append([])
            else:
                self.chunks[-1].append(word)


def fits(parts: SentenceParts, words: list[str]) -> bool:
    """Whether the words fit a sentence; there have to be at least as many as it has terms."""
    chunks = parts.chunks
    head, tail = chunks[0], chunks[-1]
    if words[: len(head)] != head or (tail and words[-len(tail) :] != tail):
        return False
    return len(chunks) == 2 or next(divisions(chunks, words), None) is not None


def divisions(chunks: list[list[str]], words: list[str]) -> Iterator[list[Span]]:
    """Every way to place the chunks, the inner ones as far right as possible first."""
    head, *inner, tail = chunks
    return _placed(inner, words, len(head), len(words) - len(tail))


def _placed(inner: list[list[str]], words: list[str], start: int, end: int) -> Iterator[list[Span]]:
    if not inner:
        if start < end:
            yield [(start, end)]
        return
    rest, chunk = inner[:-1], inner[-1]
    size = len(chunk)
    # A word at least for the slot behind the chunk, and one for the slot before it.
    for place in range(end - 1 - size, start, -1):
        if words[place] == chunk[0] and words[place : place + size] == chunk:
            fits = False
            for spans in _placed(rest, words, start, place):
                fits = True
                yield [*spans, (place + size, end)]
            if not fits:
                return  # further to the left there are fewer words still


class PatternSentence:
    """A template that is one sentence."""

    __slots__ = ("_parts", "is_plain", "kinds", "sentence")

    def __init__(self, sentence: Sentence, kinds: SlotKinds = NO_KINDS) -> None:
        self.sentence = sentence
        self.kinds = kinds
        self.is_plain = not any(map(is_slot, sentence))
        """Whether it is words alone, without slots."""
        self._parts: SentenceParts | None = None
        """Read when needed."""

    def fitting(self, said: list[str]) -> list[Sentence]:
        """The sentence, if it fits."""
        sentence = self.sentence
        if self.is_plain:
            return [sentence] if len(said) == len(sentence) and tuple(said) == sentence else []
        self._parts = self._parts or SentenceParts(sentence)
        return [sentence] if len(said) >= len(sentence) and fits(self._parts, said) else []

    def has(self, word: str) -> bool:
        """Whether it has a literal word."""
        return word in self.sentence


_FOLLOWED: Final = 64
"""The number of fitting sentences of one template that are returned: those with the most literal words."""
_FEW: Final = 4
_REACHED: Final = 2_048
"""The number of places whose endings are followed back from one word to the previous; if more, a few endings only."""


class PatternGraph:
    """A template that is several sentences.

    Graphs are large, and most templates are never said to an assistant: `release` drops the graph until it is needed.
    """

    __slots__ = ("_back", "_graph", "_reach", "_stays", "kinds", "lang", "template")

    def __init__(self, template: str, lang: str, graph: SentenceGraph, kinds: SlotKinds = NO_KINDS) -> None:
        self.template = template
        """Without references to vocabularies."""
        self.lang = lang
        self._graph: SentenceGraph | None = graph
        self.kinds = kinds
        self._stays = sum(1 << place for _, place, _ in graph.slots)
        self._reach: dict[int, int] | None = None
        """The places reached from a place without a word, itself included; computed when needed."""
        self._back: dict[int, list[int]] | None = None

    @property
    def graph(self) -> SentenceGraph:
        """The graph of its sentences."""
        graph = self._graph
        if graph is None:
            graph = self._graph = build_graph(read_template(self.template), self.lang)
        return graph

    def release(self) -> None:
        """Drop the graph; it is built again when it is needed."""
        self._graph = self._reach = self._back = None

    def has(self, word: str) -> bool:
        """Whether it has a literal word."""
        return word in self.graph.words

    def fitting(self, said: list[str]) -> list[Sentence]:
        """The sentences that fit, each once, those with most literal words first."""
        graph, stays = self.graph, self._stays
        reach = self._reach
        if reach is None:
            reach = self._reach = {}
        get = graph.words.get
        here = reach.get(0) or self._reached(0, reach)
        trail = [here]
        for word in said:
            following = 0
            if stays:
                if here & stays:
                    for _, to, _ in graph.slots:
                        if here >> to & 1:
                            following |= reach.get(to) or self._reached(to, reach)
                for begin, to, _ in graph.slots:
                    if here >> begin & 1:
                        following |= reach.get(to) or self._reached(to, reach)
            for begin, to in get(word, ()):
                if here >> begin & 1:
                    following |= reach.get(to) or self._reached(to, reach)
            if not following:
                return []
            here = following
            trail.append(here)
        return self._sentences(said, trail) if here >> graph.end & 1 else []

    def _reached(self, place: int, reach: dict[int, int]) -> int:
        """A place and those it leads to without a word; `reach` remembers it."""
        reached = 1 << place
        for begin, to in self.graph.skips:  # in their order: none leads back
            if reached >> begin & 1:
                reached |= 1 << to
        reach[place] = reached
        return reached

    def _sentences(self, said: list[str], trail: list[int]) -> list[Sentence]:
        """The sentences along the places that were passed. From the end, every path back leads to the start."""
        graph, back = self.graph, self._ways_back()
        opened = {place: (begin, f"{{{name}}}") for begin, place, name in graph.slots}
        endings: list[tuple[str, int]] = [("", -1)]
        """Endings of sentences as a linked list: a term, and the index of the ending that follows it."""
        numbers: dict[tuple[str, int], int] = {}

        def ending(term: str, rest: int) -> int:
            number = numbers.setdefault((term, rest), len(endings))
            if number == len(endings):
                endings.append((term, rest))
            return number

        reached: dict[tuple[int, int], int] = {(graph.end, 0): 0}
        """Places, and the ending of a sentence from there, with its literal words."""
        for when in range(len(said), 0, -1):
            _spread(reached, back, trail[when])
            word, passed = said[when - 1], trail[when - 1]
            before: dict[tuple[int, int], int] = {}
            steps: dict[int, list[int]] = {}
            for begin, to in graph.words.get(word, ()):
                if passed >> begin & 1:
                    steps.setdefault(to, []).append(begin)
            for (place, rest), literals in reached.items():
                for begin in steps.get(place, ()):
                    before[begin, ending(word, rest)] = literals + 1
                if place in opened:
                    if passed >> place & 1:
                        before[place, rest] = literals
                    begin, term = opened[place]
                    if passed >> begin & 1:
                        before[begin, ending(term, rest)] = literals
            most = _FOLLOWED if len(reached) < _REACHED else _FEW
            if len(before) > most:
                before = dict(sorted(before.items(), key=_most_literals)[:most])
            reached = before
        _spread(reached, back, trail[0])
        found = [(-literals, rest) for (place, rest), literals in reached.items() if not place and literals]
        return [_read(endings, rest) for _, rest in sorted(found)]

    def _ways_back(self) -> dict[int, list[int]]:
        if self._back is None:
            back: dict[int, list[int]] = {}
            for begin, to in self.graph.skips:
                back.setdefault(to, []).append(begin)
            self._back = back
        return self._back


def _most_literals(item: tuple[tuple[int, int], int]) -> tuple[int, tuple[int, int]]:
    return -item[1], item[0]


def _spread(reached: dict[tuple[int, int], int], back: dict[int, list[int]], passed: int) -> None:
    """Add the places that lead to those reached without a word, of those that were passed."""
    waiting = list(reached)
    while waiting:
        place, rest = waiting.pop()
        for begin in back.get(place, ()):
            if passed >> begin & 1 and (begin, rest) not in reached:
                reached[begin, rest] = reached[place, rest]
                waiting.append((begin, rest))


def _read(endings: Sequence[tuple[str, int]], number: int) -> Sentence:
    terms = []
    while number > 0:
        term, number = endings[number]
        terms.append(term)
    return tuple(terms)
