"""Profiles of intents: what their sentences and the known values of their slots consist of, and an index of those
features.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING, Final

from hark.intents.grammar import is_slot
from hark.intents.patterns import is_always
from hark.intents.registration import TemplateIntent
from hark.intents.template.features import (
    STEM,
    content_stems,
    features,
    is_light,
    is_question,
    stating,
    tells_of_speaker,
    turning,
)

if TYPE_CHECKING:
    from hark.intents.template.tagger import Tagger


COHERENCE: Final = 0.4
"""The exponent of the coherence of an intent's sentences in its scale."""
LEAST_COHERENT: Final = 0.1
_WIDE: Final = 1.23
"""The factor in the scale of an intent with slots, since unknown words hardly count against it."""
_ENOUGH: Final = 3
"""The number of sentences that is enough to tell what an intent always has."""
_TYPICAL: Final = 0.8
_PATIENCE: Final = 2
"""An intent with few sentences is assumed to be as coherent as most: `_TYPICAL` counts as that many sentences."""


CAUTION: Final = 0.25
BROAD: Final = 30
"""An intent with so many different words, or more, is said in many ways."""
_A_LINE: Final = 6
_USUAL: Final = 2
"""How many different words a template is worth, and the number of templates that say nothing about variety."""
_A_CHOICE: Final = 1.5
"""How many different words a template is worth at most where templates have choices."""
_NARROW: Final = 1.5
_WARY: Final = 0.4


class Profile:
    """One intent in a `SimilarityIndex`. Nothing in it depends on other intents."""

    __slots__ = (
        "_about",
        "_cohesion",
        "_rows",
        "_square",
        "always",
        "asks",
        "breadth",
        "caution",
        "core",
        "has_choices",
        "intent",
        "is_broad",
        "numbers",
        "open",
        "scale",
        "slots",
        "states",
        "tagger",
        "tells",
        "turning",
    )

    def __init__(self, intent: TemplateIntent, traits: Traits) -> None:
        self.intent = intent
        taken = intent.samples
        counted = Counter([term[1:-1] for sentence in taken for term in sentence if is_slot(term)])
        self.slots = {name: count / len(taken) for name, count in counted.items()}
        """The share of the sentences that have each slot."""
        self.always = tuple(
            name
            for name, share in self.slots.items()
            if share == 1 and all(is_always(name, pattern) for pattern in intent.patterns)
        )
        """The slots that every sentence has: a handler relies on them."""
        self.breadth = 1.0 + sum(self.slots.values())
        """One plus the average number of slots in a sentence: slots are filled with unknown words."""
        self.core = frozenset.intersection(*map(content_stems, taken)) if len(taken) >= _ENOUGH else frozenset()
        """The beginnings of the content words that every sentence has."""
        known = {
            term[:STEM]
            for sentence in taken
            for term in sentence
            if not is_slot(term) and not is_light(term, intent.lang)
        }
        lines = len(intent.patterns)
        self.has_choices = len(taken) > lines
        """Whether its templates have choices: who writes them has said what may vary."""
        if self.has_choices:
            # A line with choices is one way to say it, whatever the choices: "you are (great|awesome|clever)".
            variety = max(1.0, min(len(known), _A_CHOICE * lines))
        else:
            variety = max(1.0, len(known), _A_LINE * (lines - _USUAL))
        self.caution = CAUTION * max(1.0, BROAD / variety) ** _NARROW
        """The exponent of the share of what was said that it explains: an intent whose sentences have few different
        words is not meant when others are said."""
        kinds = [pattern.kinds for pattern in intent.patterns if pattern.kinds]
        self.numbers = frozenset([name for of in kinds for name, types in of.items() if types == {"number"}])
        """The slots that take numbers."""
        self.open = frozenset([name for of in kinds for name, types in of.items() if "text" in types])
        """The slots that take any words, though values may be known."""
        self.asks = any(is_question(sentence, intent.lang) for sentence in taken)
        """Whether some of its sentences are questions."""
        statements = stating(intent.lang)
        self.states = any(sentence[0] in statements for sentence in taken)
        """Whether some of its sentences begin as statements do."""
        self.tells = any(tells_of_speaker(sentence, intent.lang) for sentence in taken)
        """Whether some of its sentences tell what the speaker does or did."""
        self.is_broad = self.caution < _WARY
        """Whether it is said in many ways."""
        own = frozenset([term for sentence in taken for term in sentence])
        self.turning = turning(own, intent.lang, self.is_broad)
        """The words that turn its meaning round, where they are not its own."""
        self._square, self._cohesion, self._rows = traits.square, traits.cohesion, len(taken)
        self.scale = 1.0
        """The divisor of its raw similarity."""
        self._about: tuple[frozenset[str], ...] | None = None
        self.tagger: Tagger | None = None
        """Created on first use."""
        self.measure(0.0)

    def covered(self, said: Collection[str]) -> float:
        """The largest share of the telling words of any of its sentences that were said, by their beginnings."""
        if self._about is None:
            lang = self.intent.lang
            rows = {
                frozenset([term[:STEM] for term in sentence if not is_slot(term) and not is_light(term, lang)])
                for sentence in self.intent.samples
            }
            self._about = () if frozenset() in rows else tuple(rows)
        stems = {word[:STEM] for word in said}
        return max([len(row & stems) / len(row) for row in self._about], default=1.0)

    def measure(self, values: float) -> None:
        """Compute the scale: the length as a vector, to which known values add, and the coherence of the sentences."""
        length = sqrt(self._square + values)
        similarity = (_TYPICAL * _PATIENCE + self._cohesion / length) / (self._rows + _PATIENCE)
        self.scale = length * (LEAST_COHERENT + similarity) ** COHERENCE * _WIDE ** min(1.0, self.breadth - 1.0)


@lru_cache(maxsize=4096)
def _strength(value: float, count: int, size: int) -> float:
    # Cached because few values occur, each thousands of times: they share one object.
    return sqrt(value * count / size)


class Traits:
    """The features of an intent's sentences. Computed when needed instead of kept, because they are large."""

    __slots__ = ("cohesion", "square", "strengths")

    def __init__(self, intent: TemplateIntent) -> None:
        rows = [features(sentence) for sentence in intent.samples]
        counts = Counter([feature for row in rows for feature in row])
        size = len(rows)
        # The root of the share: what half the sentences have is nearly as typical as what all have.
        self.strengths = {
            feature: _strength(value, counts[feature], size) for row in rows for feature, value in row.items()
        }
        """How strongly each feature belongs to the intent."""
        self.square = sum([strength * strength for strength in self.strengths.values()])
        """The square of their length as a vector."""
        self.cohesion = self._cohesion(rows, counts)
        """The sum of the similarity of each sentence to the others, times that length."""

    def _cohesion(self, rows: list[dict[str, float]], counts: Counter[str]) -> float:
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
    """The intents that have a feature, and how strongly: the square root of the share of their sentences with it."""

    __slots__ = ("mass",)

    def __init__(self) -> None:
        super().__init__()
        self.mass = 0.0
        """The sum of the shares: an intent with the feature in one sentence of ten adds a tenth."""

    def add(self, profile: Profile, strength: float) -> None:
        """Add an intent."""
        self[profile] = strength
        self.mass += strength * strength

    def drop(self, profile: Profile) -> None:
        """Remove an intent."""
        strength = self.pop(profile)
        self.mass -= strength * strength


SinglePosting = tuple[Profile, float]
"""The only intent that has a feature. Most features have one intent, and a dict is four times as big."""


class FeatureIndex:
    """All features of all intents of one language under one session id."""

    __slots__ = ("of",)

    def __init__(self) -> None:
        self.of: dict[str, PostingList | SinglePosting] = {}
        """The intents of each feature."""

    def add(self, profile: Profile, strengths: Mapping[str, float]) -> None:
        """Add an intent with its features."""
        of = self.of
        for feature, strength in strengths.items():
            posting = of.get(feature)
            if posting is None:
                of[feature] = (profile, strength)
            elif isinstance(posting, tuple):
                both = PostingList()
                both.add(*posting)
                both.add(profile, strength)
                of[feature] = both
            else:
                posting.add(profile, strength)

    def remove(self, profile: Profile, features: Iterable[str]) -> None:
        """Remove an intent with these features."""
        for feature in features:
            posting = self.of[feature]
            if isinstance(posting, PostingList) and len(posting) > 1:
                posting.drop(profile)
            else:
                del self.of[feature]

    def count(self, feature: str) -> int:
        """How many intents have a feature."""
        posting = self.of.get(feature)
        return 0 if posting is None else 1 if isinstance(posting, tuple) else len(posting)

    def has(self, profile: Profile, feature: str) -> bool:
        """Whether an intent has a feature."""
        posting = self.of.get(feature)
        return posting is not None and (posting[0] is profile if isinstance(posting, tuple) else profile in posting)


SlotKey = tuple[str, str]
"""Skill and slot."""
ValueOf = tuple[PostingList, float]
"""For a word of known values: the intents with that slot, and the root of the share of its values with the word."""

VALUE: Final = 1.2
"""The weight of a word of a known value, where a word of a sentence has 1."""

MANY: Final = 1_000
"""The single words of a longer list say little, and would cost memory."""


class SlotWords:
    """One slot of one skill: the intents that have it, and the words of its known values."""

    __slots__ = ("longest", "numbers", "size", "users", "words")

    def __init__(self) -> None:
        self.users = PostingList()
        """The intents that have the slot, by the share of their sentences."""
        self.words: dict[str, float] = {}
        """Words and stems, and the share of the values that have them."""
        self.size = 0.0
        """The average number of words and stems of a value."""
        self.longest = 3
        """The number of words of the longest value."""
        self.numbers: float | None = None
        """The share of the values that have a number in them."""

    def learn(self, values: Iterable[str]) -> None:
        """Replace the known values."""
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
