"""A template that is one sentence, as it is compared with what was said."""

from __future__ import annotations

from hark.intents.grammar import Sentence, is_slot
from hark.intents.patterns.shape import Shape, fits


class Line:
    """A template that is one sentence."""

    __slots__ = ("_shape", "sentence")

    def __init__(self, sentence: Sentence) -> None:
        self.sentence = sentence
        self._shape = Shape(sentence) if any(map(is_slot, sentence)) else None

    @property
    def is_plain(self) -> bool:
        """Whether it is words alone, without slots."""
        return self._shape is None

    def fitting(self, said: list[str]) -> list[Sentence]:
        """The sentence, if it fits."""
        sentence = self.sentence
        if self._shape is None:
            return [sentence] if len(said) == len(sentence) and tuple(said) == sentence else []
        return [sentence] if len(said) >= len(sentence) and fits(self._shape, said) else []

    def has(self, word: str) -> bool:
        """Whether it has a literal word."""
        return word in self.sentence
