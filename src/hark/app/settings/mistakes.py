"""What can be wrong with a settings file, said so that it can be put right."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from hark.errors import UserError


class Mistake(msgspec.Struct, frozen=True):
    """One thing that is wrong: where, what, and what to do about it."""

    where: str
    """File and line, as far as they are known."""
    key: str
    """Table and key: `[limits] match`."""
    wrong: str
    remedy: str

    def __str__(self) -> str:
        place = ": ".join(part for part in (self.where, self.key) if part)
        told = "; ".join(part for part in (self.wrong, self.remedy) if part)
        return f"{place}: {told}" if place else told


class SettingsError(UserError, ValueError):
    """Settings that cannot be used, with everything that is wrong with them."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(map(str, self.mistakes)))


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant."""
    # Only needed when something is wrong, and not small.
    from difflib import get_close_matches

    close = get_close_matches(name.lower(), list(known), 1)
    return close[0] if close else None
