"""When a schedule is due: instants, and the four forms of timing (SCHEDULER-1 §3.2, §3.4). Pure functions of time.

Instants are whole microseconds since 1970 in UTC, so that what is written as text reads back as the same instant.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple, Protocol

MICRO: Final = 1_000_000
"""Microseconds in a second."""
MOST_LISTED: Final = 1_000
"""Missed instants that are listed; of more, the newest."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TICK: Final = timedelta(microseconds=1)
_DAY: Final = timedelta(days=1)
_DAYS_AHEAD: Final = 32
"""A listed day is at most a week away; some of them may be skipped."""
_EXACT: Final = 800
"""Days over which the occurrences of a wall-clock recurrence are counted one by one."""
_LAST: Final = (datetime(9999, 12, 30, tzinfo=UTC) - _EPOCH) // _TICK
_INSTANT: Final = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII
)  # fromisoformat takes more


def instant(text: str) -> int:
    """The instant that RFC 3339 text with an offset names; raises `ValueError`."""
    found = _INSTANT.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not an RFC 3339 instant with a UTC offset, such as 2031-03-29T07:30:00+01:00")
    if found[1] is not None and len(found[1]) > 7:  # more digits than Python keeps
        text = text[: found.start(1) + 7] + text[found.end(1) :]
    made = (datetime.fromisoformat(text.upper()) - _EPOCH) // _TICK
    if made > _LAST:
        raise ValueError(f"{text!r} is too far away")
    return made


def instant_text(when: int) -> str:
    """An instant as RFC 3339 text, in UTC."""
    return moment(when, UTC).isoformat()


def from_seconds(seconds: float) -> int:
    """The instant that a clock reads as Unix seconds."""
    return round(seconds * MICRO)


def moment(when: int, zone: tzinfo) -> datetime:
    """An instant as the clocks of a zone show it."""
    return (_EPOCH + timedelta(microseconds=when)).astimezone(zone)


class DueTimes(NamedTuple):
    """The occurrences in a stretch of time."""

    total: int
    newest: list[int]
    """In order; of more than were to be listed, the last ones."""


class Timing(Protocol):
    """When a schedule is due."""

    def after(self, when: int | None) -> int | None:
        """The first occurrence after an instant, or of all; None when there is none."""

    def span(self, after: int | None, until: int, most: int | None, listed: int | None = None) -> DueTimes:
        """The occurrences after one instant and not after another: the first `most` of them, the last ones `listed`."""


class Once(NamedTuple):
    """`at` and `in`."""

    at: int

    def after(self, when: int | None) -> int | None:
        return self.at if when is None or when < self.at else None

    def span(self, after: int | None, until: int, most: int | None, listed: int | None = None) -> DueTimes:  # noqa: ARG002
        found = self.after(after)
        return DueTimes(0, []) if found is None or found > until or most == 0 else DueTimes(1, [found])


class Every:
    """`every`: occurrence n is `start + n * seconds`, whatever happened to the ones before."""

    def __init__(self, start: int, seconds: float) -> None:
        self.start = start
        self.period = Fraction(seconds) * MICRO

    def after(self, when: int | None) -> int | None:
        found = self._due(self._index_after(when))
        return found if found <= _LAST else None

    def span(self, after: int | None, until: int, most: int | None, listed: int | None = None) -> DueTimes:
        first, last = self._index_after(after), self._index_after(until)
        if most is not None:
            last = min(last, first + most)
        if last <= first:
            return DueTimes(0, [])
        shown = first if listed is None else max(first, last - listed)
        return DueTimes(last - first, [self._due(n) for n in range(shown, last)])

    def _due(self, n: int) -> int:
        return self.start + n * self.period.numerator // self.period.denominator

    def _index_after(self, when: int | None) -> int:
        if when is None or when < self.start:
            return 0
        n = (when - self.start) * self.period.denominator // self.period.numerator
        while self._due(n) <= when:
            n += 1
        return n


class Local:
    """`local`: a time of day on some days of the week, as the clocks of a zone show it."""

    def __init__(self, at: time, days: frozenset[int], zone: str) -> None:
        self.at = at
        self.days = days
        self.zone = zone

    def after(self, when: int | None) -> int | None:
        return next(self._all_after(when or 0, _DAYS_AHEAD), None)

    def span(self, after: int | None, until: int, most: int | None, listed: int | None = None) -> DueTimes:
        newest: deque[int] = deque(maxlen=listed)
        count = 0
        start = after or 0
        if most != 0 and until > start:
            for found in self._all_after(start, (until - start) // (86_400 * MICRO) + 3):
                if found > until:
                    break
                newest.append(found)
                count += 1
                if count == most:
                    break
        return DueTimes(count, list(newest))

    def count(self, after: int, until: int) -> int:
        """How many occurrences there are. Over several years, those that clocks put forward skip are counted too."""
        zone = zone_of(self.zone)
        first, last = moment(after, zone).date(), moment(until, zone).date()
        if (last - first).days <= _EXACT:
            return self.span(after, until, None, 0).total
        weeks, rest = divmod((last - first).days - 1, 7)
        whole = weeks * len(self.days) + sum((first.weekday() + 1 + n) % 7 in self.days for n in range(rest))
        ends = [found for day in (first, last) if (found := self._on(day)) is not None]
        return whole + sum(after < found <= until for found in ends)

    def _all_after(self, when: int, days: int) -> Iterator[int]:
        zone = zone_of(self.zone)
        day = moment(when, zone).date() - _DAY  # the gap of a day before may reach into this one
        last = when
        for _ in range(days):
            found = self._on(day)
            if found is not None and found > last:
                last = found
                yield found
            if day >= date.max - 2 * _DAY:
                return
            day += _DAY

    def _on(self, day: date) -> int | None:
        """The occurrence of one day."""
        if day.weekday() not in self.days:
            return None
        zone = zone_of(self.zone)
        wanted = datetime.combine(day, self.at)
        # Of an hour that there is twice, the first.
        found = (wanted.replace(tzinfo=zone).astimezone(UTC) - _EPOCH) // _TICK
        if moment(found, zone).replace(tzinfo=None) == wanted:
            return found
        found = _end_of_gap(wanted, zone)
        return found if moment(found, zone).weekday() in self.days else None


def _end_of_gap(wanted: datetime, zone: tzinfo) -> int:
    """The first instant after clocks were put forward over a time of day."""
    before = wanted.replace(tzinfo=zone).utcoffset() or timedelta()
    behind = wanted.replace(tzinfo=zone, fold=1).utcoffset() or timedelta()
    earliest = (wanted.replace(tzinfo=UTC) - behind - _EPOCH) // _TICK
    seconds = range((behind - before) // timedelta(seconds=1) + 1)
    changed = bisect_left(seconds, True, key=lambda n: moment(earliest + n * MICRO, zone).utcoffset() != before)
    return earliest + changed * MICRO


@lru_cache(maxsize=64)
def zone_of(name: str) -> tzinfo:
    """The zone with an IANA name; raises `LookupError` where this machine does not know it."""
    # Imported when it is first needed: it is slow to import, and most schedules have no zone.
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo.no_cache(name)
    except (LookupError, ValueError, OSError) as error:
        raise LookupError(f"no time zone {name!r} is known here: {error}") from None


def forget_zones() -> None:
    """Read zones again: their rules may have been updated on this machine."""
    zone_of.cache_clear()
