"""Adding up what the features of an utterance say for the intents that have them."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Final

from hark.intents.template.profile import Profile
from hark.intents.template.values import ValueOf

Postings = dict[Profile, float] | tuple[Profile, float]
"""The intents that have a feature, and how strongly. Most features have one intent, and a dict is four times as big."""

Entry = tuple[int, float, float, Postings | None, tuple[ValueOf, ...] | None]
"""A feature of an utterance: how many intents have it, what it counts, its part of the utterance's length, whose it is
as a word, and whose values it is part of."""

_VISITS: Final = 32
"""Entries of the index that are looked at before the rest is asked of the best candidates only."""
_COMMON: Final = 200
"""A feature of more intents than this makes nobody a candidate."""
CANDIDATES: Final = 4
"""Intents that are compared to the end; the last of them is only there to be the others' rival."""
_FAINT: Final = 0.04
"""What counts less than this beside the rarest feature is not worth asking for."""

_first = itemgetter(0)


def gather(entries: list[Entry]) -> list[tuple[float, Profile]]:
    """The sums of the best candidates, in no order. The entries come rarest first, and those choose the candidates."""
    found, rest = _collect(entries)
    best = [(total / profile.scale, total, profile) for profile, total in found.items()]
    if len(best) > CANDIDATES:
        best.sort(key=_first, reverse=True)
        del best[CANDIDATES:]
    if not rest:
        return [(total, profile) for _, total, profile in best]
    common = _flat(rest, _FAINT * entries[0][1])
    made = []
    for _, total, profile in best:
        for strengths, counts in common:
            if profile in strengths:
                total += counts * strengths[profile]
        made.append((total, profile))
    return made


def _flat(entries: list[Entry], least: float) -> list[tuple[Mapping[Profile, float], float]]:
    """Who has the features and how strongly, and what each counts, if it counts `least` at all."""
    made: list[tuple[Mapping[Profile, float], float]] = []
    for _, counts, _, held, named in entries:
        if counts < least:
            continue
        if isinstance(held, dict):
            made.append((held, counts))
        elif held is not None:
            made.append(({held[0]: held[1]}, counts))
        if named is not None:
            for users, share in named:
                made.append((users, counts * share))
    return made


def _collect(entries: list[Entry]) -> tuple[dict[Profile, float], list[Entry]]:
    """Everybody who has one of the rarer features, with what these say; and the features that are left."""
    found: dict[Profile, float] = {}
    get = found.get
    visits = 0
    for place, (size, counts, _, held, named) in enumerate(entries):
        visits += size
        if visits > _VISITS and (found or size > _COMMON):
            return found, entries[place:]
        if isinstance(held, tuple):
            profile, strength = held
            found[profile] = get(profile, 0.0) + counts * strength
        elif held is not None:
            # A list, because another thread may be adding an intent.
            if found:
                for profile, strength in list(held.items()):
                    found[profile] = get(profile, 0.0) + counts * strength
            else:
                found = {profile: counts * strength for profile, strength in list(held.items())}
                get = found.get
        if named is not None:
            for users, share in named:
                share *= counts
                for profile, strength in list(users.items()):
                    found[profile] = get(profile, 0.0) + share * strength
    return found, []
