"""Scoring intents by the features they share with an utterance."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from math import log, sqrt
from operator import itemgetter
from typing import Final

from hark.intents.template.features import (
    END,
    FILLER,
    GAP,
    GAP_WEIGHT,
    KIN_WEIGHT,
    PAIR_WEIGHT,
    START,
    STEM,
    STEM_WEIGHT,
    weight,
)
from hark.intents.template.profile import PostingList, Profile, SinglePosting, ValueOf
from hark.intents.template.trigrams import TrigramIndex

Holders = tuple[Mapping[Profile, float], float]
"""Some intents that have a feature and how strongly, and what the feature counts for them."""

Points = list[tuple[Profile, float]]
"""What a feature says for those who have it."""

Entry = tuple[int, float, float, float, list[Holders], Points]
"""A feature of an utterance: how many intents have it, what it counts, its part of the utterance's length, how rare it
is, whose it is, as a word and as part of a value, and what it says for each of them, worked out when needed."""

_VISITS: Final = 24
"""Entries of the index that are looked at before the rest is asked of the best candidates only."""
_COMMON: Final = 200
"""A feature of more intents than this makes nobody a candidate."""
CANDIDATES: Final = 3
"""Intents that are compared to the end; the last of them is only there to be the others' rival."""
_MORE: Final = 1.3
"""How much more common features may say for another candidate than for the first."""
_FAINT: Final = 0.04
"""What counts less than this beside the rarest feature is not worth asking for."""

_PRIOR: Final = 8
"""Intents that are imagined beside the real ones: in a small house every word seems rare."""
_LEAST: Final = 0.3
"""Sentences' worth of a feature that there are taken to be at least."""
_STEM_STRENGTH: Final = sqrt(STEM_WEIGHT)
"""How strongly a stem belongs to an intent beside its word."""

_first = itemgetter(0)


def entry(
    counts: float,
    more: float,
    intents: int,
    held: PostingList | SinglePosting | None,
    named: tuple[ValueOf, ...] | None,
) -> Entry:
    """A feature that is said to count so much, where there are so many intents; `more` is for the stem it has in it."""
    size, mass = 0, 0.0
    if held is not None:
        size, mass = (1, held[1] * held[1]) if isinstance(held, tuple) else (len(held), held.mass)
        mass /= counts
    if named is not None:
        for users, share in named:
            size += len(users)
            mass += users.mass * share * share
    # A word in one sentence of ten is less the intent's own than one in all, and less in the others' way.
    rarity = log(1.0 + (intents + _PRIOR) / sqrt((size or 1) * max(mass, _LEAST)))
    square = rarity * rarity
    weight = (counts + more * _STEM_STRENGTH) * square
    holders: list[Holders] = []
    if held is not None:
        holders.append(({held[0]: held[1]} if isinstance(held, tuple) else held, weight))
    if named is not None:
        holders += [(users, weight * share) for users, share in named]
    return size, weight, (counts * counts + more * more) * square, rarity, holders, []


def entry_of(counts: float, intents: int, held: Mapping[Profile, float]) -> Entry:
    """A feature that these have so strongly."""
    mass = sum([strength * strength for strength in held.values()])
    rarity = log(1.0 + (intents + _PRIOR) / sqrt(len(held) * max(mass, _LEAST)))
    square = rarity * rarity
    return len(held), counts * square, counts * counts * square, rarity, [(held, counts * square)], []


def _points(holders: list[Holders]) -> Points:
    # A list of the items, because another thread may be adding an intent.
    return [(profile, counts * strength) for users, counts in holders for profile, strength in list(users.items())]


def rarity(intents: int, size: float) -> float:
    """The weight of what is usual for `size` of so many intents."""
    return log(1.0 + (intents + _PRIOR) / (size or 1.0))


def score_candidates(entries: list[Entry], needed: float = 0.0) -> list[tuple[float, Profile]]:
    """The sums of the best candidates, in no order. The entries come rarest first, and those choose the candidates.

    Common features say much the same for all candidates. Once they were asked about the first, the others that would
    stay below `needed` (times their scale) even with a good deal more are not asked about: nobody will want them.
    """
    found, rest = _collect(entries)
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
            says = 0.0
            for strengths, counts in common:
                if profile in strengths:
                    says += counts * strengths[profile]
            if not made:
                usual, most = says, _MORE * says
            made.append((total + says, profile))
        else:
            made.append((total + usual, profile))
    return made


def _collect(entries: list[Entry]) -> tuple[dict[Profile, float], list[Entry]]:
    """Everybody who has one of the rarer features, with what these say; and the features that are left."""
    found: dict[Profile, float] = {}
    get = found.get
    visits = 0
    for place, (size, _, _, _, holders, points) in enumerate(entries):
        visits += size
        if visits > _VISITS and (found or size > _COMMON):
            return found, entries[place:]
        if not points:
            # Replaced whole: another thread may be doing the same.
            points[:] = _points(holders)
        for profile, says in points:
            found[profile] = get(profile, 0.0) + says
    return found, []


_EVERYWHERE: Final = 200
"""What more intents have than this, two words side by side or one that is only like what was said, tells nothing."""
_WELL_KNOWN: Final = 8
"""A word that more intents than this have is looked for as itself only, not among words like it."""
_KEPT: Final = 10_000
"""Words and pairs that are remembered; then it begins anew, for there is no end to what people say."""

Entries = dict[str, Entry]
After = dict[str, Entries]
"""By what comes next, the two side by side; nothing where nobody has them so."""
_Read = tuple[Entries, float, str, After]
"""One word: what is known of it, how strange it is, what it is beside others (itself or a gap), and what came after."""


class QueryFeatures:
    """Reads utterances. What it remembers holds for one state of the index: a change asks for a new one."""

    __slots__ = (
        "_after_gap",
        "_at_start",
        "_features",
        "_fillers",
        "_intents",
        "_kept",
        "_kindred",
        "_values",
        "_words",
    )

    def __init__(
        self,
        features: Mapping[str, PostingList | SinglePosting],
        values: Mapping[str, tuple[ValueOf, ...]],
        fillers: Container[str],
        intents: int,
        kindred: TrigramIndex,
    ) -> None:
        self._kindred = kindred
        self._features, self._values, self._fillers, self._intents = features, values, fillers, intents
        self._words: dict[str, _Read] = {}
        self._at_start: After = {}
        self._after_gap: After = {}
        self._kept = 0

    def read(self, said: Sequence[str]) -> tuple[Entries, float]:
        """The known features of what was said, and the weight of the words that are not known at all."""
        words = self._words
        entries: Entries = {}
        strange = 0.0
        before, after = START, self._at_start
        for word in said:
            found, odd, here, following = words.get(word) or self._word(word)
            entries |= found
            strange += odd
            pair = after.get(here)
            if pair is None:
                pair = self._pair(before, here, after)
            if pair:
                entries |= pair
            before, after = here, following
        pair = after.get(END)
        entries |= self._pair(before, END, after) if pair is None else pair
        return entries, strange

    def unknown(self, said: Sequence[str]) -> list[str]:
        """The words that are in nobody's sentences."""
        words = self._words
        return [word for word in said if (words.get(word) or self._word(word))[2] is GAP]

    def _word(self, word: str) -> _Read:
        """What a word comes to by itself."""
        held, named = self._features.get(word), self._values.get(word)
        known = held is not None or named is not None
        entries: Entries = {}
        strange = 0.0
        if known or word not in self._fillers:
            counts = weight(word) * (FILLER if word in self._fillers else 1.0)
            strange = 0.0 if known else counts * counts
            stem = "^" + word[:STEM] if len(word) > STEM else ""
            of_stem, named_stem = self._features.get(stem), self._values.get(stem)
            more = 0.0
            if of_stem is not None or named_stem is not None:
                if known and named is None and named_stem is None and _count(held) == _count(of_stem):
                    # Nobody has the stem but who has the word: two in one.
                    more = STEM_WEIGHT
                else:
                    entries[stem] = entry(STEM_WEIGHT, 0.0, self._intents, of_stem, named_stem)
                strange -= 0.0 if known else 0.5
            elif stem and not known:
                strange += STEM_WEIGHT * STEM_WEIGHT
            if known:
                entries[word] = entry(counts, more, self._intents, held, named)
            like = self._like(word) if _count(held) <= _WELL_KNOWN else {}
            if like:
                entries["~" + word] = entry_of(KIN_WEIGHT, self._intents, like)
        read = (entries, strange, GAP, self._after_gap) if held is None else (entries, strange, word, {})
        self._keep()
        self._words[word] = read
        return read

    def _like(self, word: str) -> dict[Profile, float]:
        """The intents that have words like this one, and how strongly: by the likest they have."""
        found: dict[Profile, float] = {}
        for other, alike in self._kindred.of(word):
            held = self._features.get(other)
            if held is not None and _count(held) <= _EVERYWHERE:
                for profile, strength in [held] if isinstance(held, tuple) else list(held.items()):
                    found[profile] = max(found.get(profile, 0.0), alike * strength)
            for users, share in self._values.get(other, ()):
                if len(users) <= _EVERYWHERE:
                    for profile, strength in list(users.items()):
                        found[profile] = max(found.get(profile, 0.0), alike * strength * share)
        return found

    def _pair(self, before: str, here: str, after: After) -> Entries:
        """What two words side by side come to; nothing where they stand so in very many intents."""
        found: Entries = {}
        has_gap = before is GAP or here is GAP
        pair = f"{before} {here}"
        held = self._features.get(pair)
        if held is not None and not (before is GAP and here is GAP) and _count(held) <= _EVERYWHERE:
            found[pair] = entry(GAP_WEIGHT if has_gap else PAIR_WEIGHT, 0.0, self._intents, held, None)
        self._keep()
        after[here] = found
        return found

    def _keep(self) -> None:
        self._kept += 1
        if self._kept > _KEPT:
            self._words, self._at_start, self._after_gap, self._kept = {}, {}, {}, 0


def _count(held: PostingList | SinglePosting | None) -> int:
    return 0 if held is None else 1 if isinstance(held, tuple) else len(held)
