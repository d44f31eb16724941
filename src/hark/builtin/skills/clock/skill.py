"""The clock skill: the time and the date, here and in other places."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from hark.builtin.skills.days import day_named
from hark.builtin.skills.tables import Table, plain, read_table, table
from hark.plugins import Turn
from hark.plugins.home import zone_named
from hark.skills import Skill, intent
from hark.skills.spoken import month_name, spoken_date, spoken_duration, spoken_time, weekday_name

_HERE: Final = Path(__file__).parent


class Place(NamedTuple):
    """A place with one time."""

    name: str
    """Its name in the language of the turn."""
    zone: str


class LocalClock(NamedTuple):
    """What the clocks of a place show."""

    city: str
    """The name of the place; nothing where the user is."""
    now: datetime


def place(said: str, lang: str) -> Place | None:
    """The place with the name `said` in `lang`, or else in any language; None when there is none."""
    wanted = plain(said)
    found = _names(lang).get(wanted) or _everywhere().get(wanted)
    return found or _place_in(wanted.split(), lang)


def _place_in(words: list[str], lang: str) -> Place | None:
    """A city with its country behind it: "sydney australia". Paris in Texas is another than the one that is known."""
    for end in range(len(words) - 1, 0, -1):
        city, rest = place(" ".join(words[:end]), lang), " ".join(words[end:])
        country = None if city is None else place(rest, lang)
        world = "" if city is None else _part_of_world(city)
        if rest == plain(world) or (country is not None and _part_of_world(country) == world):
            return city
    return None


def _part_of_world(one: Place) -> str:
    return one.zone.partition("/")[0]


@lru_cache(maxsize=8)
def _names(lang: str) -> dict[str, Place]:
    return _by_name(table(_HERE / "names", "places", lang))


@lru_cache(maxsize=1)
def _everywhere() -> dict[str, Place]:
    """The names of places in English and in their own language."""
    return _by_name(read_table(_HERE / "places.txt"))


def _by_name(zones: Table) -> dict[str, Place]:
    return {plain(name): Place(name, zone) for zone, names in zones.items() for name in names}


_FOLLOWED: Final = 3
"""Turns for which "and in Lima?" is understood."""


class ClockSkill(Skill):
    """Tells time, date and weekday where the user is, as far as the session says, and in the places it knows."""

    id = "clock.skill"
    reads_late = True

    @intent(file="time_here")
    def time_here(self, turn: Turn) -> None:
        """The time of day."""
        turn.remember("asked", "time", turns=_FOLLOWED)
        self._tell(turn, "time", self._now(turn))

    @intent(file="date_here")
    def date_here(self, turn: Turn) -> None:
        """The date, with its weekday."""
        turn.remember("asked", "date", turns=_FOLLOWED)
        self._tell(turn, "date", self._now(turn))

    @intent(file="day_here")
    def day_here(self, turn: Turn) -> None:
        """The weekday."""
        turn.remember("asked", "day", turns=_FOLLOWED)
        self._tell(turn, "day", self._now(turn))

    @intent(file="time_in")
    def time_in(self, turn: Turn) -> None:
        """The time of day somewhere else."""
        self._tell_there(turn, "time")

    @intent(file="date_in")
    def date_in(self, turn: Turn) -> None:
        """The date somewhere else."""
        self._tell_there(turn, "date")

    @intent(file="difference")
    def difference(self, turn: Turn) -> None:
        """How much later or earlier it is somewhere else."""
        pair = [self._clock_at(turn, turn.slots.get(slot, "")) for slot in ("city", "other")]
        if pair[0] is None or pair[1] is None:
            return
        (city, there), (other, here) = (pair[1], pair[0]) if not pair[0].city else (pair[0], pair[1])
        later = (there.utcoffset() or timedelta()) - (here.utcoffset() or timedelta())
        values = {"city": city, "other": other, "duration": spoken_duration(abs(later).total_seconds(), turn.lang)}
        if not city:
            self.time_here(turn)
        elif not later:
            turn.say("same_time", values)
        else:
            turn.say(("ahead" if later > timedelta() else "behind") + ("_of" if other else ""), values)

    @intent(file="and_in", requires=("asked",))
    def and_in(self, turn: Turn) -> None:
        """The same question about another place."""
        asked = turn.session.intent_context.get(f"{self.id}:asked")
        self._tell_there(turn, "time" if asked is None or asked.value == "time" else "date")

    def _tell_there(self, turn: Turn, what: str) -> None:
        turn.remember("asked", what, turns=_FOLLOWED)
        if place(turn.slots["city"], turn.lang) is None and self._tell_later(turn, what):
            return
        found = self._clock_at(turn, turn.slots["city"])
        if found is not None:
            self._tell(turn, what, found.now, found.city)

    def _tell_later(self, turn: Turn, what: str) -> bool:
        """Answer "what date is it in three weeks", whose words are those of a question about a place."""
        before, _, _ = turn.utterance.casefold().rpartition(turn.slots["city"].casefold())
        said, now = " ".join([*before.split()[-1:], turn.slots["city"]]), turn.home.local(self.host.clock.wall())
        if what == "time":
            from hark.builtin.values.plugin import read  # its tables are large

            moment = read("when", said, turn.lang, now, now.tzinfo)
            if not isinstance(moment, datetime):
                return False
            self._tell(turn, "time", moment)
            return True
        day = day_named(said, turn.lang, now)
        if day is None:
            return False
        self._tell(turn, "date", datetime.combine(day, datetime.min.time()))
        return True

    def _clock_at(self, turn: Turn, said: str) -> LocalClock | None:
        """The time in a place, or here; None when the user was told why it is not known."""
        if not said or self._is_here(turn, said):
            return LocalClock("", self._now(turn))
        there = place(said, turn.lang)
        if there is None:
            turn.say("unknown_place", city=said)
            return None
        try:
            return LocalClock(there.name, datetime.fromtimestamp(self.host.clock.wall(), zone_named(there.zone)))
        except LookupError:  # no time zone database on this machine, or an old one
            self.host.log.warning("the time zone %r is not known here; is there a package 'tzdata'?", there.zone)
            turn.say("no_zones", city=there.name)
            return None

    def _is_here(self, turn: Turn, said: str) -> bool:
        return tuple(said.casefold().split()) in self.locale.phrases("here", turn.lang)

    def _tell(self, turn: Turn, what: str, now: datetime, city: str = "") -> None:
        lang, clock = turn.lang, turn.home.clock
        values: dict[str, object] = {
            "time": spoken_time(now, lang, clock),
            "hour": f"{now:%H}" if lang.startswith("en") else now.hour,
            "minute": f"{now:%M}",
        }
        if what != "time":
            values = {
                "weekday": weekday_name(now.weekday(), lang),
                "date": spoken_date(now, lang, year=True),
                "day": now.day,
                "month": month_name(now.month, lang),
                "year": now.year,
            }
        elif now.hour == 1 or (clock == 12 and now.hour == 13):  # "es la una", "son las dos"
            what = "time_one"
        turn.say(f"{what}_there" if city else what, {**values, "city": city} if city else values)

    def _now(self, turn: Turn) -> datetime:
        """The time where the user is; else this device's, after saying so."""
        home = turn.home
        try:
            home.zone  # noqa: B018 - raises for a zone that is not known here
        except LookupError as error:
            self.host.log.warning("%s", error)
            turn.say("unknown_zone")
        return home.local(self.host.clock.wall())
