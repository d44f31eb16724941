"""Days as people name them: "tomorrow", "next friday", "the 3rd of march", "christmas", "the weekend"."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Final

from hark.builtin.skills.tables import Table, plain, table
from hark.skills.spoken import spoken_date, weekday_name

_NAMES: Final = Path(__file__).parent / "names"
_FIXED: Final = re.compile(r"(\d\d)-(\d\d)")
_COUNTED: Final = re.compile(r"(\d\d)-(\d)x(\d)")
"""The n-th weekday of a month: `11-4x3` is the fourth Thursday of November."""
_EASTER: Final = re.compile(r"easter([+-]\d+)")
_SATURDAY: Final = 5
_YEARS: Final = (1583, 9999)
"""The first and the last year of the calendar by which feasts are found."""


def day_named(text: str, lang: str, now: datetime) -> date | None:
    """The day that `text` names, as seen from `now`; None when it names none. `now` is an aware local time."""
    words = _words(lang)
    said = plain(re.sub(r"'s\b|’s\b", "", text))  # noqa: RUF001 - people type both
    said = _without(said, words.get("leading", ()))
    if said in words.get("weekend", ()):
        return _coming_weekend(now.date())
    if said in words.get("next_weekend", ()):
        return _coming_weekend(now.date()) + timedelta(days=7)
    if said in words.get("tonight", ()):
        return now.date()
    today = now.date()
    return (
        holiday(said, lang, today)
        or _holiday_of(said, lang)
        or _weekday(said, lang, today)
        or _read(text, said, lang, now)
    )


def is_number(text: str, lang: str) -> bool:
    """Whether a day is named by its number alone, so that it is one of the month that is talked about: "the 31st"."""
    words = _without(plain(text), _words(lang).get("leading", ())).split()
    return len(words) == 1 and words[0][0].isdigit()


def holiday(said: str, lang: str, today: date) -> date | None:
    """The next day, today included, of a feast that is named in plain words."""
    rule = _holidays(lang).get(said)
    if rule is None:
        return None
    days = (_day_of(rule, year) for year in range(today.year, today.year + 2))
    return next((day for day in days if day >= today), None)


def _holiday_of(said: str, lang: str) -> date | None:
    """A feast of a year that is named: "halloween 2027", "easter in 2030"."""
    words = said.split()
    if len(words) < 2 or not (words[-1].isdigit() and _YEARS[0] <= int(words[-1]) <= _YEARS[1]):
        return None
    names = (" ".join(words[:end]) for end in (-1, -2))  # with one word between the two, or none
    rule = next(filter(None, map(_holidays(lang).get, names)), None)
    return None if rule is None else _day_of(rule, int(words[-1]))


def day_phrase(day: date, today: date, lang: str) -> str:
    """A day as it is said in an answer: "today", "tomorrow", "on Friday", "on Friday, November 27th"."""
    words = _words(lang)
    near = {0: "today", 1: "tomorrow", -1: "yesterday"}.get((day - today).days)
    if near is not None:
        return words[near][0]
    if 0 < (day - today).days < 7:
        return words["on"][0].format(day=weekday_name(day.weekday(), lang))
    return words["on"][0].format(day=spoken_date(day, lang).replace(", der ", ", dem "))


def _read(text: str, said: str, lang: str, now: datetime) -> date | None:
    # Imported on first use: the tables are large.
    from hark.builtin.values.plugin import read

    for form in (text, said):
        found = read("date", form, lang, now, now.tzinfo)
        if isinstance(found, date):
            return found.date() if isinstance(found, datetime) else found
    return None


def _weekday(said: str, lang: str, today: date) -> date | None:
    """A weekday, the next one unless it says which: "next friday" is that of the week after."""
    words = _words(lang)
    first, _, rest = said.partition(" ")
    wanted = _weekdays(lang).get(said)
    if wanted is not None:
        return _next_weekday(today, wanted)
    wanted = _weekdays(lang).get(rest)
    if wanted is None:
        return None
    if first in words.get("next", ()):
        return today - timedelta(days=today.weekday()) + timedelta(days=7 + wanted)
    if first in words.get("last", ()):
        return today - timedelta(days=(today.weekday() - wanted - 1) % 7 + 1)
    return _next_weekday(today, wanted) if first in words.get("coming", ()) else None


def _next_weekday(today: date, weekday: int) -> date:
    return today + timedelta(days=(weekday - today.weekday()) % 7 or 7)


def _coming_weekend(today: date) -> date:
    """The Saturday of this weekend; on a Sunday, that day."""
    return today if today.weekday() > _SATURDAY else today + timedelta(days=_SATURDAY - today.weekday())


def _day_of(rule: str, year: int) -> date:
    if found := _EASTER.fullmatch(rule):
        return easter(year) + timedelta(days=int(found[1]))
    if found := _COUNTED.fullmatch(rule):
        first = date(year, int(found[1]), 1)
        return first + timedelta(days=(int(found[3]) - first.weekday()) % 7 + 7 * (int(found[2]) - 1))
    found = _FIXED.fullmatch(rule)
    if found is None:
        raise ValueError(f"{rule!r} is no rule for a feast")
    return date(year, int(found[1]), int(found[2]))


def easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar, by the rule of Gauss as it was completed by others."""
    golden, century = year % 19, year // 100
    moon = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    week = (32 + 2 * (century % 4) + 2 * (year % 100 // 4) - moon - year % 100 % 4) % 7
    late = (golden + 11 * moon + 22 * week) // 451
    month, day = divmod(moon + week - 7 * late + 114, 31)
    return date(year, month, day + 1)


def _without(said: str, leading: tuple[str, ...]) -> str:
    for word in sorted(leading, key=len, reverse=True):
        if said.startswith(f"{word} "):
            return _without(said[len(word) + 1 :], leading)
    return said


@lru_cache(maxsize=8)
def _words(lang: str) -> Table:
    raw = table(_NAMES, "days", lang) or table(_NAMES, "days", "en-US")
    spoken = ("today", "tomorrow", "yesterday", "on")
    return {key: forms if key in spoken else tuple(map(plain, forms)) for key, forms in raw.items()}


@lru_cache(maxsize=8)
def _holidays(lang: str) -> dict[str, str]:
    return {plain(name): rule for rule, names in table(_NAMES, "holidays", lang).items() for name in names}


@lru_cache(maxsize=8)
def _weekdays(lang: str) -> dict[str, int]:
    found = {plain(weekday_name(index, lang)): index for index in range(7)}
    # "terça" is as good as "terça-feira".
    return found | {name.removesuffix(" feira"): index for name, index in found.items()}
