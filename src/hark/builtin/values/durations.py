"""Durations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from hark.builtin.values.language import LanguageTables, Unit, either
from hark.builtin.values.numbers import figures, literal, part_of

SECONDS: Final[dict[Unit, int]] = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
"""Units of one length. Months and years have none, so they make no duration."""

_BELOW: Final[dict[str, Unit]] = {"hour": "minute", "minute": "second"}
_MOST: Final = 86_400 * 366 * 1000


@dataclass(frozen=True)
class TimeSpan:
    """A length in seconds, and what it was counted in."""

    seconds: float
    units: frozenset[Unit]
    count: float
    """How many of the last unit."""

    @property
    def in_days(self) -> bool:
        """Whether nothing smaller than a day was counted."""
        return self.units <= {"day", "week"}


def span(text: str, language: LanguageTables, tag: str) -> TimeSpan | None:
    """The time span `text` is, or None."""
    said = literal(figures(text, language), language, tag)
    item, between = _item(language), _between(language)
    total, units, count, last, end = 0.0, set[Unit](), 0.0, "", 0
    while True:
        found = item.match(said, end)
        if found is None:
            return None
        seconds, unit, count = _length(found, last, language)
        if unit is None or unit in units:
            return None
        total, last, end = total + seconds, unit if found["unit"] else "", found.end()
        units.add(unit)
        if end == len(said):
            return TimeSpan(total, frozenset(units), count) if 0 <= total <= _MOST else None
        joint = between.match(said, end)
        if joint is None:
            return None
        end = joint.end()


def _length(found: re.Match[str], last: str, language: LanguageTables) -> tuple[float, Unit | None, float]:
    """Seconds, unit and count of one part; no unit when it is no part at this place."""
    if found["bare"]:  # "one hour thirty"; in "five minutes and one for ten", one is no second
        below, count = _BELOW.get(last), float(found["bare"])
        return (count * SECONDS[below], below, count) if below and 1 < count < 60 else (0, None, 0)
    if found["unit"]:
        count = float(found["count"]) if found["count"][0].isdigit() else 1.0
        for half in (found["before"], found["behind"]):
            count += part_of(half, language) if half else 0
        if found["unit"] == "m" and last != "hour":
            return 0, None, 0  # five metres
        unit = next(name for name, pattern in language.durations.units.items() if re.fullmatch(pattern, found["unit"]))
        return count * SECONDS[unit], unit, count
    fractions = language.durations.fractions
    seconds = next(size for pattern, size in fractions.items() if re.fullmatch(pattern, found["fraction"]))
    return seconds, "day" if seconds > 3 * 3600 else "hour" if seconds > 60 else "minute", 1


@cache
def _item(language: LanguageTables) -> re.Pattern[str]:
    durations, halves = language.durations, either(language.numbers.halves)
    units = "|".join(durations.units.values())
    return re.compile(
        rf"(?P<fraction>{either(durations.fractions)})(?!\w)"
        rf"|(?P<count>\d+(?:\.\d+)?|{durations.one})(?: (?P<before>{halves}))? (?P<unit>{units})(?!\w)"
        rf"(?: (?P<behind>{halves})(?! ?\w))?"
        r"|(?P<bare>\d{1,2})$"
    )


@cache
def _between(language: LanguageTables) -> re.Pattern[str]:
    return re.compile(rf" (?:{language.durations.both} )?")
