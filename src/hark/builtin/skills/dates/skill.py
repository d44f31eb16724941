"""The dates skill: which day a date is, how long it is until then, the month, the year."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Final

from hark.builtin.skills.days import day_named, is_number
from hark.builtin.skills.tables import plain
from hark.intents.locale import MissingResource
from hark.plugins import Turn
from hark.skills import Skill, intent
from hark.skills.spoken import month_name, spoken_date, spoken_duration, spoken_list, weekday_name

_FOLLOWED: Final = 3
"""Turns for which "and easter?" is understood."""
_WEEK: Final = 7
_YEAR: Final = timedelta(days=365)
_DAY: Final = 86_400.0
_NEAR: Final = 300
"""Days within which a date is said without its year."""


class DatesSkill(Skill):
    """Answers questions about days that are not today."""

    id = "dates.skill"
    reads_late = True

    @intent(file="day_of")
    def day_of(self, turn: Turn) -> None:
        """The date and weekday of a day."""
        day = self._day(turn)
        turn.remember("asked", f"day_of {day or ''}", turns=_FOLLOWED)
        if day is not None:
            near = abs((day - self._now(turn).date()).days) < _NEAR
            turn.say(self._tense("day_of", day, turn), date=spoken_date(day, turn.lang, year=not near))

    @intent(file="until")
    def until(self, turn: Turn) -> None:
        """How long it is until a day, in days."""
        turn.remember("asked", "until", turns=_FOLLOWED)
        if (left := self._seconds_until(turn, turn.slots["day"])) is not None:
            turn.say("hours", duration=spoken_duration(left, turn.lang))
            return
        day = self._day(turn)
        if day is not None:
            self._count(turn, (day - self._now(turn).date()).days)

    @intent(file="between")
    def between(self, turn: Turn) -> None:
        """How many days lie between two days."""
        first, second = (self._named(turn, turn.slots[slot]) for slot in ("first", "day"))
        if first is None or second is None:
            return
        # "From March 1st to March 10th", said between the two: the second after the first.
        after = day_named(turn.slots["day"], turn.lang, datetime.combine(first, time(), self._now(turn).tzinfo))
        ends = [end for end in (second, after) if end is not None and end != first] or [first]
        turn.say("between", days=min(abs((end - first).days) for end in ends))

    @intent(file="weeks_until")
    def weeks_until(self, turn: Turn) -> None:
        """How long it is until a day, in weeks and days."""
        day = self._day(turn)
        if day is None:
            return
        total = (day - self._now(turn).date()).days
        weeks, days = divmod(abs(total), 7)
        if not weeks:
            self._count(turn, total)
        elif (weeks, days) == (1, 0):
            turn.say("weeks_one")
        else:
            length = turn.render("a_week") if weeks == 1 else turn.render("some_weeks", weeks=weeks)
            rest = [spoken_duration(days * _DAY, turn.lang)] if days else []
            turn.say("weeks", length=spoken_list([length, *rest], turn.lang))

    @intent(file="hours_until")
    def hours_until(self, turn: Turn) -> None:
        """How long it is until a time of day, in hours and minutes."""
        now = self._now(turn)
        said = turn.slots.get("time") or turn.utterance.rpartition(" ")[2]
        if (left := self._seconds_until(turn, said)) is not None:
            turn.say("hours", duration=spoken_duration(left, turn.lang))
            return
        day = day_named(said, turn.lang, now)
        if day is None:
            turn.say("unknown_day", day=said)
            return
        hours = round((datetime.combine(day, time(), now.tzinfo) - now).total_seconds() / 3600)
        turn.say("hours", duration=spoken_duration(max(hours, 0) * 3600.0, turn.lang))

    @intent(file="is_it")
    def is_it(self, turn: Turn) -> None:
        """Whether today, or another day, is the one that was named."""
        now = self._now(turn)
        asked = day_named(turn.slots["day"], turn.lang, now) if "day" in turn.slots else now.date()
        named = self._weekday(turn.slots["weekday"], turn.lang)
        if "other" in turn.slots and asked is not None:
            turn.say("day_of", date=spoken_date(asked, turn.lang))
            return
        if asked is None or named is None:
            turn.say("unknown_day", day=turn.slots["weekday"] if asked else turn.slots["day"])
            return
        turn.say(
            "yes_it_is" if asked.weekday() == named else "no_it_is", weekday=weekday_name(asked.weekday(), turn.lang)
        )

    @intent(file="year")
    def year(self, turn: Turn) -> None:
        """The year."""
        turn.say("year", year=self._now(turn).year)

    @intent(file="month")
    def month(self, turn: Turn) -> None:
        """The month."""
        turn.say("month", month=month_name(self._now(turn).month, turn.lang))

    @intent(file="week")
    def week(self, turn: Turn) -> None:
        """The number of the week."""
        turn.say("week", week=self._now(turn).isocalendar().week)

    @intent(file="leap_year")
    def leap_year(self, turn: Turn) -> None:
        """Whether this year has a 29th of February."""
        from calendar import isleap  # here: it is large, and asked for once in a while

        year = self._now(turn).year
        said = turn.slots.get("year", "").removeprefix("the year ").strip()
        if said.isdigit() and 1 <= int(said) <= 9999:
            year = int(said)
        turn.say("leap_year" if isleap(year) else "no_leap_year", year=year)

    @intent(file="next_leap_year")
    def next_leap_year(self, turn: Turn) -> None:
        """The next year with a 29th of February."""
        from calendar import isleap

        now = self._now(turn)
        first = now.year + (now.month > 2)
        turn.say("next_leap_year", year=next(year for year in range(first, first + 9) if isleap(year)))

    @intent(file="days_in_month")
    def days_in_month(self, turn: Turn) -> None:
        """How many days a month has."""
        from calendar import monthrange

        now = self._now(turn)
        names = {plain(month_name(number, turn.lang)): number for number in range(1, 13)}
        number = names.get(plain(turn.slots["month"]), now.month if turn.slots["month"].startswith("this") else None)
        if number is None:
            turn.say("unknown_day", day=turn.slots["month"])
            return
        name = month_name(number, turn.lang)
        turn.say("days_in_month", month=name[:1].upper() + name[1:], days=monthrange(now.year, number)[1])

    @intent(file="and_day", requires=("asked",))
    def and_day(self, turn: Turn) -> None:
        """The same question about another day."""
        (self.until if self._asked(turn).startswith("until") else self.day_of)(turn)

    def _asked(self, turn: Turn) -> str:
        """What was asked before, and the day that it was about."""
        entry = turn.session.intent_context.get(f"{self.id}:asked")
        return (entry.value if entry is not None else None) or ""

    def _now(self, turn: Turn) -> datetime:
        return turn.home.local(self.host.clock.wall())

    def _seconds_until(self, turn: Turn, said: str) -> float | None:
        """How long it is until a time of day, in whole minutes unless it is less than one; None for other words."""
        from hark.builtin.values.plugin import read  # its tables are large

        now = self._now(turn)
        when = read("time", said, turn.lang, now, now.tzinfo)
        if isinstance(when, time):
            later = read("time", f"{said} pm", turn.lang, now, now.tzinfo) if turn.home.clock == 12 else None
            moments = [moment for moment in (when, later) if isinstance(moment, time)]
            dues = [datetime.combine(now.date(), moment, now.tzinfo) for moment in moments]
            when = min(due if due > now else due + timedelta(days=1) for due in dues)
        if not isinstance(when, datetime) or when <= now:
            return None
        left = (when - now).total_seconds()
        return round(left / 60) * 60.0 or left

    def _named(self, turn: Turn, said: str) -> date | None:
        """The day that the user names, alone or after another one: "and the 31st"; else the user is told."""
        now = self._now(turn)
        before = self._asked(turn).partition(" ")[2]
        day = day_named(said, turn.lang, now)
        if before:
            asked = datetime.combine(date.fromisoformat(before), time(), now.tzinfo)
            words = tuple(said.casefold().split())
            if words in self.locale.phrases("day_before", turn.lang):
                day = asked.date() - timedelta(days=1)
            elif words in self.locale.phrases("day_after", turn.lang):
                day = asked.date() + timedelta(days=1)
            elif is_number(said, turn.lang):
                day = day_named(said, turn.lang, asked.replace(day=1))
        if day is None:
            turn.say("unknown_day", day=said)
        return day

    def _day(self, turn: Turn) -> date | None:
        now = self._now(turn)
        day = self._named(turn, " ".join(filter(None, (turn.slots["day"], turn.slots.get("year")))))
        if day is None:
            return None
        if day.year == now.year and self._says(turn, "next_year"):
            later = day_named(turn.slots["day"], turn.lang, now.replace(year=now.year + 1, month=1, day=1))
            return later if later is not None and later.year == now.year + 1 else day
        ahead = (day - now.date()).days
        is_past = (ahead > 0 and self._says(turn, "since")) or (ahead > _WEEK and self._says(turn, "past"))
        return self._last(turn, day) if is_past else day

    def _last(self, turn: Turn, day: date) -> date:
        """The day with the same name before today; `day` when it has a name only once."""
        now = self._now(turn)
        for past in (timedelta(days=_WEEK), _YEAR):
            before = day_named(turn.slots["day"], turn.lang, now - past)
            if before is not None and before < now.date():
                return before
        return day

    def _says(self, turn: Turn, name: str) -> bool:
        """Whether a phrase of a vocabulary was said: "what day was", "next year"."""
        said = set(turn.utterance.casefold().split())
        try:
            return any(set(phrase) <= said for phrase in self.locale.phrases(name, turn.lang))
        except MissingResource:
            return False

    def _tense(self, dialog: str, day: date, turn: Turn) -> str:
        return f"{dialog}_past" if day < self._now(turn).date() else dialog

    def _count(self, turn: Turn, days: int) -> None:
        if days == 0:
            turn.say("it_is_today")
        elif days == 1:
            turn.say("it_is_tomorrow")
        elif days == -1:
            turn.say("it_was_yesterday")
        else:
            turn.say("days" if days > 0 else "days_ago", days=abs(days))

    def _weekday(self, text: str, lang: str) -> int | None:
        names = {plain(weekday_name(number, lang)): number for number in range(7)}
        return names.get(plain(text))
