"""How like an intent's sentences an utterance is: an index from features to the intents that have them.

The likeness is the cosine between what was said and the middle of the intent's sentences, each feature weighted by how
few intents have it. An utterance only ever meets the intents it shares something rare with. Rarity is counted, not
stored: registering one intent changes nothing of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log, sqrt
from operator import itemgetter
from typing import Final, NamedTuple

from hark.intents.definition import TemplateIntent
from hark.intents.template.features import END, GAP, GAP_WEIGHT, PAIR_WEIGHT, START, STEM, STEM_WEIGHT, weight
from hark.intents.template.fillers import NO_FILLERS, fillers
from hark.intents.template.gathering import Entry, Postings, gather
from hark.intents.template.profile import COHERENCE, LEAST_COHERENT, Profile, Traits
from hark.intents.template.values import VALUE, SlotKey, SlotWords, ValueOf

_PRIOR: Final = 8
"""Intents that are imagined beside the real ones: in a small house every word seems rare."""
_UNCOMMON: Final = 3
"""A word of so many intents is not common yet, however few there are."""
_STEM_STRENGTH: Final = sqrt(STEM_WEIGHT)
"""How strongly a stem belongs to an intent beside its word."""
_size, _part = itemgetter(0), itemgetter(2)
_BOUND: Final = 1.0 / LEAST_COHERENT**COHERENCE

Ranked = tuple[float, Profile]
"""How like it the utterance is, and the intent."""


class _Read(NamedTuple):
    """What one word of an utterance comes to."""

    entries: dict[str, Entry]
    strange: float
    is_word: bool
    """Whether it is in somebody's sentences."""


_FILLER: Final = _Read({}, 0.0, False)


class Likeness:
    """All intents of one language under one session id, by what their sentences are made of."""

    __slots__ = (
        "_breadth",
        "_features",
        "_fillers",
        "_pairs",
        "_profiles",
        "_rarities",
        "_slots",
        "_usual",
        "_values",
        "_words",
    )

    def __init__(self) -> None:
        self._profiles: dict[TemplateIntent, Profile] = {}
        self._features: dict[str, Postings] = {}
        self._slots: dict[SlotKey, SlotWords] = {}
        self._values: dict[str, tuple[ValueOf, ...]] = {}
        self._rarities: dict[int, float] = {}
        self._words: dict[str, _Read] = {}
        self._pairs: dict[str, Entry] = {}
        self._fillers = NO_FILLERS
        self._usual = 0.0
        """The rarity of a usual feature of a sentence, neither one intent's alone nor everybody's; 0 until needed."""
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
            self._slot(intent.skill_id, name).users[profile] = sqrt(VALUE * share)
        for feature, strength in traits.strengths.items():
            held = self._features.get(feature)
            if held is None:
                self._features[feature] = (profile, strength)
            elif isinstance(held, tuple):
                self._features[feature] = {held[0]: held[1], profile: strength}
            else:
                held[profile] = strength
        self._measure(profile)
        self._forget_counts()

    def remove(self, intent: TemplateIntent) -> None:
        """Take an intent out again."""
        profile = self._profiles.pop(intent)
        for feature in Traits(intent).strengths:
            held = self._features[feature]
            if isinstance(held, dict) and len(held) > 1:
                del held[profile]
            else:
                del self._features[feature]
        for name in profile.slots:
            del self._slots[intent.skill_id, name].users[profile]
            self._forget_slot((intent.skill_id, name))
        self._forget_counts()

    def learn(self, key: SlotKey, values: Iterable[str]) -> None:
        """Take these values for the known ones of a slot; none to forget them."""
        slot = self._slot(*key)
        for word in slot.words:
            left = tuple(entry for entry in self._values[word] if entry[0] is not slot.users)
            if left:
                self._values[word] = left
            else:
                del self._values[word]
        slot.learn(values)
        for word, share in slot.words.items():
            self._values[word] = (*self._values.get(word, ()), (slot.users, sqrt(share)))
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
        return {name: self._slots[profile.intent.skill_id, name] for name in profile.intent.slots}

    def count(self, feature: str) -> int:
        """How many intents have a word (or stem, or pair) in their sentences."""
        held = self._features.get(feature)
        return 0 if held is None else 1 if isinstance(held, tuple) else len(held)

    def is_value(self, word: str) -> bool:
        """Whether a word is part of a known value of some slot."""
        return word in self._values

    def has(self, profile: Profile, feature: str) -> bool:
        """Whether a word (or stem, or pair) is in an intent's sentences."""
        held = self._features.get(feature)
        return held is not None and (held[0] is profile if isinstance(held, tuple) else profile in held)

    def unknown(self, said: Sequence[str]) -> list[str]:
        """The words that are in nobody's sentences."""
        features = self._features
        return [word for word in said if word not in features]

    def foreign(self, profile: Profile, said: Sequence[str]) -> int:
        """How many of the words are others' and not this intent's, common words aside."""
        common = max(_UNCOMMON, len(self._profiles) // 4)
        return sum([0 < self.count(word) <= common and not self.has(profile, word) for word in said])

    def rank(self, said: Sequence[str], least: float = 0.0) -> list[Ranked]:
        """The intents that are likest, best first; empty when none can be as like as `least`."""
        entries: dict[str, Entry] = {}
        strange = self._read(said, entries)
        if not entries:
            return []
        found = list(entries.values())
        found.sort(key=_size)
        square = sum(map(_part, found))
        rarities = self._rarities
        strange *= (rarities.get(1) or self._rarity(1)) ** 2
        usual = self._usual or self._measure_usual()
        # No intent has more than all that is known, nor is anything rarer than the rarest: it cannot be more than this.
        rarest = (rarities.get(found[0][0]) or self._rarity(found[0][0])) / usual
        if _BOUND * rarest * sqrt(square / (square + strange / self._breadth)) < least:
            return []
        ranked = [
            (total / (profile.scale * usual * sqrt(square + strange / profile.breadth)), profile)
            for total, profile in gather(found)
        ]
        ranked.sort(key=_size, reverse=True)
        return ranked

    def _measure_usual(self) -> float:
        usual = self._usual = self._rarity(round(sqrt(len(self._profiles))))
        return usual

    def _read(self, said: Sequence[str], entries: dict[str, Entry]) -> float:
        """Collect the known features of what was said; returns the weight of the words that are not known at all."""
        features, words, pairs = self._features, self._words, self._pairs
        strange = 0.0
        before = START
        for word in said:
            read = words.get(word) or self._read_word(word)
            entries.update(read.entries)
            strange += read.strange
            here = word if read.is_word else GAP
            if here is not GAP or before is not GAP:
                pair = f"{before} {here}"
                if pair in features:
                    entries[pair] = pairs.get(pair) or self._read_pair(pair, here is GAP or before is GAP)
            before = here
        pair = f"{before} {END}"
        if pair in features:
            entries[pair] = pairs.get(pair) or self._read_pair(pair, before is GAP)
        return strange

    def _read_word(self, word: str) -> _Read:
        """What a word comes to by itself. Kept for the words somebody has, until a registration changes it."""
        held, named = self._features.get(word), self._values.get(word)
        known = held is not None or named is not None
        counts = weight(word)
        entries = {word: self._entry(counts, held, named)} if known else {}
        if not known and word in self._fillers:
            return _FILLER
        strange = 0.0 if known else counts * counts
        if len(word) > STEM:
            stem = "^" + word[:STEM]
            of_stem, named_stem = self._features.get(stem), self._values.get(stem)
            if of_stem is not None or named_stem is not None:
                entries[stem] = self._entry(STEM_WEIGHT, of_stem, named_stem)
                strange -= 0.0 if known else 0.5
            elif not known:
                strange += STEM_WEIGHT * STEM_WEIGHT
        if len(entries) == 2:
            mine, stems = entries.values()
            if mine[0] == stems[0] and mine[4] is None and stems[4] is None:
                # Nobody has the stem but who has the word: two in one.
                counts, part = mine[1] + stems[1] * _STEM_STRENGTH, mine[2] + stems[2]
                entries = {word: (mine[0], counts, part, held, None)}
        read = _Read(entries, strange, held is not None)
        if known:
            self._words[word] = read
        return read

    def _read_pair(self, pair: str, has_gap: bool) -> Entry:
        found = self._pairs[pair] = self._entry(GAP_WEIGHT if has_gap else PAIR_WEIGHT, self._features[pair], None)
        return found

    def _entry(self, counts: float, held: Postings | None, named: tuple[ValueOf, ...] | None) -> Entry:
        size = 0 if held is None else 1 if type(held) is tuple else len(held)
        if named is not None:
            for users, _ in named:
                size += len(users)
        rarity = self._rarities.get(size) or self._rarity(size)
        part = counts * rarity
        return size, part * rarity, part * part, held, named

    def _rarity(self, size: int) -> float:
        """The weight of a feature that so many intents have; at least one, where only a slot nobody has is meant."""
        rarity = self._rarities[size] = log(1.0 + (len(self._profiles) + _PRIOR) / (size or 1))
        return rarity

    def _measure(self, profile: Profile) -> None:
        slots, skill_id = self._slots, profile.intent.skill_id
        profile.measure(sum([VALUE * share * slots[skill_id, name].size for name, share in profile.slots.items()]))

    def _forget_counts(self) -> None:
        """What was worked out from the counts holds no longer."""
        self._rarities, self._words, self._pairs, self._usual = {}, {}, {}, 0.0

    def _slot(self, skill_id: str, name: str) -> SlotWords:
        return self._slots.setdefault((skill_id, name), SlotWords())

    def _forget_slot(self, key: SlotKey) -> None:
        if not self._slots[key].users and not self._slots[key].words:
            del self._slots[key]
