"""What the words of an utterance say for the intents that have them, remembered while nobody registers."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
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
from hark.intents.template.gathering import Entry, entry, entry_of
from hark.intents.template.kindred import Kindred
from hark.intents.template.postings import Held, One
from hark.intents.template.profile import Profile
from hark.intents.template.values import ValueOf

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


class Readings:
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
        features: Mapping[str, Held | One],
        values: Mapping[str, tuple[ValueOf, ...]],
        fillers: Container[str],
        intents: int,
        kindred: Kindred,
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


def _count(held: Held | One | None) -> int:
    return 0 if held is None else 1 if isinstance(held, tuple) else len(held)
