"""Sentences as written: all templates of one language, found by words that they cannot do without.

A sentence without slots is found by all of its words; one with slots by those before its first slot or after its last.
Any other template is filed under two words (or sets of alternatives) that each of its sentences has, a rare pair. An
utterance therefore leads to few templates however many there are, and adding or removing an intent touches its own
templates only.
"""

from __future__ import annotations

from itertools import chain, combinations
from operator import attrgetter
from typing import Final, Generic, TypeVar

from hark.intents.grammar import Sentence, is_slot
from hark.intents.patterns import Anchor, Pattern, PatternSentence, anchors
from hark.intents.patterns.pattern import NO_KINDS, SentenceParts, SlotKinds, fits
from hark.intents.registration import TemplateIntent


class ExactMatch:
    """A sentence of an intent that fits an utterance."""

    __slots__ = ("intent", "kinds", "literals", "parts", "rank", "sentence")

    def __init__(self, intent: TemplateIntent, number: int, sentence: Sentence, kinds: SlotKinds = NO_KINDS) -> None:
        self.intent = intent
        self.kinds = kinds
        self.sentence = sentence
        self.literals = sum([not is_slot(term) for term in sentence])
        self.parts = SentenceParts(sentence) if self.literals < len(sentence) else None
        """None where there is no slot."""
        self.rank = (-self.literals, intent.order, number)
        """Smallest first: most literal words, so those without slots lead; then the order of registration."""


by_rank = attrgetter("rank")


E = TypeVar("E")

CROWDED: Final = 8
"""No more sentences than this share an edge; further ones go to the `AnchorIndex`."""


class EdgeIndex(Generic[E]):
    """Entries by the words that sentences begin with, or by those they end with.

    The outermost word gives the lengths that an edge can have, so few edges are tried however many there are.
    """

    # Another thread may read while this one adds: tuples of entries are replaced, never changed.
    __slots__ = ("_of", "_sizes", "_uses")

    def __init__(self) -> None:
        self._of: dict[Sentence, tuple[E, ...]] = {}
        self._sizes: dict[str, tuple[int, ...]] = {}
        """The lengths of the edges with that outermost word."""
        self._uses: dict[tuple[str, int], int] = {}
        """How many edges have that outermost word and that length."""

    def load(self, edge: Sentence) -> int:
        """How many entries share an edge."""
        return len(self._of.get(edge, ()))

    def add(self, edge: Sentence, outermost: str, entry: E) -> None:
        """Add an entry; `outermost` is the first word of a beginning, the last of an ending."""
        if edge not in self._of:
            use = outermost, len(edge)
            self._uses[use] = self._uses.get(use, 0) + 1
            if self._uses[use] == 1:
                self._sizes[outermost] = (*self._sizes.get(outermost, ()), len(edge))
        self._of[edge] = (*self._of.get(edge, ()), entry)

    def remove(self, edge: Sentence, outermost: str, entry: E) -> None:
        """Remove an entry."""
        left = tuple([other for other in self._of[edge] if other is not entry])
        if left:
            self._of[edge] = left
            return
        del self._of[edge]
        use = outermost, len(edge)
        self._uses[use] -= 1
        if not self._uses[use]:
            del self._uses[use]
            sizes = tuple([size for size in self._sizes[outermost] if size != len(edge)])
            if sizes:
                self._sizes[outermost] = sizes
            else:
                del self._sizes[outermost]

    def begins(self, said: Sentence) -> list[E]:
        """The entries under any beginning of an utterance."""
        met: list[E] = []
        for size in self._sizes.get(said[0], ()):
            met += self._of.get(said[:size], ())
        return met

    def ends(self, said: Sentence) -> list[E]:
        """The entries under any ending of an utterance."""
        met: list[E] = []
        for size in self._sizes.get(said[-1], ()):
            met += self._of.get(said[-size:], ())
        return met


_ALONE: Final = ""
"""The second word of a template that is filed under one alone."""
_PAIRS: Final = 64
"""A template is filed under two sets of words only if they make no more pairs than this."""
_TRIED: Final = 4
"""Words (or sets) of a template among which the pair is chosen."""


class AnchoredTemplate:
    """A template in the `AnchorIndex`."""

    __slots__ = ("choices", "intent", "needs", "number", "pattern", "place")

    def __init__(
        self, intent: TemplateIntent, number: int, pattern: Pattern, found: list[Anchor], place: tuple[Anchor, Anchor]
    ) -> None:
        self.intent = intent
        self.number = number
        """Which of the intent's templates it is."""
        self.pattern = pattern
        self.place = place
        """The anchors it is filed under."""
        self.needs = frozenset([anchor[0] for anchor in found if len(anchor) == 1])
        """Words that every sentence has."""
        self.choices = tuple([frozenset(anchor) for anchor in sorted(found, key=len) if len(anchor) > 1])
        """Of each of these, every sentence has one word."""

    def matches(self, said: list[str]) -> list[ExactMatch]:
        """One for each of its sentences that fits."""
        for words in self.choices:
            if words.isdisjoint(said):
                return []
        kinds = self.pattern.kinds
        return [ExactMatch(self.intent, self.number, sentence, kinds) for sentence in self.pattern.fitting(said)]


class AnchorIndex:
    """Templates by two words (or sets of words) that each of their sentences has."""

    # Another thread may read while this one adds: tuples of templates are replaced, never changed.
    __slots__ = ("_of", "_uses")

    def __init__(self) -> None:
        self._of: dict[str, dict[str, tuple[AnchoredTemplate, ...]]] = {}
        """By the first word, then by the second."""
        self._uses: dict[str, int] = {}
        """How many templates have a word as an anchor."""

    def add(self, intent: TemplateIntent, number: int, pattern: Pattern) -> AnchoredTemplate:
        """Add a template."""
        found = anchors(pattern)
        one, other = self._place(found)
        anchored = AnchoredTemplate(intent, number, pattern, found, (one, other))
        for word in chain.from_iterable(found):
            self._uses[word] = self._uses.get(word, 0) + 1
        for word in one:
            under = self._of.setdefault(word, {})
            for second in other:
                under[second] = (*under.get(second, ()), anchored)
        return anchored

    def remove(self, anchored: AnchoredTemplate) -> None:
        """Remove a template."""
        for word in chain.from_iterable(anchors(anchored.pattern)):
            self._uses[word] -= 1
            if not self._uses[word]:
                del self._uses[word]
        one, other = anchored.place
        for word in one:
            under = self._of[word]
            for second in other:
                left = tuple([there for there in under[second] if there is not anchored])
                if left:
                    under[second] = left
                else:
                    del under[second]
            if not under:
                del self._of[word]

    def matches(self, said: list[str]) -> list[ExactMatch]:
        """The matches of every sentence that fits, in no order."""
        return [match for anchored in self._met(said) for match in anchored.matches(said)] if self._of else []

    def _met(self, said: list[str]) -> dict[AnchoredTemplate, None]:
        """The templates whose anchors and needed words were all said, each once."""
        of = self._of
        words = {_ALONE, *said}
        met: dict[AnchoredTemplate, None] = {}
        for word in words & of.keys():
            under = of[word]
            for second in words & under.keys():
                for anchored in under[second]:
                    if anchored.needs <= words:
                        met[anchored] = None
        return met

    def _place(self, found: list[Anchor]) -> tuple[Anchor, Anchor]:
        """The two anchors to file a template under: with the fewest templates so far, then the rarest and longest
        words."""
        found = sorted(found, key=self._rarity)[:_TRIED]
        pairs = [pair for pair in combinations(found, 2) if len(pair[0]) * len(pair[1]) <= _PAIRS]
        # The first of the best: they come rarest first.
        return min(pairs, key=self._load) if pairs else (found[0], (_ALONE,))

    def _rarity(self, anchor: Anchor) -> tuple[int, int]:
        uses = self._uses
        return sum([uses.get(word, 0) for word in anchor]), -min(map(len, anchor))

    def _load(self, pair: tuple[Anchor, Anchor]) -> int:
        nothing: dict[str, tuple[AnchoredTemplate, ...]] = {}
        unders = [self._of.get(word, nothing) for word in pair[0]]
        return sum([len(under.get(second, ())) for under in unders for second in pair[1]])


Fit = tuple[ExactMatch, SentenceParts, int]
"""The match if the words fit the parts, and how many words that takes at least."""


class ExactIndex:
    """The templates of one language under one session id."""

    # Another thread may read while this one adds: tuples of entries are replaced, never changed.
    __slots__ = ("_anchored", "_begins", "_by_anchor", "_ends", "_lines", "_plain")

    def __init__(self) -> None:
        self._plain: dict[Sentence, tuple[ExactMatch, ...]] = {}
        """Those that are one sentence without slots."""
        self._begins: EdgeIndex[Fit] = EdgeIndex()
        """Those that are one sentence with slots, by the words before the first."""
        self._ends: EdgeIndex[Fit] = EdgeIndex()
        """Others of them, by the words after the last."""
        self._by_anchor = AnchorIndex()
        """All others."""
        self._lines: dict[TemplateIntent, list[tuple[EdgeIndex[Fit], Sentence, Fit]]] = {}
        self._anchored: dict[TemplateIntent, list[AnchoredTemplate]] = {}
        """Where those of an intent are."""

    @property
    def is_empty(self) -> bool:
        """Whether it has no intent."""
        return not self._lines

    def add(self, intent: TemplateIntent) -> None:
        """Add an intent's templates."""
        lines = self._lines[intent] = []
        anchored = self._anchored[intent] = []
        for number, pattern in enumerate(intent.patterns):
            if isinstance(pattern, PatternSentence):
                match = ExactMatch(intent, number, pattern.sentence, pattern.kinds)
                if match.parts is None:
                    self._plain[pattern.sentence] = (*self._plain.get(pattern.sentence, ()), match)
                    continue
                edges, edge = self._edge(match.parts)
                if edge and edges.load(edge) < CROWDED:
                    fit = match, match.parts, len(pattern.sentence)
                    edges.add(edge, edge[0] if edges is self._begins else edge[-1], fit)
                    lines.append((edges, edge, fit))
                    continue
            anchored.append(self._by_anchor.add(intent, number, pattern))

    def remove(self, intent: TemplateIntent) -> None:
        """Remove an intent's templates."""
        if intent not in self._lines:
            return
        for pattern in intent.patterns:
            if isinstance(pattern, PatternSentence) and pattern.is_plain and pattern.sentence in self._plain:
                left = tuple([match for match in self._plain[pattern.sentence] if match.intent is not intent])
                if left:
                    self._plain[pattern.sentence] = left
                else:
                    del self._plain[pattern.sentence]
        for edges, edge, fit in self._lines.pop(intent):
            edges.remove(edge, edge[0] if edges is self._begins else edge[-1], fit)
        for anchored in self._anchored.pop(intent):
            self._by_anchor.remove(anchored)

    def matches(self, said: list[str]) -> list[ExactMatch]:
        """The matches of every sentence that fits, best first."""
        if not said:
            return []
        whole = tuple(said)
        matches = [*self._plain.get(whole, ()), *self._by_anchor.matches(said)]
        size = len(said)
        for match, parts, least in self._begins.begins(whole) + self._ends.ends(whole):
            if size >= least and fits(parts, said):
                matches.append(match)
        if len(matches) > 1:
            matches.sort(key=by_rank)
        return matches

    def _edge(self, parts: SentenceParts) -> tuple[EdgeIndex[Fit], Sentence]:
        """Where to file a sentence with slots: under its longer edge, unless too many share that one."""
        begin, end = tuple(parts.chunks[0]), tuple(parts.chunks[-1])
        if len(end) > len(begin) or (end and self._begins.load(begin) >= CROWDED):
            return self._ends, end
        return self._begins, begin
