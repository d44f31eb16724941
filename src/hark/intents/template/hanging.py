"""Templates found by two words that they cannot do without.

A template hangs on two words (or sets of alternatives) that each of its sentences has, a rare pair. What was said
therefore leads to few templates however many there are, and these are compared.
"""

from __future__ import annotations

from itertools import chain, combinations
from typing import Final

from hark.intents.definition import TemplateIntent
from hark.intents.patterns import Anchor, Pattern, anchors
from hark.intents.template.claims import Claim

_ALONE: Final = ""
"""The second word of what hangs on one alone."""
_PAIRS: Final = 64
"""A template hangs on two sets of words only if they make no more pairs than this."""
_TRIED: Final = 4
"""Words (or sets) of a template among which the pair is chosen."""


class Hung:
    """A template in its place."""

    __slots__ = ("choices", "intent", "needs", "number", "pattern", "place")

    def __init__(
        self, intent: TemplateIntent, number: int, pattern: Pattern, found: list[Anchor], place: tuple[Anchor, Anchor]
    ) -> None:
        self.intent = intent
        self.number = number
        """Which of the intent's templates it is."""
        self.pattern = pattern
        self.place = place
        """What it hangs on."""
        self.needs = frozenset([anchor[0] for anchor in found if len(anchor) == 1])
        """Words that every sentence has."""
        self.choices = tuple([frozenset(anchor) for anchor in sorted(found, key=len) if len(anchor) > 1])
        """Of each of these, every sentence has one word."""

    def claims(self, said: list[str]) -> list[Claim]:
        """One for each of its sentences that fits."""
        for words in self.choices:
            if words.isdisjoint(said):
                return []
        return [Claim(self.intent, self.number, sentence) for sentence in self.pattern.fitting(said)]


class Hanging:
    """Templates by the words they hang on."""

    # Readers may be on another thread than the one that adds: what hangs somewhere is replaced whole, never changed.
    __slots__ = ("_of", "_uses")

    def __init__(self) -> None:
        self._of: dict[str, dict[str, tuple[Hung, ...]]] = {}
        """By one word they hang on, then by the other."""
        self._uses: dict[str, int] = {}
        """How many cannot do without a word."""

    def add(self, intent: TemplateIntent, number: int, pattern: Pattern) -> Hung:
        """Hang a template up."""
        found = anchors(pattern)
        one, other = self._place(found)
        hung = Hung(intent, number, pattern, found, (one, other))
        for word in chain.from_iterable(found):
            self._uses[word] = self._uses.get(word, 0) + 1
        for word in one:
            under = self._of.setdefault(word, {})
            for second in other:
                under[second] = (*under.get(second, ()), hung)
        return hung

    def remove(self, hung: Hung) -> None:
        """Take a template down."""
        for word in chain.from_iterable(anchors(hung.pattern)):
            self._uses[word] -= 1
            if not self._uses[word]:
                del self._uses[word]
        one, other = hung.place
        for word in one:
            under = self._of[word]
            for second in other:
                left = tuple([there for there in under[second] if there is not hung])
                if left:
                    under[second] = left
                else:
                    del under[second]
            if not under:
                del self._of[word]

    def claims(self, said: list[str]) -> list[Claim]:
        """The claims of every sentence that fits, in no order."""
        return [claim for hung in self._met(said) for claim in hung.claims(said)] if self._of else []

    def _met(self, said: list[str]) -> dict[Hung, None]:
        """The templates that hang on what was said and all whose needed words were said, each once."""
        of = self._of
        words = {_ALONE, *said}
        met: dict[Hung, None] = {}
        for word in words & of.keys():
            under = of[word]
            for second in words & under.keys():
                for hung in under[second]:
                    if hung.needs <= words:
                        met[hung] = None
        return met

    def _place(self, found: list[Anchor]) -> tuple[Anchor, Anchor]:
        """The two to hang a template on: where least hangs so far, then the rarest and longest words."""
        found = sorted(found, key=self._rarity)[:_TRIED]
        pairs = [pair for pair in combinations(found, 2) if len(pair[0]) * len(pair[1]) <= _PAIRS]
        # The first of the best: they come rarest first.
        return min(pairs, key=self._load) if pairs else (found[0], (_ALONE,))

    def _rarity(self, anchor: Anchor) -> tuple[int, int]:
        uses = self._uses
        return sum([uses.get(word, 0) for word in anchor]), -min(map(len, anchor))

    def _load(self, pair: tuple[Anchor, Anchor]) -> int:
        nothing: dict[str, tuple[Hung, ...]] = {}
        unders = [self._of.get(word, nothing) for word in pair[0]]
        return sum([len(under.get(second, ())) for under in unders for second in pair[1]])
