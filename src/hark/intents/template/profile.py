"""Profiles of intents: what their sentences and the known values of their slots consist of, and an index of those
features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import sqrt
from typing import TYPE_CHECKING, Final

from hark.intents.grammar import is_slot
from hark.intents.patterns import is_always
from hark.intents.registration import TemplateIntent
from hark.intents.template.features import STEM, features, telling

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


class PostingList(dict[Profile, float]):
    """The intents that have something, and how strongly: the root of the share of their sentences that do."""

    __slots__ = ("mass",)

    def __init__(self) -> None:
        super().__init__()
        self.mass = 0.0
        """The sum of the shares: an intent with it in one sentence of ten adds a tenth."""

    def add(self, profile: Profile, strength: float) -> None:
        """Enter an intent."""
        self[profile] = strength
        self.mass += strength * strength

    def drop(self, profile: Profile) -> None:
        """Take an intent out again."""
        strength = self.pop(profile)
        self.mass -= strength * strength


SinglePosting = tuple[Profile, float]
"""An intent that is alone in having something. Most features have one intent, and a dict is four times as big."""


class FeatureIndex:
    """All features of all intents of one language under one session id."""

    __slots__ = ("of",)

    def __init__(self) -> None:
        self.of: dict[str, PostingList | SinglePosting] = {}
        """Who has a feature."""

    def add(self, profile: Profile, strengths: Mapping[str, float]) -> None:
        """Enter an intent with its features."""
        of = self.of
        for feature, strength in strengths.items():
            held = of.get(feature)
            if held is None:
                of[feature] = (profile, strength)
            elif isinstance(held, tuple):
                both = PostingList()
                both.add(*held)
                both.add(profile, strength)
                of[feature] = both
            else:
                held.add(profile, strength)

    def remove(self, profile: Profile, features: Iterable[str]) -> None:
        """Take an intent with these features out again."""
        for feature in features:
            held = self.of[feature]
            if isinstance(held, PostingList) and len(held) > 1:
                held.drop(profile)
            else:
                del self.of[feature]

    def count(self, feature: str) -> int:
        """How many intents have a feature."""
        held = self.of.get(feature)
        return 0 if held is None else 1 if isinstance(held, tuple) else len(held)

    def has(self, profile: Profile, feature: str) -> bool:
        """Whether an intent has a feature."""
        held = self.of.get(feature)
        return held is not None and (held[0] is profile if isinstance(held, tuple) else profile in held)


SlotKey = tuple[str, str]
"""Skill and slot."""
ValueOf = tuple[PostingList, float]
"""Of a word that is part of a known value: the intents with that slot, and the root of the share of values with it."""

VALUE: Final = 1.2
"""What a word of a known value counts beside a word of a sentence."""

MANY: Final = 1_000
"""A list longer than this says little by its single words, and would cost memory for it."""


class SlotWords:
    """One slot of one skill: the intents that have it, and the words its known values are made of."""

    __slots__ = ("longest", "numbers", "size", "users", "words")

    def __init__(self) -> None:
        self.users = PostingList()
        """The intents that have the slot, and how strongly: by the share of their sentences."""
        self.words: dict[str, float] = {}
        """Words and stems, and the share of the values that have them."""
        self.size = 0.0
        """Words and stems a value has on average."""
        self.longest = 3
        """Words of the longest value."""
        self.numbers: float | None = None
        """The share of the values that have a number in them."""

    def learn(self, values: Iterable[str]) -> None:
        """Take these values for the known ones."""
        texts = list(values)
        counted: Counter[str] = Counter()
        if len(texts) <= MANY:
            for text in texts:
                words = set(text.split())
                counted.update(words | {"^" + word[:STEM] for word in words if len(word) > STEM})
        self.words = {word: count / len(texts) for word, count in counted.items()}
        self.size = sum(self.words.values())
        self.longest = max((text.count(" ") + 1 for text in texts), default=3)
        numeric = sum(any(word.isdigit() for word in text.split()) for text in texts[:MANY])
        self.numbers = numeric / len(texts[:MANY]) if texts else None
