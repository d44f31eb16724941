"""Days: dates, weekdays, and days relative to today."""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import cache
from typing import Final

from hark.builtin.values.language import LanguageTables, Rule, region_of

_ISO: Final = re.compile(r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})")
# Two numbers with a point between them alone may be anything; "24.12." is German.
_PAIR: Final = re.compile(
    r"(?P<first>\d{1,2})(?:\.(?=\d+[.#])|[/-](?!\d+\.))(?P<second>\d{1,2})(?:#|[./-](?P<year>\d{4}))?"
)

_SUNDAY: Final = 6
_MONTHS: Final = 12
_MONTH_FIRST: Final = {"en-US", "en-PH"}
_EITHER_FIRST: Final = {"en-", "en-CA", "es-US", "fr-CA"}
"""Where both the month and the day may come first."""


def named(text: str, language: LanguageTables) -> str:
    """`text` with weekdays and months by their numbers, which keeps the patterns of `day` small."""
    pattern, marks = _names(language)
    return pattern.sub(lambda found: marks[found.lastindex or 0], text)


def day(text: str, language: LanguageTables, tag: str, today: date) -> date | None:
    """The day that `text`, prepared by `figures` and `named`, says on the day `today`, or None."""
    for pattern, distance in _days(language):
        if pattern.fullmatch(text):
            return today + timedelta(days=distance)
    for pattern, rule in _rules(language):
        found = pattern.fullmatch(text)
        if found is not None:
            return _weekday(int(found["weekday"]), rule, today)
    for pattern in _dates(language):
        found = pattern.fullmatch(text)
        if found is not None:
            return _date(found, today)
    found = _figures_only(language).fullmatch(text)
    which = _written(found["date"], tag, today) if found is not None else None
    if found is None or which is None or found["weekday"] is None:
        return which
    return which if which.weekday() == int(found["weekday"]) else None


def _weekday(weekday: int, rule: Rule, today: date) -> date | None:
    """The day that is meant, if that is unambiguous: "next Friday" said on a Wednesday may be in this week or the
    next."""
    ahead = (weekday - today.weekday()) % 7
    if rule == "this":
        agreed = weekday > today.weekday()
    elif rule == "coming":
        agreed = ahead > 0
    elif rule == "next_week":
        # For some users a week begins on Sunday.
        agreed, ahead = weekday != _SUNDAY and today.weekday() != _SUNDAY, weekday - today.weekday() + 7
    elif rule == "next":
        agreed, ahead = weekday <= today.weekday() and ahead != 1, ahead or 7
    else:
        agreed, ahead = weekday >= today.weekday() and ahead != 6, ahead - 7
    return today + timedelta(days=ahead) if agreed else None


def _date(found: re.Match[str], today: date) -> date | None:
    groups = found.groupdict()
    number = 1 if groups.get("first") else int(groups["day"])
    month = int(groups["month"]) if "month" in groups else None
    year = int(groups["year"].replace(" ", "")) if groups.get("year") else None
    which = _coming(number, today) if month is None else _made(year, month, number, today)
    if which is None or groups.get("weekday") is None:
        return which
    return which if which.weekday() == int(groups["weekday"]) else None


def _written(text: str, tag: str, today: date) -> date | None:
    """A date in figures."""
    found = _ISO.fullmatch(text)
    if found is not None:
        return _made(int(found["year"]), int(found["month"]), int(found["day"]), today)
    found = _PAIR.fullmatch(text)
    if found is None:
        return None
    number, month = int(found["first"]), int(found["second"])
    place = f"{tag.split('-')[0].lower()}-{region_of(tag)}"
    if place in _EITHER_FIRST and number != month and max(number, month) <= _MONTHS:
        return None
    if month > _MONTHS or (place in _MONTH_FIRST and number <= _MONTHS):
        number, month = month, number
    return _made(int(found["year"]) if found["year"] else None, month, number, today)


def _made(year: int | None, month: int, number: int, today: date) -> date | None:
    """The date; without a year the next one from `today` on."""
    for candidate in (year,) if year is not None else range(today.year, today.year + 9):
        try:
            made = date(candidate, month, number)
        except ValueError:  # there is no such day, or not in every year
            if number != 29:
                return None
            continue
        if year is not None or made >= today:
            return made
    return None


def _coming(number: int, today: date) -> date | None:
    """The next day of a month with this number, from `today` on; no month without it is skipped."""
    later = number < today.day
    month = today.month % 12 + 1 if later else today.month
    return _made(today.year + (later and today.month == 12), month, number, today)


_PARTS: Final = {
    "WEEKDAY": r"@w(?P<weekday>\d)",
    "MONTH": r"@m(?P<month>\d+)",
    "NTHMONTH": r"(?P<month>\d{1,2})#",
    "NTH": r"(?P<day>\d{1,2})#",
    "YEAR": r"(?P<year>\d{4}|(?:19|20) \d\d)",
}


@cache
def _days(language: LanguageTables) -> list[tuple[re.Pattern[str], int]]:
    return [(re.compile(pattern), distance) for pattern, distance in language.calendar.days.items()]


@cache
def _rules(language: LanguageTables) -> list[tuple[re.Pattern[str], Rule]]:
    rules = [(one, rule) for pattern, rule in language.calendar.rules.items() for one in _split(pattern)]
    return [(_compiled(pattern, language), rule) for pattern, rule in rules]


@cache
def _dates(language: LanguageTables) -> list[re.Pattern[str]]:
    return [_compiled(pattern, language) for pattern in language.calendar.dates]


def _split(pattern: str) -> list[str]:
    """The top-level alternatives of a pattern: a group name may occur only once in each."""
    return re.split(r"\|(?![^()]*\))", pattern)


def _compiled(pattern: str, language: LanguageTables) -> re.Pattern[str]:
    parts = {**_PARTS, "DAY": rf"(?:(?P<day>\d{{1,2}})#?|(?P<first>{language.calendar.first}))"}
    return re.compile(re.sub(r"WEEKDAY|DAY|NTHMONTH|NTH|MONTH|YEAR", lambda found: parts[found[0]], pattern))


@cache
def _figures_only(language: LanguageTables) -> re.Pattern[str]:
    return re.compile(rf"(?:(?:{language.calendar.on}) )?(?:{_PARTS['WEEKDAY']} )?(?P<date>\d\S+)")


@cache
def _names(language: LanguageTables) -> tuple[re.Pattern[str], list[str]]:
    """A pattern that finds weekdays and months, and what to write for its groups."""
    table = language.calendar
    marks = ["", *(f"@w{place}" for place in range(7)), *(f"@m{place}" for place in range(1, 13))]
    groups = "|".join(f"({name})" for name in (*table.weekdays, *table.months))
    return re.compile(rf"(?<!\S)(?:{groups})(?!\S)"), marks
