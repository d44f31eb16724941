"""How like an intent's sentences an utterance is: an index from features to the intents that have them.

The likeness is the cosine between what was said and the middle of the intent's sentences, each feature weighted by how
few intents have it. An utterance only ever meets the intents it shares something rare with. Rarity is counted, not
stored: registering one intent changes nothing of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from math import sqrt
from operator import itemgetter
from typing import Final

from hark.intents.registration import TemplateIntent
from hark.intents.template.features import NO_FILLERS, fillers, is_word
from hark.intents.template.profile import (
    COHERENCE,
    LEAST_COHERENT,
    VALUE,
    FeatureIndex,
    Profile,
    SlotKey,
    SlotWords,
    Traits,
    ValueOf,
)
from hark.intents.template.scoring import QueryFeatures, rarity, score_candidates
from hark.intents.template.trigrams import TrigramIndex

_UNCOMMON: Final = 3
"""A word of so many intents is not common yet, however few there are."""
_SEEN: Final = 0.35
"""How much is made of how many values of a slot have a word, from 0 (nothing) to 1."""
_SAME: Final = 0.6
"""How like a known word a strange one has to be to stand for it."""
_NEAR: Final = 32
"""Intents among which the nearest is looked for."""
_size, _part, _rare = itemgetter(0), itemgetter(2), itemgetter(3)
_BOUND: Final = 1.0 / LEAST_COHERENT**COHERENCE

Ranked = tuple[float, Profile]
"""How like it the utterance is, and the intent."""


class SimilarityIndex:
    """All intents of one language under one session id, by what their sentences are made of."""

    __slots__ = (
        "_breadth",
        "_features",
        "_fillers",
        "_kindred",
        "_postings",
        "_profiles",
        "_readings",
        "_slots",
        "_usual",
        "_values",
    )

    def __init__(self) -> None:
        self._profiles: dict[TemplateIntent, Profile] = {}
        self._postings = FeatureIndex()
        self._features = self._postings.of
        self._slots: dict[SlotKey, SlotWords] = {}
        self._values: dict[str, tuple[ValueOf, ...]] = {}
        self._fillers = NO_FILLERS
        self._kindred = TrigramIndex()
        self._readings = QueryFeatures(self._features, self._values, self._fillers, 0, self._kindred)
        self._usual: tuple[float, float] | None = None
        """The rarity of a usual feature of a sentence, neither one intent's alone nor everybody's, and that of a word
        nobody has; worked out when needed."""
        self._breadth = 1.0
        """The broadest there has been: only ever too large."""

    @property
    def is_bare(self) -> bool:
        """Whether there is nothing in it, neither intents nor values."""
        return not self._profiles and not self._slots

    def add(self, intent: TemplateIntent) -> None:
        """Enter an intent."""
        self._fillers = fillers(intent.lang)
        traits = Traits(intent)
        profile = self._profiles[intent] = Profile(intent, traits)
        self._breadth = max(self._breadth, profile.breadth)
        for name, share in profile.slots.items():
            self._slot(intent.skill_id, name).users.add(profile, sqrt(VALUE * share))
        self._postings.add(profile, traits.strengths)
        self._kindred.add(filter(is_word, traits.strengths))
        self._measure(profile)
        self._forget_counts()

    def remove(self, intent: TemplateIntent) -> None:
        """Take an intent out again."""
        profile = self._profiles.pop(intent)
        strengths = Traits(intent).strengths
        self._postings.remove(profile, strengths)
        self._kindred.remove(filter(is_word, strengths))
        for name in profile.slots:
            self._slots[intent.skill_id, name].users.drop(profile)
            self._forget_slot((intent.skill_id, name))
        self._forget_counts()

    def learn(self, key: SlotKey, values: Iterable[str]) -> None:
        """Take these values for the known ones of a slot; none to forget them."""
        slot = self._slot(*key)
        self._kindred.remove(filter(is_word, slot.words))
        for word in slot.words:
            left = tuple(entry for entry in self._values[word] if entry[0] is not slot.users)
            if left:
                self._values[word] = left
            else:
                del self._values[word]
        slot.learn(values)
        self._kindred.add(filter(is_word, slot.words))
        for word, share in slot.words.items():
            self._values[word] = (*self._values.get(word, ()), (slot.users, share**_SEEN))
        for profile in slot.users:
            profile.tagger = None
            self._measure(profile)
        self._forget_counts()
        self._forget_slot(key)

    def profile(self, intent: TemplateIntent) -> Profile | None:
        """An intent's profile, if it is here."""
        return self._profiles.get(intent)

    def slot_words(self, profile: Profile) -> dict[str, SlotWords]:
        """What is known about an intent's slots."""
        skill_id, slots = profile.intent.skill_id, self._slots
        # Of very many sentences some are looked at: there may be a slot in none of those.
        return {name: slots.get((skill_id, name)) or SlotWords() for name in profile.intent.slots}

    def count(self, feature: str) -> int:
        """How many intents have a word (or stem, or pair) in their sentences."""
        return self._postings.count(feature)

    def is_value(self, word: str) -> bool:
        """Whether a word is part of a known value of some slot."""
        return word in self._values

    def has(self, profile: Profile, feature: str) -> bool:
        """Whether a word (or stem, or pair) is in an intent's sentences."""
        return self._postings.has(profile, feature)

    def slip_of(self, profile: Profile, word: str) -> str:
        """The word of an intent's sentences that a word nobody has is nearly the same as; empty if there is none."""
        if word in self._features or word in self._values:
            return ""
        for other, alike in self._kindred.of(word):
            if alike >= _SAME and self.has(profile, other):
                return other
        return ""

    def unknown(self, said: Sequence[str]) -> list[str]:
        """The words that are in nobody's sentences."""
        return self._readings.unknown(said)

    def foreign(self, profile: Profile, said: Sequence[str]) -> int:
        """How many of the words are others' and not this intent's, common words aside."""
        common = max(_UNCOMMON, len(self._profiles) // 4)
        foreign = 0
        for word in said:
            held = self._features.get(word)
            if isinstance(held, tuple):
                foreign += held[0] is not profile
            elif held is not None:
                foreign += len(held) <= common and profile not in held
        return foreign

    def nearest(self, said: Sequence[str]) -> tuple[int, TemplateIntent] | None:
        """Of the intents with the rarest word that was said, one that has most of the others, and how many it has. Of
        very many, some are looked at."""
        words = set(said)
        rarest = min([word for word in said if word in self._features], key=self.count, default=None)
        if rarest is None:
            return None
        held = self._features[rarest]
        holders = [held[0]] if isinstance(held, tuple) else list(islice(list(held), _NEAR))
        found = [(sum([self.has(profile, word) for word in words]), -profile.intent.order) for profile in holders]
        most = max(found)
        return most[0], holders[found.index(most)].intent

    def rank(self, said: Sequence[str], least: float = 0.0) -> list[Ranked]:
        """The intents that are likest, best first; empty when none can be as like as `least`."""
        entries, strange = self._readings.read(said)
        if not entries:
            return []
        found = sorted(entries.values(), key=_size)
        square = sum(map(_part, found))
        usual, strangest = self._usual or self._measure_usual()
        strange *= strangest * strangest
        # No intent has more than all that is known, nor is anything rarer than the rarest: it cannot be more than this.
        if _BOUND * max(map(_rare, found)) / usual * sqrt(square / (square + strange / self._breadth)) < least:
            return []
        needed = least * usual * sqrt(square)
        ranked = [
            (total / (profile.scale * (usual * sqrt(square + strange / profile.breadth))), profile)
            for total, profile in score_candidates(found, needed)
        ]
        if len(ranked) > 1:
            ranked.sort(key=_size, reverse=True)
        return ranked

    def _measure_usual(self) -> tuple[float, float]:
        intents = len(self._profiles)
        self._usual = rarity(intents, round(sqrt(intents))), rarity(intents, 1.0)
        return self._usual

    def _measure(self, profile: Profile) -> None:
        slots, skill_id = self._slots, profile.intent.skill_id
        profile.measure(sum([VALUE * share * slots[skill_id, name].size for name, share in profile.slots.items()]))

    def _forget_counts(self) -> None:
        """What was worked out from the counts holds no longer."""
        self._readings = QueryFeatures(self._features, self._values, self._fillers, len(self._profiles), self._kindred)
        self._usual = None

    def _slot(self, skill_id: str, name: str) -> SlotWords:
        return self._slots.setdefault((skill_id, name), SlotWords())

    def _forget_slot(self, key: SlotKey) -> None:
        if not self._slots[key].users and not self._slots[key].words:
            del self._slots[key]
