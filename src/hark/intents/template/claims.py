"""A sentence that fits what was said."""

from __future__ import annotations

from operator import attrgetter

from hark.intents.definition import TemplateIntent
from hark.intents.grammar import Sentence, is_slot
from hark.intents.patterns import Shape


class Claim:
    """A sentence of an intent that fits."""

    __slots__ = ("intent", "literals", "rank", "sentence", "shape")

    def __init__(self, intent: TemplateIntent, number: int, sentence: Sentence) -> None:
        self.intent = intent
        self.sentence = sentence
        self.literals = sum([not is_slot(term) for term in sentence])
        self.shape = Shape(sentence) if self.literals < len(sentence) else None
        """None where there is no slot."""
        self.rank = (-self.literals, intent.order, number)
        """Smallest first: most literal words, so those without slots lead; then whoever registered first."""


by_rank = attrgetter("rank")
