"""Which intents have a feature, how strongly, and how much of it there is in all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hark.intents.template.profile import Profile


class Held(dict[Profile, float]):
    """The intents that have something, and how strongly: the root of the share of their sentences that do."""

    __slots__ = ("mass",)

    def __init__(self) -> None:
        super().__init__()
        self.mass = 0.0
        """The sum of the shares: an intent with it in one sentence of ten adds a tenth."""

    def add(self, profile: Profile, strength: float) -> None:
        """Enter an intent."""
        self[profile] = strength
        self.mass += strength * strength

    def drop(self, profile: Profile) -> None:
        """Take an intent out again."""
        strength = self.pop(profile)
        self.mass -= strength * strength


One = tuple[Profile, float]
"""An intent that is alone in having something. Most features have one intent, and a dict is four times as big."""


class Postings:
    """All features of all intents of one language under one session id."""

    __slots__ = ("of",)

    def __init__(self) -> None:
        self.of: dict[str, Held | One] = {}
        """Who has a feature."""

    def add(self, profile: Profile, strengths: Mapping[str, float]) -> None:
        """Enter an intent with its features."""
        of = self.of
        for feature, strength in strengths.items():
            held = of.get(feature)
            if held is None:
                of[feature] = (profile, strength)
            elif isinstance(held, tuple):
                both = Held()
                both.add(*held)
                both.add(profile, strength)
                of[feature] = both
            else:
                held.add(profile, strength)

    def remove(self, profile: Profile, features: Iterable[str]) -> None:
        """Take an intent with these features out again."""
        for feature in features:
            held = self.of[feature]
            if isinstance(held, Held) and len(held) > 1:
                held.drop(profile)
            else:
                del self.of[feature]

    def count(self, feature: str) -> int:
        """How many intents have a feature."""
        held = self.of.get(feature)
        return 0 if held is None else 1 if isinstance(held, tuple) else len(held)

    def has(self, profile: Profile, feature: str) -> bool:
        """Whether an intent has a feature."""
        held = self.of.get(feature)
        return held is not None and (held[0] is profile if isinstance(held, tuple) else profile in held)
