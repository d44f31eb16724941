"""Forecasts of Open-Meteo: what is asked of it, and its answers as values."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Final, NamedTuple

from hark.builtin.skills.web import Unreachable, get_json

_CURRENT: Final = "temperature_2m,apparent_temperature,relative_humidity_2m,weather_code,wind_speed_10m"
_DAILY: Final = (
    "weather_code,temperature_2m_max,temperature_2m_min,precipitation_probability_max,precipitation_sum,"
    "snowfall_sum,wind_speed_10m_max,sunrise,sunset"
)
_DAYS: Final = 8


class WeatherPlace(NamedTuple):
    """A place with a forecast."""

    name: str
    latitude: float
    longitude: float


class CurrentWeather(NamedTuple):
    """The weather at this moment; temperatures in degrees Celsius, wind in kilometres per hour."""

    code: int
    temperature: float
    feels_like: float
    humidity: float
    wind: float


class DayWeather(NamedTuple):
    """The weather of a day; the chance of rain or snow in percent, snow in centimetres."""

    day: date
    code: int
    high: float
    low: float
    chance: float
    rain: float
    snow: float
    wind: float
    sunrise: datetime
    sunset: datetime


class Forecast(NamedTuple):
    """Now and the next days, in the time of the place."""

    now: CurrentWeather
    days: tuple[DayWeather, ...]

    def on(self, day: date) -> DayWeather | None:
        """The forecast for a day; None when it is too far away."""
        return next((one for one in self.days if one.day == day), None)


def find_place(url: str, name: str, lang: str) -> WeatherPlace | None:
    """The largest place with a name; None when there is none. Raises `Unreachable`."""
    query = {"name": name, "count": 1, "language": lang.partition("-")[0], "format": "json"}
    answer = get_json(url, query)
    try:
        found = answer.get("results") or ()
        return (
            WeatherPlace(str(found[0]["name"]), float(found[0]["latitude"]), float(found[0]["longitude"]))
            if found
            else None
        )
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise Unreachable(f"{url}: an answer of another shape: {error!r}") from None


def forecast(url: str, place: WeatherPlace) -> Forecast:
    """The weather of a place. Raises `Unreachable`."""
    query = {
        "latitude": place.latitude,
        "longitude": place.longitude,
        "current": _CURRENT,
        "daily": _DAILY,
        "timezone": "auto",
        "forecast_days": _DAYS,
    }
    answer = get_json(url, query)
    try:
        return _read(answer)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise Unreachable(f"{url}: an answer of another shape: {error!r}") from None


def _read(answer: Mapping[str, Any]) -> Forecast:
    now, daily = answer["current"], answer["daily"]
    current = CurrentWeather(
        int(now["weather_code"]),
        float(now["temperature_2m"]),
        float(now["apparent_temperature"]),
        float(now["relative_humidity_2m"]),
        float(now["wind_speed_10m"]),
    )
    days = []
    for index, day in enumerate(daily["time"]):
        row = {name: values[index] for name, values in daily.items()}
        days.append(
            DayWeather(
                date.fromisoformat(day),
                int(row["weather_code"]),
                float(row["temperature_2m_max"]),
                float(row["temperature_2m_min"]),
                # Not every model has a chance of rain.
                float(row.get("precipitation_probability_max") or (60 if row["precipitation_sum"] else 0)),
                float(row["precipitation_sum"] or 0),
                float(row["snowfall_sum"] or 0),
                float(row["wind_speed_10m_max"] or 0),
                datetime.fromisoformat(row["sunrise"]),
                datetime.fromisoformat(row["sunset"]),
            )
        )
    return Forecast(current, tuple(days))
