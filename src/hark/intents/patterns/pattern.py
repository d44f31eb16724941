"""Templates as they are compared with an utterance: one sentence, or a graph of several.

The sentences of a graph are never made. All paths through it are followed side by side: words times places at most,
whatever was said. Places are the bits of a number, so that a set of them costs hardly more than one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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

    __slots__ = ("_parts", "kinds", "sentence")

    def __init__(self, sentence: Sentence, kinds: SlotKinds = NO_KINDS) -> None:
        self.sentence = sentence
        self.kinds = kinds
        self._parts = SentenceParts(sentence) if any(map(is_slot, sentence)) else None

    @property
    def is_plain(self) -> bool:
        """Whether it is words alone, without slots."""
        return self._parts is None

    def fitting(self, said: list[str]) -> list[Sentence]:
        """The sentence, if it fits."""
        sentence = self.sentence
        if self._parts is None:
            return [sentence] if len(said) == len(sentence) and tuple(said) == sentence else []
        return [sentence] if len(said) >= len(sentence) and fits(self._parts, said) else []

    def has(self, word: str) -> bool:
        """Whether it has a literal word."""
        return word in self.sentence


_FOLLOWED: Final = 64
"""The number of fitting sentences of one template that are returned: those with the most literal words."""
_FEW: Final = 4
_REACHED: Final = 2_048
"""The number of places whose endings are followed back from one word to the previous; if more, a few endings only."""


Moves = tuple[tuple[int, int], ...]
"""Places from which a word leads on, and the places that are reached then."""


class PatternGraph:
    """A template that is several sentences.

    Graphs are large, and most templates are never said to an assistant: `release` drops the graph until it is needed.
    """

    __slots__ = ("_walk", "kinds", "lang", "template")

    def __init__(self, template: str, lang: str, graph: SentenceGraph, kinds: SlotKinds = NO_KINDS) -> None:
        self.template = template
        """Without references to vocabularies."""
        self.lang = lang
        self.kinds = kinds
        self._walk: _GraphWalk | None = _GraphWalk(graph)

    @property
    def graph(self) -> SentenceGraph:
        """The graph of its sentences."""
        return self._built().graph

    def release(self) -> None:
        """Drop the graph; it is built again when it is needed."""
        self._walk = None

    def has(self, word: str) -> bool:
        """Whether it has a literal word."""
        return word in self._built().graph.words

    def fitting(self, said: list[str]) -> list[Sentence]:
        """The sentences that fit, each once, those with most literal words first."""
        return self._built().fitting(said)

    def _built(self) -> _GraphWalk:
        walk = self._walk
        if walk is None:
            walk = self._walk = _GraphWalk(build_graph(read_template(self.template), self.lang))
        return walk


class _GraphWalk:
    """Follows what is said through a graph."""

    __slots__ = ("_leading", "_moves", "_open", "_slots", "_start", "graph")

    def __init__(self, graph: SentenceGraph) -> None:
        self.graph = graph
        self._start = self._reached(0)
        self._moves: dict[str, Moves] = {}
        """The moves of each of its words that was said; computed when needed, as are the others."""
        self._slots: Moves | None = None
        """The moves of any word, which slots take."""
        self._open: dict[int, tuple[int, str]] = {}
        """The places where words are in a slot: where it begins, and its term."""
        self._leading: list[int] = []
        """For each place, the places that lead to it without a word, itself included."""

    def fitting(self, said: list[str]) -> list[Sentence]:
        """The sentences that fit, each once, those with most literal words first."""
        words, moves = self.graph.words, self._moves
        slots = self._slot_moves() if self._slots is None else self._slots
        here = self._start
        trail = [here]
        for word in said:
            following = 0
            for begins, reached in slots:
                if here & begins:
                    following |= reached
            if word in words:
                for begins, reached in moves.get(word) or self._moves_of(word):
                    if here & begins:
                        following |= reached
            if not following:
                return []
            here = following
            trail.append(here)
        return self._sentences(said, trail) if here >> self.graph.end & 1 else []

    def _moves_of(self, word: str) -> Moves:
        found = self._moves[word] = self._moves_along(self.graph.words[word])
        return found

    def _slot_moves(self) -> Moves:
        slots = self.graph.slots
        # A slot goes on at the place where it ends.
        self._slots = self._moves_along([way for begin, to, _ in slots for way in ((begin, to), (to, to))])
        self._open = {to: (begin, f"{{{name}}}") for begin, to, name in slots}
        return self._slots

    def _moves_along(self, ways: Iterable[tuple[int, int]]) -> Moves:
        begins: dict[int, int] = {}
        for begin, to in ways:
            begins[to] = begins.get(to, 0) | 1 << begin
        return tuple([(places, self._reached(to)) for to, places in begins.items()])

    def _reached(self, place: int) -> int:
        """A place and those it leads to without a word."""
        reached = 1 << place
        for begin, to in self.graph.skips:  # in their order: none leads back
            if reached >> begin & 1:
                reached |= 1 << to
        return reached

    def _sentences(self, said: list[str], trail: list[int]) -> list[Sentence]:
        """The sentences along the places that were passed. From the end, every path back leads to the start."""
        graph, opened = self.graph, self._open
        leading = self._leading or self._leads()
        in_slot = sum([1 << place for place in opened])
        endings: list[tuple[str, int]] = [("", -1)]
        """Endings of sentences as a linked list: a term, and the index of the ending that follows it."""
        numbers: dict[tuple[str, int], int] = {}

        def ending(term: str, rest: int) -> int:
            number = numbers[term, rest] = len(endings)
            endings.append((term, rest))
            return number

        reached: dict[tuple[int, int], int] = {(graph.end, 0): 0}
        """Places, and the ending of a sentence from there, with its literal words."""
        for when in range(len(said), 0, -1):
            word, passed = said[when - 1], trail[when - 1]
            before: dict[tuple[int, int], int] = {}
            steps = self._steps(word, passed)
            ends = trail[when] & (in_slot | sum([1 << place for place in steps]))
            for (place, rest), literals in reached.items():
                left = leading[place] & ends
                while left:
                    lowest = left & -left
                    left ^= lowest
                    end = lowest.bit_length() - 1
                    if end in steps:
                        number = numbers.get((word, rest)) or ending(word, rest)
                        for begin in steps[end]:
                            before[begin, number] = literals + 1
                    if end in opened:
                        if passed >> end & 1:
                            before[end, rest] = literals
                        begin, term = opened[end]
                        if passed >> begin & 1:
                            before[begin, numbers.get((term, rest)) or ending(term, rest)] = literals
            most = _FOLLOWED if len(before) < _REACHED else _FEW
            if len(before) > most:
                before = dict(sorted(before.items(), key=_most_literals)[:most])
            reached = before
        found = {rest: -literals for (place, rest), literals in reached.items() if literals and leading[place] & 1}
        return [_read(endings, rest) for _, rest in sorted([(literals, rest) for rest, literals in found.items()])]

    def _steps(self, word: str, passed: int) -> dict[int, list[int]]:
        """Where the steps of a word lead, and from which of the places that were passed."""
        steps: dict[int, list[int]] = {}
        for begin, to in self.graph.words.get(word, ()):
            if passed >> begin & 1:
                steps.setdefault(to, []).append(begin)
        return steps

    def _leads(self) -> list[int]:
        leading = [1 << place for place in range(self.graph.end + 1)]
        for begin, to in self.graph.skips:
            leading[to] |= leading[begin]
        self._leading = leading
        return leading


def _most_literals(item: tuple[tuple[int, int], int]) -> tuple[int, tuple[int, int]]:
    return -item[1], item[0]


def _read(endings: Sequence[tuple[str, int]], number: int) -> Sentence:
    terms = []
    while number > 0:
        term, number = endings[number]
        terms.append(term)
    return tuple(terms)
