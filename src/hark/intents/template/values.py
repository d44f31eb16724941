"""What the known values of slots say about an utterance: "jazz" is a genre, so somebody may want to play it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from hark.intents.template.features import STEM
from hark.intents.template.postings import Held

SlotKey = tuple[str, str]
"""Skill and slot."""
ValueOf = tuple[Held, float]
"""Of a word that is part of a known value: the intents with that slot, and the root of the share of values with it."""

VALUE: Final = 1.2
"""What a word of a known value counts beside a word of a sentence."""

MANY: Final = 1_000
"""A list longer than this says little by its single words, and would cost memory for it."""


class SlotWords:
    """One slot of one skill: the intents that have it, and the words its known values are made of."""

    __slots__ = ("longest", "numbers", "size", "users", "words")

    def __init__(self) -> None:
        self.users = Held()
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
