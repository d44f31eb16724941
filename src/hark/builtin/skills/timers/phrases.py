"""How timers, alarms and reminders, and the times they are due, are said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from hark.builtin.skills.timers.when import DAYS, WEEKDAYS, WEEKENDS, machine_zone
from hark.plugins import ScheduledCall, Turn
from hark.plugins.home import zone_named
from hark.skills.spoken import spoken_date, spoken_duration, spoken_list, spoken_time, weekday_name

ItemKind = Literal["timer", "alarm", "reminder"]
_HOURS: Final = timedelta(hours=12)
"""A time from now that is further away is said as a time of day."""


def zone_name(turn: Turn) -> str:
    """The time zone of the user."""
    return turn.home.time_zone or machine_zone()


def local_now(turn: Turn, wall: float) -> datetime:
    """The time where the user is."""
    try:
        return datetime.fromtimestamp(wall, zone_named(zone_name(turn)))
    except LookupError:
        return datetime.fromtimestamp(wall).astimezone()


def said_at(turn: Turn, moment: datetime) -> str:
    """ "at 7:00 AM"."""
    hour = moment.hour if turn.home.clock == 24 else moment.hour % 12
    return turn.render("at_one" if hour == 1 else "at", time=spoken_time(moment, turn.lang, turn.home.clock))


def said_moment(turn: Turn, moment: datetime, now: datetime) -> str:
    """ "tomorrow at 7:00 AM"."""
    here = moment.astimezone(now.tzinfo)
    away = (here.date() - now.date()).days
    at = said_at(turn, here)
    if away in (0, 1):
        return turn.render("when_tomorrow" if away else "when_today", at=at)
    # German needs the parts: "am Mittwoch, dem 18. November".
    weekday, day = weekday_name(here.weekday(), turn.lang), spoken_date(here, turn.lang, weekday=False)
    return turn.render("when_day", date=spoken_date(here, turn.lang), weekday=weekday, day=day, at=at)


def said_repeat(turn: Turn, days: Sequence[str], moment: datetime) -> str:
    """ "on weekdays at 7:00 AM"."""
    at = said_at(turn, moment)
    for name, some in (("repeat_daily", DAYS), ("repeat_weekdays", WEEKDAYS), ("repeat_weekends", WEEKENDS)):
        if set(days) == set(some):
            return turn.render(name, at=at)
    names = [weekday_name(number, turn.lang) for number, day in enumerate(DAYS) if day in days]
    return turn.render("repeat_days", days=spoken_list(names, turn.lang), at=at)


def said_due(turn: Turn, call: ScheduledCall, now: datetime) -> str:
    """When something is due, as it is said of it."""
    due = call.next or now
    days = call.data.get("days")
    if days:
        return said_repeat(turn, days, due.astimezone(now.tzinfo))
    if call.data.get("relative") and due - now < _HOURS:
        return turn.render("when_in", duration=said_length(turn, (due - now).total_seconds()))
    return said_moment(turn, due, now)


def said_length(turn: Turn, seconds: float) -> str:
    """A length of time; long ones without seconds."""
    whole = round(seconds)
    return spoken_duration(whole - whole % 60 if whole >= 600 else max(whole, 1), turn.lang)


def said_item(turn: Turn, form: Literal["a", "the"], data: Mapping[str, Any], when: str) -> str:
    """ "a timer for 5 minutes", "the pizza timer", "an alarm tomorrow at 7:00 AM"."""
    kind, name = data["kind"], data.get("name", "")
    if kind == "timer":
        if name:
            return turn.render(f"{form}_timer_named", name=name)
        return turn.render(f"{form}_timer", length=said_length(turn, data["seconds"]))
    if kind == "alarm" and name:
        return turn.render(f"{form}_alarm_named", name=name, when=when)
    if kind == "alarm":
        return turn.render(f"{form}_alarm", when=when)
    return turn.render(f"{form}_reminder", {"name": name, **({"when": when} if form == "a" else {})})
