"""Days, times of day, and both together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache
from typing import Final

from hark.builtin.values.days import day, named
from hark.builtin.values.durations import SECONDS, span
from hark.builtin.values.language import LanguageTables, Part, either
from hark.builtin.values.numbers import figures, folded
from hark.intents.text import without_accents

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
    """Said as "midnight": which may belong to the day before or after."""


def clock(text: str, language: LanguageTables, part: Part | None) -> Time | None:
    """The time that `text`, prepared by `figures`, says; `part` is the part of the day that stood beside it."""
    for pattern, add, sign in _faces(language):
        found = pattern.fullmatch(text)
        if found is not None:
            return _time(found, add, sign, language, part)
    return None


def _time(found: re.Match[str], add: int, sign: int, language: LanguageTables, part: Part | None) -> Time | None:
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
def _faces(language: LanguageTables) -> list[tuple[re.Pattern[str], int, int]]:
    table = language.clock
    hour = rf"(?P<hour>\\d{{1,2}}|{table.noon}|{table.midnight})"
    return [(_face(pattern, hour, table.at), add, sign) for pattern, add, sign in table.faces]


def _face(pattern: str, hour: str, at: str) -> re.Pattern[str]:
    pattern = re.sub(r"\bH\b", hour, pattern)
    pattern = re.sub(r"\bMM\b", r"(?P<minute>[0-5]\\d)", pattern)
    pattern = re.sub(r"\bM\b", r"(?P<minute>\\d{1,2})", pattern)
    return re.compile(rf"(?P<at>(?:{at}) )?{pattern}")


@cache
def parts(language: LanguageTables) -> tuple[re.Pattern[str], dict[str, Part]]:
    """A pattern that finds the part of the day in a text, and what its groups mean."""
    table = language.clock.parts
    names = {f"part{number}": part for number, part in enumerate(table.values())}
    groups = [f"(?P<part{number}>{pattern})" for number, pattern in enumerate(table)]
    return re.compile(rf"(?<!\S)(?:{either(tuple(groups))})(?!\S)"), names


Moment = datetime | date | time

_MOST_WORDS: Final = 12


@dataclass(frozen=True)
class Here:
    """The language, time and place of an utterance."""

    language: LanguageTables
    tag: str
    now: datetime
    """In `zone`."""
    zone: tzinfo | None
    """None: this machine's."""


def moment(text: str, here: Here, *, bare: bool) -> Moment | None:
    """The day, the time of day, or the moment that `text` says; `bare` says that a mere number is an hour."""
    language = here.language
    said = folded(text)
    if _now(language).fullmatch(without_accents(said)):
        return here.now
    distant = _distant(said, here)
    if distant is not None:
        return distant
    for pattern, simpler in _rewrites(language):
        said = pattern.sub(simpler, said)
    read = _read(figures(said, language, language.calendar.ordinals), here, bare)
    if read is None and said.endswith("."):  # the end of a sentence, not of an ordinal
        return _read(figures(said[:-1], language, language.calendar.ordinals), here, bare)
    return read


def _read(said: str, here: Here, bare: bool) -> Moment | None:
    language, tag, today = here.language, here.tag, here.now.date()
    said, part, beside = _without_part(named(said, language), language)
    bare = bare or beside
    if part is None:
        which = day(said, language, tag, today)
        if which is not None:
            return which
    at = clock(said, language, part)
    if at is not None:
        return time(*divmod(at.minutes, 60)) if bare or not at.bare else None
    words = said.split()
    if len(words) > _MOST_WORDS:
        return None
    for cut in range(1, len(words)):
        left, right = " ".join(words[:cut]), " ".join(words[cut:])
        for one, other in ((left, right), (right, left)):
            at = clock(one, language, part)
            if at is None or (at.bare and not beside and part is None):
                continue
            which = day(other, language, tag, today)
            if which is not None:
                return _together(which, at, part, here)
    return None


def _without_part(said: str, language: LanguageTables) -> tuple[str, Part | None, bool]:
    """The text without its part of the day, the part, and whether figures stood beside it.

    Text with two parts is left alone.
    """
    pattern, names = parts(language)
    found = list(pattern.finditer(said))
    if len(found) != 1 or found[0].lastgroup is None:
        return said, None, False
    before, behind = said[: found[0].start()].rstrip(), said[found[0].end() :].lstrip()
    beside = before[-1:].isdigit() or behind[:1].isdigit()
    return f"{before} {behind}".strip(), names[found[0].lastgroup], beside


def _together(which: date, at: Time, part: Part | None, here: Here) -> datetime | None:
    now, zone = here.now, here.zone
    if at.midnight or (part in ("evening", "night") and at.minutes < 5 * 60):
        return None  # the night belongs to two days
    made = _local(datetime.combine(which, time(*divmod(at.minutes, 60))), zone)
    if made is not None and made < now and which == now.date() and at.either_half:
        later = _local(made.replace(tzinfo=None) + timedelta(hours=12), zone)
        return later if later is not None and later.date() == which and later > now else made
    return made


def _local(wall: datetime, zone: tzinfo | None) -> datetime | None:
    """The moment when clocks show `wall`, or None when they skip it. Without a zone: the machine's clocks."""
    try:
        made = wall.astimezone() if zone is None else wall.replace(tzinfo=zone)
        back = made.astimezone(UTC).astimezone(zone).replace(tzinfo=None)
    except (OverflowError, ValueError, OSError):  # the first or the last day there is
        return None
    return made if back == wall else None


def _distant(said: str, here: Here) -> Moment | None:
    """What lies some time ahead or back: "in ten minutes", "three days ago"."""
    language, now = here.language, here.now
    for pattern, sign in _distances(language):
        found = pattern.fullmatch(said)
        if found is None:
            continue
        length = span(found[1], language, here.tag)
        if length is None:
            months = _months(found[1], language)
            if months is not None:
                return _months_away(now.date(), sign * months)
            continue
        if length.in_days and length.seconds % SECONDS["day"]:
            return None  # half a day from now is no time of day
        if not length.in_days:
            return (now.astimezone(UTC) + timedelta(seconds=sign * length.seconds)).astimezone(here.zone)
        if length.units == {"day"} and length.count in language.calendar.counted_loosely:
            return None
        return now.date() + timedelta(seconds=sign * length.seconds)
    return None


def _months(text: str, language: LanguageTables) -> int | None:
    found = _long_units(language).fullmatch(figures(text, language))
    if found is None:
        return None
    count = int(found[1]) if found[1].isdigit() else 1
    return count if found[2] else count * 12


def _months_away(today: date, months: int) -> date | None:
    """The same day of another month, or None when that month has no such day."""
    year, month = divmod(today.year * 12 + today.month - 1 + months, 12)
    try:
        return date(year, month + 1, today.day)
    except ValueError:
        return None


@cache
def _distances(language: LanguageTables) -> list[tuple[re.Pattern[str], int]]:
    table = language.calendar
    return [
        (re.compile(pattern.replace("SPAN", "(.+)")), sign)
        for patterns, sign in ((table.later, 1), (table.ago, -1))
        for pattern in patterns
    ]


@cache
def _now(language: LanguageTables) -> re.Pattern[str]:
    return re.compile(language.calendar.now)


@cache
def _long_units(language: LanguageTables) -> re.Pattern[str]:
    table = language.calendar
    return re.compile(rf"(\d{{1,4}}|{language.durations.one}) (?:({table.month})|(?:{table.year}))")


@cache
def _rewrites(language: LanguageTables) -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(pattern), simpler) for pattern, simpler in language.calendar.rewrites.items()]
