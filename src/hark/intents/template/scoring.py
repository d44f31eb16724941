"""Scoring intents by the features they share with an utterance."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from math import log, sqrt
from operator import itemgetter
from typing import Final

from hark.intents.registration import TemplateIntent
from hark.intents.template.features import (
    END,
    FILLER,
    GAP,
    GAP_WEIGHT,
    PAIR_WEIGHT,
    SIMILAR_WEIGHT,
    START,
    STEM,
    STEM_WEIGHT,
    weight,
)
from hark.intents.template.profile import PostingList, Profile, SinglePosting, ValueOf
from hark.intents.template.trigrams import TrigramIndex

Holders = tuple[Mapping[Profile, float], float]
"""Some intents that have a feature with their strengths, and the weight of the feature for them."""

Points = list[tuple[Profile, float]]
"""The points that a feature gives to each intent that has it."""

Entry = tuple[int, float, float, float, list[Holders], Points]
"""A feature of an utterance: how many intents have it, its weight, its part of the utterance's length, its rarity, the
intents that have it as a word and as part of a value, and the points it gives them, computed when needed."""

_VISITS: Final = 24
"""Postings that are visited before the other features are looked up for the best candidates only."""
_COMMON: Final = 200
"""A feature of more intents than this makes no intent a candidate."""
CANDIDATES: Final = 5
"""Intents that are scored completely; the last of them only serves as a rival of the others."""
_MORE: Final = 1.3
"""How many times the points of the first candidate another may get from common features."""
_FAINT: Final = 0.04
"""Features with less weight than this, relative to the rarest one, are not looked up."""

_PRIOR: Final = 20
"""Intents assumed beside the real ones: with few intents every word would seem rare."""
_LEAST: Final = 1.0
"""The least mass that a feature is assumed to have."""
_STEM_STRENGTH: Final = sqrt(STEM_WEIGHT)
"""How strongly a stem belongs to an intent, relative to its word."""

_first = itemgetter(0)


def entry(
    counts: float,
    more: float,
    intents: int,
    posting: PostingList | SinglePosting | None,
    named: tuple[ValueOf, ...] | None,
) -> Entry:
    """The entry of a feature with weight `counts` among so many intents; `more` is the weight of a stem it includes."""
    size, mass = 0, 0.0
    if posting is not None:
        size, mass = (1, posting[1] * posting[1]) if isinstance(posting, tuple) else (len(posting), posting.mass)
        mass /= counts
    if named is not None:
        for users, share in named:
            size += len(users)
            mass += users.mass * share * share
    # A word in one sentence of ten is less specific to its intent than one in all, and less common in all.
    rarity = log(1.0 + (intents + _PRIOR) / sqrt((size or 1) * max(mass, _LEAST)))
    square = rarity * rarity
    weight = (counts + more * _STEM_STRENGTH) * square
    holders: list[Holders] = []
    if posting is not None:
        holders.append(({posting[0]: posting[1]} if isinstance(posting, tuple) else posting, weight))
    if named is not None:
        holders += [(users, weight * share) for users, share in named]
    return size, weight, (counts * counts + more * more) * square, rarity, holders, []


def entry_of(counts: float, intents: int, posting: Mapping[Profile, float]) -> Entry:
    """The entry of a feature that these intents have with these strengths."""
    mass = sum([strength * strength for strength in posting.values()])
    rarity = log(1.0 + (intents + _PRIOR) / sqrt(len(posting) * max(mass, _LEAST)))
    square = rarity * rarity
    return len(posting), counts * square, counts * counts * square, rarity, [(posting, counts * square)], []


def _points(holders: list[Holders]) -> Points:
    # A copy of the items, because another thread may be adding an intent.
    return [(profile, counts * strength) for users, counts in holders for profile, strength in list(users.items())]


Barred = Callable[[TemplateIntent], bool] | None
"""Tells the intents that do not take part, where there are any."""


def rarity(intents: int, size: float) -> float:
    """The rarity of a feature that `size` of so many intents have."""
    return log(1.0 + (intents + _PRIOR) / (size or 1.0))


def score_candidates(entries: list[Entry], needed: float = 0.0, barred: Barred = None) -> list[tuple[float, Profile]]:
    """The points of the best candidates, in no order. The entries come rarest first: the rare ones choose candidates.

    Common features give all candidates about the same points. Once they were looked up for the first candidate, those
    that would stay below `needed` (times their scale) even with a good deal more are not looked up.
    """
    found, rest = _collect(entries)
    if barred is not None:
        found = {profile: total for profile, total in found.items() if not barred(profile.intent)}
    best = [(total / profile.scale, total, profile) for profile, total in found.items()]
    if len(best) > CANDIDATES:
        best.sort(key=_first, reverse=True)
        del best[CANDIDATES:]
    if not rest:
        return [(total, profile) for _, total, profile in best]
    least = _FAINT * entries[0][1]
    common = [holders for entry in rest if entry[1] >= least for holders in entry[4]]
    made: list[tuple[float, Profile]] = []
    usual = most = 0.0
    for _, total, profile in best:
        if not made or total + most >= needed * profile.scale:
            points = 0.0
            for strengths, counts in common:
                if profile in strengths:
                    points += counts * strengths[profile]
            if not made:
                usual, most = points, _MORE * points
            made.append((total + points, profile))
        else:
            made.append((total + usual, profile))
    return made


def _collect(entries: list[Entry]) -> tuple[dict[Profile, float], list[Entry]]:
    """The intents that have one of the rarer features, with their points; and the features that are left."""
    found: dict[Profile, float] = {}
    get = found.get
    visits = 0
    for place, (size, _, _, _, holders, points) in enumerate(entries):
        visits += size
        if visits > _VISITS and (found or size > _COMMON):
            return found, entries[place:]
        if not points:
            # Assigned at once: another thread may be doing the same.
            points[:] = _points(holders)
        for profile, worth in points:
            found[profile] = get(profile, 0.0) + worth
    return found, []


_EVERYWHERE: Final = 200
"""A pair of words, or a similar word, that more intents have than this is ignored."""
_WELL_KNOWN: Final = 8
"""For a word that more intents have than this, no similar words are looked up."""
MAX_CACHED: Final = 10_000
"""Words and pairs that are cached; then the cache is emptied, since there is no end to what users say."""

Entries = dict[str, Entry]
After = dict[str, Entries]
"""By the next word, the features of the pair; empty where no sentence has it."""
_Read = tuple[Entries, float, str, After]
"""One word: its features, its weight if unknown, what it is in pairs (itself or a gap), and the pairs it begins."""


class QueryFeatures:
    """The features of utterances, cached by word. Valid for one state of the index: a change requires a new one."""

    __slots__ = (
        "_after_gap",
        "_at_start",
        "_features",
        "_fillers",
        "_intents",
        "_trigrams",
        "_values",
        "_words",
        "cached",
    )

    def __init__(
        self,
        features: Mapping[str, PostingList | SinglePosting],
        values: Mapping[str, tuple[ValueOf, ...]],
        fillers: Container[str],
        intents: int,
        trigrams: TrigramIndex,
    ) -> None:
        self._trigrams = trigrams
        self._features, self._values, self._fillers, self._intents = features, values, fillers, intents
        self._words: dict[str, _Read] = {}
        self._at_start: After = {}
        self._after_gap: After = {}
        self.cached = 0

    def read(self, said: Sequence[str]) -> tuple[Entries, float]:
        """The known features of an utterance, and the weight of its unknown words."""
        words = self._words
        entries: Entries = {}
        unknown = 0.0
        before, after = START, self._at_start
        for word in said:
            found, odd, here, following = words.get(word) or self._word(word)
            entries |= found
            unknown += odd
            pair = after.get(here)
            if pair is None:
                pair = self._pair(before, here, after)
            if pair:
                entries |= pair
            before, after = here, following
        pair = after.get(END)
        entries |= self._pair(before, END, after) if pair is None else pair
        return entries, unknown

    def unknown(self, said: Sequence[str]) -> list[str]:
        """The words that no sentence has."""
        words = self._words
        return [word for word in said if (words.get(word) or self._word(word))[2] is GAP]

    def _word(self, word: str) -> _Read:
        """The features of a word by itself."""
        posting, named = self._features.get(word), self._values.get(word)
        known = posting is not None or named is not None
        entries: Entries = {}
        unknown = 0.0
        if known or word not in self._fillers:
            counts = weight(word) * (FILLER if word in self._fillers else 1.0)
            unknown = 0.0 if known else counts * counts
            stem = "^" + word[:STEM] if len(word) > STEM else ""
            of_stem, named_stem = self._features.get(stem), self._values.get(stem)
            more = 0.0
            if of_stem is not None or named_stem is not None:
                if known and named is None and named_stem is None and _count(posting) == _count(of_stem):
                    # The stem has the same intents as the word: one entry for both.
                    more = STEM_WEIGHT
                else:
                    entries[stem] = entry(STEM_WEIGHT, 0.0, self._intents, of_stem, named_stem)
                unknown -= 0.0 if known else 0.5
            elif stem and not known:
                unknown += STEM_WEIGHT * STEM_WEIGHT
            if known:
                entries[word] = entry(counts, more, self._intents, posting, named)
            similar = self._similar(word) if _count(posting) <= _WELL_KNOWN else {}
            if similar:
                entries["~" + word] = entry_of(SIMILAR_WEIGHT, self._intents, similar)
        read = (entries, unknown, GAP, self._after_gap) if posting is None else (entries, unknown, word, {})
        self._keep()
        self._words[word] = read
        return read

    def _similar(self, word: str) -> dict[Profile, float]:
        """The intents that have words similar to this one, with the strength of the most similar."""
        found: dict[Profile, float] = {}
        for other, alike in self._trigrams.of(word):
            posting = self._features.get(other)
            if posting is not None and _count(posting) <= _EVERYWHERE:
                for profile, strength in [posting] if isinstance(posting, tuple) else list(posting.items()):
                    found[profile] = max(found.get(profile, 0.0), alike * strength)
            for users, share in self._values.get(other, ()):
                if len(users) <= _EVERYWHERE:
                    for profile, strength in list(users.items()):
                        found[profile] = max(found.get(profile, 0.0), alike * strength * share)
        return found

    def _pair(self, before: str, here: str, after: After) -> Entries:
        """The features of two neighbouring words; none where very many intents have them."""
        found: Entries = {}
        has_gap = before is GAP or here is GAP
        pair = f"{before} {here}"
        posting = self._features.get(pair)
        if posting is not None and not (before is GAP and here is GAP) and _count(posting) <= _EVERYWHERE:
            found[pair] = entry(GAP_WEIGHT if has_gap else PAIR_WEIGHT, 0.0, self._intents, posting, None)
        self._keep()
        after[here] = found
        return found

    def _keep(self) -> None:
        self.cached += 1
        if self.cached > MAX_CACHED:
            self._words, self._at_start, self._after_gap, self.cached = {}, {}, {}, 0


def _count(posting: PostingList | SinglePosting | None) -> int:
    return 0 if posting is None else 1 if isinstance(posting, tuple) else len(posting)
