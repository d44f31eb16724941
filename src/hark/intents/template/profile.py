"""What an intent's sentences have in common."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from typing import TYPE_CHECKING, Final

from hark.intents.definition import TemplateIntent
from hark.intents.grammar import is_slot
from hark.intents.patterns import is_always
from hark.intents.template.features import features, telling

if TYPE_CHECKING:
    from hark.intents.template.tagger import Tagger

COHERENCE: Final = 0.4
"""How much is made of the coherence of an intent's sentences when it is compared with others."""
LEAST_COHERENT: Final = 0.1
_WIDE: Final = 1.23
"""What an intent with slots has to have more of: words nobody knows hardly speak against it."""
_ENOUGH: Final = 3
"""Sentences that show what an intent is never without."""
_TYPICAL: Final = 0.8
_PATIENCE: Final = 2
"""An intent with few sentences is taken to be as coherent as most: `_TYPICAL` counts as that many sentences."""


class Profile:
    """One intent as the index of likeness holds it. Nothing of it depends on other intents."""

    __slots__ = ("_bond", "_rows", "_square", "always", "breadth", "core", "intent", "scale", "slots", "tagger")

    def __init__(self, intent: TemplateIntent, traits: Traits) -> None:
        self.intent = intent
        taken = intent.samples
        counted = Counter([term[1:-1] for sentence in taken for term in sentence if is_slot(term)])
        self.slots = {name: count / len(taken) for name, count in counted.items()}
        """In what share of the sentences each slot stands."""
        self.always = tuple(
            name
            for name, share in self.slots.items()
            if share == 1 and all(is_always(name, pattern) for pattern in intent.patterns)
        )
        """The slots no sentence is without: a handler counts on them."""
        self.breadth = 1.0 + sum(self.slots.values())
        """One, and the slots a sentence has on average: words nobody knows are expected where there are slots."""
        self.core = frozenset.intersection(*map(telling, taken)) if len(taken) >= _ENOUGH else frozenset()
        """The telling words, by their beginnings, that no sentence is without."""
        self._square, self._bond, self._rows = traits.square, traits.bond, len(taken)
        self.scale = 1.0
        """What its raw likeness is divided by."""
        self.tagger: Tagger | None = None
        """Made when it is first needed."""
        self.measure(0.0)

    def measure(self, values: float) -> None:
        """Work out the scale: the length as a vector, to which known values add, and the coherence of the sentences."""
        length = sqrt(self._square + values)
        likeness = (_TYPICAL * _PATIENCE + self._bond / length) / (self._rows + _PATIENCE)
        self.scale = length * (LEAST_COHERENT + likeness) ** COHERENCE * _WIDE ** min(1.0, self.breadth - 1.0)


class Traits:
    """The features of an intent's sentences. Worked out when needed rather than kept, because it is large."""

    __slots__ = ("bond", "square", "strengths")

    def __init__(self, intent: TemplateIntent) -> None:
        rows = [features(sentence) for sentence in intent.samples]
        counts = Counter([feature for row in rows for feature in row])
        size = len(rows)
        # The root of the share: what half the sentences have is nearly as typical as what all have.
        self.strengths = {
            feature: sqrt(value * counts[feature] / size) for row in rows for feature, value in row.items()
        }
        """How strongly each belongs to the intent."""
        self.square = sum([strength * strength for strength in self.strengths.values()])
        """Of their length as a vector."""
        self.bond = self._bond(rows, counts)
        """How like the others the sentences are in sum, each measured without itself, times that length."""

    def _bond(self, rows: list[dict[str, float]], counts: Counter[str]) -> float:
        without = [0.0, 0.0, *(sqrt((count - 1) / count) for count in range(2, len(rows) + 1))]
        total = 0.0
        for row in rows:
            product = square = 0.0
            for feature, value in row.items():
                square += value * value
                product += value * self.strengths[feature] * without[counts[feature]]
            total += product / sqrt(square)
        return total
