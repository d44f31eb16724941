"""Time in a script: `5 minutes later`, `at 17:30`."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

import msgspec

from hark.testing.scripts.errors import LineError

_UNITS: Final = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0, "week": 604800.0}
_SHORT: Final = {"s": "second", "sec": "second", "min": "minute", "h": "hour"}
_PART: Final = re.compile(r"(\d+(?:\.\d+)?|an?|one|half an?)\s*([a-z]+)")
_BETWEEN: Final = re.compile(r"\s*(?:,|and|,\s*and)?\s*")
_CLOCK: Final = re.compile(
    r"(?:(?P<next>(?:the )?next day) )?at (?:(?P<date>\d{4}-\d\d-\d\d) )?(?P<time>\d{1,2}:\d\d(?::\d\d)?)"
)
_LONGEST: Final = 366 * 86400.0
_EXAMPLES: Final = "write it as in [5 minutes later], [1 hour and 30 minutes later], [at 17:30], [next day at 8:00]"


class Pause(msgspec.Struct, frozen=True):
    """A pause: some seconds, or until the clock shows a time."""

    seconds: float = 0.0
    time: str = ""
    """`HH:MM:SS`, in the time zone of the script; empty when `seconds` is given."""
    date: str = ""
    """`YYYY-MM-DD`; without it, the next time the clock shows `time`."""
    next_day: bool = False

    def length(self, now: datetime) -> float:
        """The seconds from `now`; raises `LineError` when the time is in the past."""
        if not self.time:
            return self.seconds
        day = datetime.fromisoformat(self.date) if self.date else now
        hour, minute, second = map(int, self.time.split(":"))
        end = now.replace(day.year, day.month, day.day, hour, minute, second, 0, fold=0)
        if self.next_day or (not self.date and end <= now):
            end += timedelta(days=1)
        # Not by the difference of the two: between them, clocks may be put forward or back.
        seconds = round(end.timestamp() - now.timestamp(), 3)
        if seconds <= 0:
            raise LineError(f"it is {now:%Y-%m-%d %H:%M} already", "name a time that is still to come")
        return seconds

    def __str__(self) -> str:
        if self.time:
            shown = self.time.removesuffix(":00") if self.time.count(":") == 2 else self.time
            return f"{'next day ' if self.next_day else ''}at {f'{self.date} ' if self.date else ''}{shown}"
        for name in reversed(_UNITS):
            number = self.seconds / _UNITS[name]
            if number >= 1 and number == int(number):
                return f"{int(number)} {name}{'s' * (number != 1)} later"
        return f"{self.seconds:.15g} seconds later"


def read_pause(text: str) -> Pause:
    """The pause between square brackets; raises `LineError`."""
    words = " ".join(text.lower().split())
    if words.endswith(" later"):
        return Pause(_seconds(words.removesuffix(" later"), text))
    shown = _CLOCK.fullmatch(words)
    if shown is None:
        raise LineError(f"[{text}] is not a time", _EXAMPLES)
    if shown["next"] and shown["date"]:
        raise LineError(f"[{text}] names the day twice", "leave one of the two out")
    time = shown["time"] if shown["time"].count(":") == 2 else f"{shown['time']}:00"
    time = time.rjust(8, "0")
    _check(f"{shown['date'] or '2000-01-01'} {time}", text)
    return Pause(0.0, time, shown["date"] or "", bool(shown["next"]))


def read_moment(text: str) -> datetime:
    """A date and a time without zone, `2026-01-01 12:00`; raises `LineError`."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is not None:
        raise LineError(
            f"{text!r} is not a date and time", "write it as in 2026-01-01 12:00, and the zone in a line timezone:"
        )
    return moment


def _seconds(words: str, text: str) -> float:
    total, place = 0.0, 0
    while place < len(words):
        part = _PART.match(words, place)
        unit = _SHORT.get(part[2], part[2].removesuffix("s") if len(part[2]) > 1 else part[2]) if part else ""
        if part is None or unit not in _UNITS:
            raise LineError(f"[{text}] is not a time", _EXAMPLES)
        number = 0.5 if part[1].startswith("half") else 1.0 if part[1].isalpha() else float(part[1])
        total += number * _UNITS[unit]
        place = part.end()
        between = _BETWEEN.match(words, place)
        place = between.end() if between is not None and place < len(words) else place
    if not 0 < total <= _LONGEST:
        raise LineError(f"[{text}] is not a possible pause", "write a time between 0 and a year")
    return total


def _check(moment: str, text: str) -> None:
    try:
        datetime.fromisoformat(moment)
    except ValueError:
        raise LineError(f"[{text}] is not a valid time", _EXAMPLES) from None
