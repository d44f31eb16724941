"""Adding up what the features of an utterance say for the intents that have them."""

from __future__ import annotations

from collections.abc import Mapping
from math import log, sqrt
from operator import itemgetter
from typing import Final

from hark.intents.template.features import STEM_WEIGHT
from hark.intents.template.postings import Held, One
from hark.intents.template.profile import Profile
from hark.intents.template.values import ValueOf

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
    counts: float, more: float, intents: int, held: Held | One | None, named: tuple[ValueOf, ...] | None
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


def gather(entries: list[Entry], needed: float = 0.0) -> list[tuple[float, Profile]]:
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
