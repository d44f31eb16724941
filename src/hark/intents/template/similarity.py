"""The similarity of an utterance to the sentences of intents: an index from features to the intents that have them.

The similarity is the cosine between the utterance and the mean of the intent's sentences, each feature weighted by how
few intents have it. Only intents that share a rare feature with the utterance are compared. Rarity is counted, not
stored: registering one intent changes nothing in the others.
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
from hark.intents.template.scoring import Barred, QueryFeatures, rarity, score_candidates
from hark.intents.template.trigrams import TrigramIndex

_UNCOMMON: Final = 3
"""A word of so many intents is not yet common, however few intents there are."""
_SEEN: Final = 0.35
"""The exponent of the share of a slot's values that have a word."""
_SAME: Final = 0.6
"""How similar to a known word an unknown one has to be to count as that word."""
_USUAL: Final = 0.61
"""The rarity of a usual feature is this power of that of the rarest one: with it, scores mean about the same with seven
intents and with a hundred and fifty."""
_NEAR: Final = 32
"""Intents among which the nearest is searched."""
_size, _part, _rare = itemgetter(0), itemgetter(2), itemgetter(3)
_BOUND: Final = 1.0 / LEAST_COHERENT**COHERENCE

Ranked = tuple[float, Profile]
"""The similarity of the utterance, and the intent."""


class SimilarityIndex:
    """All intents of one language under one session id, by the features of their sentences."""

    __slots__ = (
        "_breadth",
        "_features",
        "_fillers",
        "_postings",
        "_profiles",
        "_query_features",
        "_slots",
        "_trigrams",
        "_usual",
        "_values",
        "gated",
    )

    def __init__(self) -> None:
        self._profiles: dict[TemplateIntent, Profile] = {}
        self._postings = FeatureIndex()
        self._features = self._postings.of
        self._slots: dict[SlotKey, SlotWords] = {}
        self._values: dict[str, tuple[ValueOf, ...]] = {}
        self._fillers = NO_FILLERS
        self._trigrams = TrigramIndex()
        self._query_features = QueryFeatures(self._features, self._values, self._fillers, 0, self._trigrams)
        self._usual: tuple[float, float] | None = None
        """The rarity of a usual feature, which some intents have, and that of an unknown word; computed when needed."""
        self.gated = 0
        """How many intents depend on the context."""
        self._breadth = 1.0
        """The largest breadth of any intent so far; removing one does not lower it."""

    @property
    def is_empty(self) -> bool:
        """Whether it has neither intents nor values."""
        return not self._profiles and not self._slots

    def add(self, intent: TemplateIntent) -> None:
        """Add an intent."""
        self._fillers = fillers(intent.lang)
        traits = Traits(intent)
        profile = self._profiles[intent] = Profile(intent, traits)
        self._breadth = max(self._breadth, profile.breadth)
        self.gated += bool(intent.requires_context or intent.excludes_context)
        for name, share in profile.slots.items():
            self._slot(intent.skill_id, name).users.add(profile, sqrt(VALUE * share))
        self._postings.add(profile, traits.strengths)
        self._trigrams.add(filter(is_word, traits.strengths))
        self._measure(profile)
        self._forget_counts()

    def remove(self, intent: TemplateIntent) -> None:
        """Remove an intent."""
        profile = self._profiles.pop(intent)
        self.gated -= bool(intent.requires_context or intent.excludes_context)
        strengths = Traits(intent).strengths
        self._postings.remove(profile, strengths)
        self._trigrams.remove(filter(is_word, strengths))
        for name in profile.slots:
            self._slots[intent.skill_id, name].users.drop(profile)
            self._forget_slot((intent.skill_id, name))
        self._forget_counts()

    def learn(self, key: SlotKey, values: Iterable[str]) -> None:
        """Replace the known values of a slot; none to forget them."""
        slot = self._slot(*key)
        self._trigrams.remove(filter(is_word, slot.words))
        for word in slot.words:
            left = tuple(entry for entry in self._values[word] if entry[0] is not slot.users)
            if left:
                self._values[word] = left
            else:
                del self._values[word]
        slot.learn(values)
        self._trigrams.add(filter(is_word, slot.words))
        for word, share in slot.words.items():
            self._values[word] = (*self._values.get(word, ()), (slot.users, share**_SEEN))
        for profile in slot.users:
            profile.tagger = None
            self._measure(profile)
        self._forget_counts()
        self._forget_slot(key)

    def profile(self, intent: TemplateIntent) -> Profile | None:
        """An intent's profile, if it is in this index."""
        return self._profiles.get(intent)

    def profiles(self) -> Iterable[Profile]:
        """All of them, in the order of registration."""
        return self._profiles.values()

    def slot_words(self, profile: Profile) -> dict[str, SlotWords]:
        """The known words of an intent's slots."""
        skill_id, slots = profile.intent.skill_id, self._slots
        # Of very many sentences only some are indexed: a slot may be in none of those.
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

    def correction_of(self, profile: Profile, word: str) -> str:
        """The word of an intent's sentences that an unknown word is nearly the same as; empty if there is none."""
        if word in self._features or word in self._values:
            return ""
        for other, alike in self._trigrams.of(word):
            if alike >= _SAME and self.has(profile, other):
                return other
        return ""

    def unknown(self, said: Sequence[str]) -> list[str]:
        """The words that no sentence has."""
        return self._query_features.unknown(said)

    def foreign(self, profile: Profile, said: Sequence[str]) -> int:
        """How many of the words other intents have and this one has not, not counting common words."""
        common = max(_UNCOMMON, len(self._profiles) // 4)
        foreign = 0
        for word in said:
            posting = self._features.get(word)
            if isinstance(posting, tuple):
                foreign += posting[0] is not profile
            elif posting is not None:
                foreign += len(posting) <= common and profile not in posting
        return foreign

    def nearest(self, said: Sequence[str]) -> tuple[int, TemplateIntent] | None:
        """Of the intents with the rarest word of the utterance, one that has most of its words, and how many. Of very
        many intents only some are compared."""
        words = set(said)
        rarest = min([word for word in said if word in self._features], key=self.count, default=None)
        if rarest is None:
            return None
        posting = self._features[rarest]
        holders = [posting[0]] if isinstance(posting, tuple) else list(islice(list(posting), _NEAR))
        found = [(sum([self.has(profile, word) for word in words]), -profile.intent.order) for profile in holders]
        most = max(found)
        return most[0], holders[found.index(most)].intent

    def rank(self, said: Sequence[str], least: float = 0.0, barred: Barred = None) -> list[Ranked]:
        """The most similar intents, best first; empty when none can reach the similarity `least`."""
        entries, unknown = self._query_features.read(said)
        if not entries:
            return []
        found = sorted(entries.values(), key=_size)
        square = sum(map(_part, found))
        usual, rarest = self._usual or self._measure_usual()
        unknown *= rarest * rarest
        # An upper bound: no intent has more than all known features, and none is rarer than the rarest.
        if _BOUND * max(map(_rare, found)) / usual * sqrt(square / (square + unknown / self._breadth)) < least:
            return []
        needed = least * usual * sqrt(square)
        ranked = [
            (total / (profile.scale * (usual * sqrt(square + unknown / profile.breadth))), profile)
            for total, profile in score_candidates(found, needed, barred)
        ]
        if len(ranked) > 1:
            ranked.sort(key=_size, reverse=True)
        return ranked

    def _measure_usual(self) -> tuple[float, float]:
        intents = len(self._profiles)
        rarest = rarity(intents, 1.0)
        self._usual = rarest**_USUAL, rarest
        return self._usual

    def _measure(self, profile: Profile) -> None:
        slots, skill_id = self._slots, profile.intent.skill_id
        profile.measure(sum([VALUE * share * slots[skill_id, name].size for name, share in profile.slots.items()]))

    def _forget_counts(self) -> None:
        """Discard what was computed from the counts."""
        self._query_features = QueryFeatures(
            self._features, self._values, self._fillers, len(self._profiles), self._trigrams
        )
        self._usual = None

    def _slot(self, skill_id: str, name: str) -> SlotWords:
        return self._slots.setdefault((skill_id, name), SlotWords())

    def _forget_slot(self, key: SlotKey) -> None:
        if not self._slots[key].users and not self._slots[key].words:
            del self._slots[key]
