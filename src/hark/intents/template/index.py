"""The template intents of one language: their templates, and what their sentences are made of."""

from __future__ import annotations

from collections.abc import Iterable

from hark.intents.definition import TemplateIntent
from hark.intents.template.exact import Exact
from hark.intents.template.likeness import Likeness
from hark.intents.template.profile import Profile
from hark.intents.template.tagger import Known, Tagger
from hark.intents.template.values import SlotKey


class TemplateIndex:
    """Finds sentences as written (`exact`) and sentences like the written ones (`likeness`)."""

    __slots__ = ("exact", "likeness")

    def __init__(self) -> None:
        self.exact = Exact()
        self.likeness = Likeness()

    @property
    def is_bare(self) -> bool:
        """Whether there is nothing in it."""
        return self.exact.is_bare and self.likeness.is_bare

    def add(self, intent: TemplateIntent) -> None:
        """Enter an intent; what it costs does not depend on the others."""
        self.exact.add(intent)
        self.likeness.add(intent)

    def remove(self, intent: TemplateIntent) -> None:
        """Take an intent out again."""
        self.exact.remove(intent)
        self.likeness.remove(intent)

    def learn(self, key: SlotKey, values: Iterable[str]) -> None:
        """Take these values for the known ones of a slot; none to forget them."""
        self.likeness.learn(key, values)

    def tagger(self, profile: Profile, known: Known) -> Tagger:
        """What finds the slots of an intent of this index; kept until a registration changes what it knows."""
        if profile.tagger is None:
            slots = self.likeness.slot_words(profile)
            profile.tagger = Tagger(profile.intent.samples, known, slots, self._is_common)
        return profile.tagger

    def _is_common(self, word: str) -> bool:
        return self.likeness.count(word) > 1
