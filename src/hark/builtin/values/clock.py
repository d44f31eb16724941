"""Times of day."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

from hark.builtin.values.language import Language, Part, either

_DAY: Final = 24 * 60
_BARE: Final = re.compile(r"[\d.]+")


def _hours(same: Iterable[int], later: Iterable[int] = (), midnight: bool = False) -> dict[int, int]:
    """Hours that are said as they are, hours that are said without the twelve before them, and twelve for nought."""
    hours = {hour: hour for hour in same} | {hour: hour + 12 for hour in later}
    return {**hours, 12: 0} if midnight else hours


_PARTS: Final[dict[Part, dict[int, int]]] = {
    "am": _hours(range(12), midnight=True),
    "pm": _hours(range(12, 24), range(1, 12)),
    "morning": _hours(range(12)),
    "dawn": _hours(range(7), midnight=True),
    "midday": _hours(range(11, 16), range(1, 4)),
    "afternoon": _hours(range(12, 21), range(1, 9)),
    "evening": _hours(range(16, 24), range(4, 12)),
    "night": _hours([*range(6), *range(18, 24)], range(6, 12), midnight=True),
}
"""Which hour an hour is when its part of the day is said; "twelve in the morning" is none."""


@dataclass(frozen=True)
class Time:
    """A time of day as it was said."""

    minutes: int
    """Since midnight."""
    bare: bool = False
    """Nothing but a number, "7" or "7.30": a time only if a part of the day stands beside it."""
    either_half: bool = False
    """Said in a way that fits the morning and the afternoon."""
    midnight: bool = False
    """Said as "midnight": whether of the day before or after, nobody knows."""


def clock(text: str, language: Language, part: Part | None) -> Time | None:
    """The time that `text`, prepared by `figures`, says; `part` is the part of the day that stood beside it."""
    for pattern, add, sign in _faces(language):
        found = pattern.fullmatch(text)
        if found is not None:
            return _time(found, add, sign, language, part)
    return None


def _time(found: re.Match[str], add: int, sign: int, language: Language, part: Part | None) -> Time | None:
    said = found["hour"]
    named = not said.isdigit()
    midnight = named and re.fullmatch(language.clock.midnight, said) is not None
    hour: int | None = (0 if midnight else 12) if named else int(said)
    minute = int(found["minute"]) if sign else 0
    if part is not None and not named:
        hour = _PARTS[part].get(hour or 0)
    if hour is None or hour > 23 or minute > 59:
        return None
    bare = found["at"] is None and _BARE.fullmatch(found.string) is not None
    half = part is None and not named and 1 <= hour <= 11 and not said.startswith("0")
    return Time((hour * 60 + add + sign * minute) % _DAY, bare, half, midnight)


@cache
def _faces(language: Language) -> list[tuple[re.Pattern[str], int, int]]:
    table = language.clock
    hour = rf"(?P<hour>\\d{{1,2}}|{table.noon}|{table.midnight})"
    return [(_face(pattern, hour, table.at), add, sign) for pattern, add, sign in table.faces]


def _face(pattern: str, hour: str, at: str) -> re.Pattern[str]:
    pattern = re.sub(r"\bH\b", hour, pattern)
    pattern = re.sub(r"\bMM\b", r"(?P<minute>[0-5]\\d)", pattern)
    pattern = re.sub(r"\bM\b", r"(?P<minute>\\d{1,2})", pattern)
    return re.compile(rf"(?P<at>(?:{at}) )?{pattern}")


@cache
def parts(language: Language) -> tuple[re.Pattern[str], dict[str, Part]]:
    """A pattern that finds the part of the day in a text, and what its groups mean."""
    table = language.clock.parts
    names = {f"part{number}": part for number, part in enumerate(table.values())}
    groups = [f"(?P<part{number}>{pattern})" for number, pattern in enumerate(table)]
    return re.compile(rf"(?<!\S)(?:{either(tuple(groups))})(?!\S)"), names
