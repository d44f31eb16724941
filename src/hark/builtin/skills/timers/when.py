"""When something is to happen, found anywhere in a sentence: a moment, a span, or days of the week."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, time, timedelta, tzinfo
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from hark.builtin.values import read
from hark.plugins.schedules import Weekday
from hark.plugins.values import Kind
from hark.skills.spoken import weekday_name

DAYS: Final[tuple[Weekday, ...]] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
WEEKDAYS: Final = DAYS[:5]
WEEKENDS: Final = DAYS[5:]

M = TypeVar("M", time, datetime)

Phrases = Callable[[str], frozenset[tuple[str, ...]]]
"""The phrases of a vocabulary, as words."""

_LONGEST: Final = 9
"""Words that a time has at most."""
_FIRST_HOUR: Final = 7
"""Until this hour in the morning most people are asleep."""
_A_WHILE: Final = timedelta(minutes=7)
_EDGES: Final = ",.!?;:¿¡\"'"
_REPEATS: Final[tuple[tuple[str, tuple[Weekday, ...]], ...]] = (
    ("weekdays", WEEKDAYS),
    ("weekends", WEEKENDS),
    ("morning", DAYS),
    ("evening", DAYS),
    ("daily", DAYS),
)


class When(NamedTuple):
    """What a sentence says of time, and what else it says."""

    at: datetime | None = None
    """A moment."""
    after: timedelta | None = None
    """How far from now it is, if that is how it was said: "in ten minutes"."""
    dayless: bool = False
    """Whether only a time of day was said: `at` is when clocks show it next."""
    day: date | None = None
    """A day without a time."""
    daily: time | None = None
    """A time of day on each of `days`."""
    days: tuple[Weekday, ...] = ()
    """The days on which it repeats."""
    rest: str = ""
    """The sentence without what was said of time."""


def find_when(
    text: str,
    lang: str,
    now: datetime,
    zone: tzinfo,
    phrases: Phrases,
    *,
    bare: bool = False,
    soonest: bool = False,
    awake: bool = False,
) -> When:
    """The time in a sentence. With `bare` a number at its end may be an hour: "six". With `soonest`, "at nine" is
    nine in the evening if that comes first. With `awake`, "tomorrow at two" is two in the afternoon.
    """

    def value(kind: Kind) -> Callable[[str], object]:
        return lambda phrase: read(kind, phrase, lang, now, zone)

    days, part, words = _repeat(_words(text), lang, phrases)
    first, said, rest = _longest(words, value("when"))
    if first is None and (bare or days):
        first, said, rest = _last(words, value("time"))
    if isinstance(first, time) and not days:
        # "Tomorrow remind me to call mum at nine": the day is elsewhere.
        second, _, other = _longest(rest, value("date"))
        if type(second) is date:
            first, rest = datetime.combine(second, first, zone), other
    elif type(first) is date:
        first, said, rest = _with_time(first, said, rest, value, bare, zone)
    left = " ".join(rest)
    if days:
        moment = first.timetz().replace(tzinfo=None) if isinstance(first, datetime) else first
        daily = _in_part(moment, part)
        if awake and daily is not None and not part:
            daily = _awake(daily, said, value("when"))
        return When(daily=daily, days=days, rest=left)
    if isinstance(first, datetime):
        if awake:
            first = _awake(first, said, value("time"))
        # What moves with the clock was said as a time from now.
        moved = read("when", said, lang, now + _A_WHILE, zone)
        is_relative = moved == first + _A_WHILE
        # Values are read from a whole second on.
        return When(at=first, after=first - now.replace(microsecond=0) if is_relative else None, rest=left)
    if isinstance(first, time):
        moments = [first]
        if soonest and lang.startswith("en") and isinstance(later := value("when")(f"{said} pm"), time):
            moments.append(later)
        return When(at=_next(moments, now, zone), dayless=True, rest=left)
    return When(day=first if isinstance(first, date) else None, rest=left)


def _with_time(
    day: date, said: str, rest: list[str], value: Callable[[Kind], Callable[[str], object]], bare: bool, zone: tzinfo
) -> tuple[object, str, list[str]]:
    """A day with the time of day that is said elsewhere in the sentence; the day alone when there is none."""
    moment, at, other = _longest(rest, value("when"))
    if moment is None and bare:  # "six tomorrow"
        moment, at, other = _longest(rest, value("time"))
    return (datetime.combine(day, moment, zone), at, other) if isinstance(moment, time) else (day, said, rest)


def find_duration(text: str, lang: str, now: datetime) -> tuple[timedelta | None, str]:
    """The length of time in a sentence, and the sentence without it."""
    found, _, rest = _longest(_words(text), lambda phrase: read("duration", phrase, lang, now))
    return (found, " ".join(rest)) if isinstance(found, timedelta) else (None, text)


def machine_zone() -> str:
    """The IANA name of this machine's time zone, as well as it can be found."""
    named = os.environ.get("TZ", "").removeprefix(":")
    if "/" in named or named == "UTC":
        return named.partition("zoneinfo/")[2] or named
    try:
        linked = str(Path("/etc/localtime").resolve()).partition("zoneinfo/")[2]
    except OSError:
        linked = ""
    return linked or "UTC"


def _words(text: str) -> list[str]:
    return [word for raw in text.split() if (word := raw.strip(_EDGES))]


def _spans(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    for size in range(min(len(words), _LONGEST), 0, -1):
        for start in range(len(words) - size + 1):
            yield start, start + size


def _longest(words: list[str], value: Callable[[str], object]) -> tuple[object, str, list[str]]:
    """The value of the longest run of words that has one, that run, and the words around it."""
    for start, end in _spans(words):
        said = " ".join(words[start:end])
        found = value(said)
        if found is not None:
            return found, said, words[:start] + words[end:]
    return None, "", words


def _last(words: list[str], value: Callable[[str], object]) -> tuple[object, str, list[str]]:
    """As `_longest`, for words at the end."""
    for start in range(max(len(words) - _LONGEST, 0), len(words)):
        said = " ".join(words[start:])
        found = value(said)
        if found is not None:
            return found, said, words[:start]
    return None, "", words


def _repeat(words: list[str], lang: str, phrases: Phrases) -> tuple[tuple[Weekday, ...], str, list[str]]:
    """The days on which something repeats, the part of the day if it was said with them, and the other words."""
    folded = [word.casefold() for word in words]
    for name, days in _REPEATS:
        for phrase in sorted(phrases(name), key=len, reverse=True):
            for start in range(len(words) - len(phrase) + 1):
                if tuple(folded[start : start + len(phrase)]) == phrase:
                    return days, name, words[:start] + words[start + len(phrase) :]
    return _named_days(words, folded, lang, phrases)


def _named_days(
    words: list[str], folded: list[str], lang: str, phrases: Phrases
) -> tuple[tuple[Weekday, ...], str, list[str]]:
    """Mondays; every Monday and Friday."""
    joining = {phrase[0] for phrase in phrases("joining")}
    for start, word in enumerate(folded):
        number, is_plural = _weekday(word, lang)
        if number is None:
            continue
        before = next((one for one in phrases("every") if tuple(folded[start - len(one) : start]) == one), None)
        if before is None and not is_plural:
            continue
        end, days = start + 1, [number]
        while end < len(words):
            step = end + (folded[end] in joining)
            other = _weekday(folded[step], lang)[0] if step < len(words) else None
            if other is None:
                break
            days.append(other)
            end = step + 1
        begin = start - len(before or ())
        return tuple(DAYS[day] for day in sorted(set(days))), "", words[:begin] + words[end:]
    return (), "", words


def _weekday(word: str, lang: str) -> tuple[int | None, bool]:
    """Which day of the week a word is, and whether it is said in the plural."""
    for number in range(7):
        name = weekday_name(number, lang).casefold()
        short = name.partition("-")[0]
        if word in (name, short):
            return number, False
        if word in (f"{name}s", f"{short}s", f"{short}s-feiras"):
            return number, True
    return None, False


def _in_part(moment: object, part: str) -> time | None:
    if not isinstance(moment, time):
        return None
    return moment.replace(hour=moment.hour + 12) if part == "evening" and moment.hour < 12 else moment


def _awake(moment: M, said: str, value: Callable[[str], object]) -> M:
    """`moment`, in the afternoon where it was said as an hour before seven, and as that of either half of the day."""
    if not 1 <= moment.hour < _FIRST_HOUR:
        return moment
    later = value(f"{said} pm")
    return moment.replace(hour=later.hour) if isinstance(later, time | datetime) else moment


def _next(moments: Sequence[time], now: datetime, zone: tzinfo) -> datetime:
    """When clocks show one of these times next."""
    here = now.astimezone(zone)
    dues = []
    for moment in moments:
        due = datetime.combine(here.date(), moment, zone)
        dues.append(due if due > here else datetime.combine(here.date() + timedelta(days=1), moment, zone))
    return min(dues)
