"""The weather skill: now and in the next days, here and elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from hark.builtin.skills.days import day_named, day_phrase
from hark.builtin.skills.tables import plain, table
from hark.builtin.skills.web import Unreachable
from hark.plugins import Turn
from hark.skills import Skill, intent
from hark.skills.spoken import spoken_degrees, spoken_speed, spoken_time

if TYPE_CHECKING:  # read when a user asks for the weather
    from hark.builtin.skills.weather.forecast import DayWeather, Forecast, WeatherPlace

_NAMES: Final = Path(__file__).parent / "names"
_FOLLOWED: Final = 3
"""Turns for which "and tomorrow" is understood."""
_LIKELY: Final = 50
_POSSIBLE: Final = 20
_FRESH: Final = 600.0
"""Seconds for which a forecast is used again."""
_KEPT: Final = 16


@dataclass(frozen=True)
class _Asked:
    """What the forecast is about."""

    place: WeatherPlace
    forecast: Forecast
    day: date
    today: date
    is_now: bool

    @property
    def weather(self) -> DayWeather | None:
        return self.forecast.on(self.day)


class _Before(NamedTuple):
    """What the question before was about, as far as it was said."""

    place: str | None = None
    day: date | None = None


_NOTHING_BEFORE: Final = _Before()


class WeatherSkill(Skill):
    """Tells the weather by the forecasts of Open-Meteo, which needs no account. It is asked only when the user asks."""

    id = "weather.skill"
    reads_late = True

    @dataclass(frozen=True)
    class Settings:
        forecast_url: str = "https://api.open-meteo.com/v1/forecast"
        """Where forecasts come from; a server of your own has the same interface."""
        places_url: str = "https://geocoding-api.open-meteo.com/v1/search"
        """Where places are looked up by their names."""

    settings: Settings

    def __init__(self) -> None:
        self._forecasts: dict[WeatherPlace, tuple[float, Forecast]] = {}

    @intent(file="weather")
    def weather(self, turn: Turn) -> None:
        """The weather now, or on a day."""
        self._answer(turn, "weather", self._weather)

    @intent(file="temperature")
    def temperature(self, turn: Turn) -> None:
        """How warm it is, or will be."""
        self._answer(turn, "temperature", self._temperature)

    @intent(file="rain")
    def rain(self, turn: Turn) -> None:
        """Whether it rains."""
        self._answer(turn, "rain", self._rain)

    @intent(file="umbrella")
    def umbrella(self, turn: Turn) -> None:
        """Whether an umbrella is needed."""
        self._answer(turn, "umbrella", self._umbrella)

    @intent(file="snow")
    def snow(self, turn: Turn) -> None:
        """Whether it snows."""
        self._answer(turn, "snow", self._snow)

    @intent(file="wind")
    def wind(self, turn: Turn) -> None:
        """How windy it is."""
        self._answer(turn, "wind", self._wind)

    @intent(file="humidity")
    def humidity(self, turn: Turn) -> None:
        """How humid it is."""
        self._answer(turn, "humidity", self._humidity)

    @intent(file="sun")
    def sun(self, turn: Turn) -> None:
        """When the sun rises and sets."""
        self._answer(turn, "sun", self._sun)

    @intent(file="and_day", requires=("asked",))
    def and_day(self, turn: Turn) -> None:
        """The same question about another day or another place."""
        entry = turn.session.intent_context.get(f"{self.id}:asked")
        what, place, day = [*str(entry.value if entry else "").split("\n"), "", ""][:3]
        before = _Before(place or None, date.fromisoformat(day) if day else None)
        what = what or "weather"
        self._answer(turn, what, getattr(self, f"_{what}"), before)

    def _answer(
        self, turn: Turn, what: str, say: Callable[[Turn, _Asked], None], before: _Before = _NOTHING_BEFORE
    ) -> None:
        turn.remember("asked", what, turns=_FOLLOWED)
        try:
            asked = self._asked(turn, before)
        except Unreachable as error:
            self.host.log.info("no forecast: %s", error)
            turn.say("unreachable")
            return
        if asked is None:
            return
        name = "" if turn.home.place == asked.place.name else asked.place.name
        turn.remember("asked", f"{what}\n{name}\n{asked.day}", turns=_FOLLOWED)
        if asked.weather is None:
            turn.say("too_far", day=day_phrase(asked.day, asked.today, turn.lang))
            return
        say(turn, asked)

    def _asked(self, turn: Turn, before: _Before) -> _Asked | None:
        """The forecast that is asked for; None when the user was told why there is none. Raises `Unreachable`.

        A question that goes on with another one is about its place, if it names none, and about its day.
        """
        now = turn.home.local(self.host.clock.wall())
        day = day_named(turn.slots["day"], turn.lang, now) if "day" in turn.slots else now.date()
        name = turn.slots.get("place")
        if name is not None and "day" not in turn.slots:
            name, day = _place_and_day(name, turn.lang, now)
        if day is None and name is None and "day" in turn.slots:
            if plain(turn.slots["day"]) in self._words("week", turn.lang):
                day = now.date()
            else:
                name, day = turn.slots["day"], now.date()  # "and paris"
        if day is None:
            turn.say("unknown_day", day=turn.slots["day"])
            return None
        if name is None:
            name = before.place
        elif before.day is not None and day == now.date():  # "and in paris"
            day = before.day
        place = self._place(turn, name)
        if place is None:
            return None
        is_now = day == now.date() and (
            "day" not in turn.slots or plain(turn.slots["day"]) in self._words("now", turn.lang)
        )
        return _Asked(place, self._forecast(place), day, now.date(), is_now)

    def _place(self, turn: Turn, name: str | None) -> WeatherPlace | None:
        from hark.builtin.skills.weather.forecast import WeatherPlace, find_place

        home = turn.home
        if name is None and home.latitude is not None and home.longitude is not None:
            return WeatherPlace(home.place, home.latitude, home.longitude)
        wanted = name or home.place
        if not wanted:
            turn.say("no_home")
            return None
        found = find_place(self.settings.places_url, wanted, turn.lang)
        if found is None:
            turn.say("unknown_place", place=wanted)
        return found

    def _forecast(self, place: WeatherPlace) -> Forecast:
        from hark.builtin.skills.weather.forecast import forecast

        now = self.host.clock.wall()
        made, known = self._forecasts.get(place, (0.0, None))
        if known is not None and now < made + _FRESH:
            return known
        fresh = forecast(self.settings.forecast_url, place)
        while len(self._forecasts) >= _KEPT:
            del self._forecasts[next(iter(self._forecasts))]
        self._forecasts[place] = now, fresh
        return fresh

    def _weather(self, turn: Turn, asked: _Asked) -> None:
        weather, lang, home = _of(asked), turn.lang, turn.home
        high, low = spoken_degrees(weather.high, home, lang), spoken_degrees(weather.low, home, lang)
        if asked.is_now:
            now = asked.forecast.now
            degrees, sky = spoken_degrees(now.temperature, home, lang), self._sky(now.code, lang)
            turn.say("now", degrees=degrees, sky=sky + self._where(turn, asked), high=high, low=low)
            return
        if self._is_week(turn):
            self._week(turn, asked)
            return
        said = self._said(turn, asked) + self._where(turn, asked)
        turn.say("day", day=said, sky=self._sky(weather.code, lang), high=high, low=low)
        if weather.day.weekday() == 5 and self._is_weekend(turn):
            sunday = asked.forecast.on(weather.day + timedelta(days=1))
            if sunday is not None:
                high, low = spoken_degrees(sunday.high, home, lang), spoken_degrees(sunday.low, home, lang)
                day = _capital(day_phrase(sunday.day, asked.today, lang))
                turn.say("day", day=day, sky=self._sky(sunday.code, lang), high=high, low=low)

    def _week(self, turn: Turn, asked: _Asked) -> None:
        lang, home = turn.lang, turn.home
        for weather in asked.forecast.days[:4]:
            turn.say(
                "day",
                day=_capital(day_phrase(weather.day, asked.today, lang)),
                sky=self._sky(weather.code, lang),
                high=spoken_degrees(weather.high, home, lang),
                low=spoken_degrees(weather.low, home, lang),
            )

    def _temperature(self, turn: Turn, asked: _Asked) -> None:
        weather, lang, home = _of(asked), turn.lang, turn.home
        where = self._where(turn, asked)
        if asked.is_now:
            now = asked.forecast.now
            feels = spoken_degrees(now.feels_like, home, lang)
            turn.say("degrees_now", degrees=spoken_degrees(now.temperature, home, lang) + where, feels=feels)
            return
        high, low = spoken_degrees(weather.high, home, lang), spoken_degrees(weather.low, home, lang)
        turn.say("degrees_day", day=self._said(turn, asked) + where, high=high, low=low)

    def _rain(self, turn: Turn, asked: _Asked) -> None:
        self._chance(turn, asked, "rain", lambda weather: weather.chance if weather.rain or not weather.snow else 0)

    def _snow(self, turn: Turn, asked: _Asked) -> None:
        self._chance(turn, asked, "snow", lambda weather: weather.chance if weather.snow else 0)

    def _umbrella(self, turn: Turn, asked: _Asked) -> None:
        chance = round(_of(asked).chance)
        dialog = "umbrella_yes" if chance >= _LIKELY else "umbrella_maybe" if chance >= _POSSIBLE else "umbrella_no"
        turn.say(dialog, day=self._said(turn, asked, capital=False), chance=chance)

    def _chance(self, turn: Turn, asked: _Asked, what: str, of: Callable[[DayWeather], float]) -> None:
        if self._is_week(turn):
            likely = [one for one in asked.forecast.days[:7] if of(one) >= _LIKELY]
            if not likely:
                turn.say(f"{what}_no_week")
                return
            day = likely[0]
            turn.say(f"{what}_yes", day=day_phrase(day.day, asked.today, turn.lang), chance=round(of(day)))
            return
        chance = round(of(_of(asked)))
        dialog = "yes" if chance >= _LIKELY else "maybe" if chance >= _POSSIBLE else "no"
        turn.say(f"{what}_{dialog}", day=self._said(turn, asked, capital=False), chance=chance)

    def _wind(self, turn: Turn, asked: _Asked) -> None:
        speed = asked.forecast.now.wind if asked.is_now else _of(asked).wind
        said = self._said(turn, asked, capital=False)
        turn.say("wind", day=said, speed=spoken_speed(speed, turn.home, turn.lang))

    def _humidity(self, turn: Turn, asked: _Asked) -> None:
        turn.say("humidity", humidity=round(asked.forecast.now.humidity))

    def _sun(self, turn: Turn, asked: _Asked) -> None:
        weather, clock = _of(asked), turn.home.clock
        rise, sets = (spoken_time(one, turn.lang, clock) for one in (weather.sunrise, weather.sunset))
        turn.say("sun", day=self._said(turn, asked), sunrise=rise, sunset=sets)

    def _said(self, turn: Turn, asked: _Asked, *, capital: bool = True) -> str:
        """The day as it is said in the answer."""
        said = day_phrase(asked.day, asked.today, turn.lang)
        return _capital(said) if capital else said

    def _where(self, turn: Turn, asked: _Asked) -> str:
        """The place, where it is not the user's own."""
        own = turn.home
        if (asked.place.latitude, asked.place.longitude) == (own.latitude, own.longitude) or not asked.place.name:
            return ""
        form = table(_NAMES, "words", turn.lang).get("in", ("in {place}",))[0]
        return f" {form.format(place=asked.place.name)}"

    def _sky(self, code: int, lang: str) -> str:
        names = table(_NAMES, "sky", lang) or table(_NAMES, "sky", self.lang)
        return (names.get(str(code)) or names["other"])[0]

    def _is_week(self, turn: Turn) -> bool:
        return plain(turn.slots.get("day", "")) in self._words("week", turn.lang)

    def _is_weekend(self, turn: Turn) -> bool:
        return any(word in plain(turn.slots.get("day", "")) for word in self._words("weekend", turn.lang))

    def _words(self, key: str, lang: str) -> tuple[str, ...]:
        return tuple(map(plain, table(_NAMES, "words", lang).get(key, ())))


def _place_and_day(text: str, lang: str, now: datetime) -> tuple[str, date]:
    """The place and the day in "paris tomorrow"; today when there is no day in it."""
    words = text.split()
    for start in range(1, len(words)):
        day = day_named(" ".join(words[start:]), lang, now)
        if day is not None:
            return " ".join(words[:start]), day
    return text, now.date()


def _of(asked: _Asked) -> DayWeather:
    if asked.weather is None:
        raise LookupError(f"no forecast for {asked.day}")
    return asked.weather


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
