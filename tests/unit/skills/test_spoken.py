"""Times, dates, numbers and quantities as they are said."""

from __future__ import annotations

from datetime import date, time

import pytest

from hark.plugins import Home
from hark.plugins.home import ClockHours, Units
from hark.skills.spoken import (
    spoken_date,
    spoken_degrees,
    spoken_duration,
    spoken_list,
    spoken_number,
    spoken_speed,
    spoken_time,
)


@pytest.mark.parametrize(
    ("lang", "clock", "said"),
    [
        ("en-US", None, "8:05 PM"),
        ("en-US", 24, "20:05"),
        ("en-GB", None, "20:05"),
        ("de-DE", None, "20:05 Uhr"),
        ("de-DE", 12, "8:05 Uhr abends"),
        ("es-ES", 12, "8:05 de la noche"),
        ("fr-FR", None, "20 h 05"),
        ("it-IT", 12, "8:05 di sera"),
        ("pt-PT", 12, "8:05 da noite"),
        ("ja-JP", 24, "20:05"),
    ],
)
def test_a_time_of_day(lang: str, clock: ClockHours | None, said: str) -> None:
    assert spoken_time(time(20, 5), lang, clock) == said


@pytest.mark.parametrize(("hour", "said"), [(0, "12:00 AM"), (11, "11:00 AM"), (12, "12:00 PM"), (13, "1:00 PM")])
def test_the_hours_of_a_clock_of_twelve(hour: int, said: str) -> None:
    assert spoken_time(time(hour), "en-US") == said


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("en-US", "Tuesday, November 17th, 2026"),
        ("en-GB", "Tuesday, 17 November 2026"),
        ("de-DE", "Dienstag, der 17. November 2026"),
        ("es-ES", "martes, 17 de noviembre de 2026"),
        ("fr-FR", "mardi 17 novembre 2026"),
        ("it-IT", "martedì 17 novembre 2026"),
        ("pt-PT", "terça-feira, 17 de novembro de 2026"),
    ],
)
def test_a_date(lang: str, said: str) -> None:
    assert spoken_date(date(2026, 11, 17), lang, year=True) == said


def test_the_first_of_a_month_has_a_form_of_its_own_in_some_languages() -> None:
    day = date(2026, 5, 1)
    said = [spoken_date(day, lang, weekday=False) for lang in ("en-US", "fr-FR", "it-IT", "de-DE")]
    assert said == ["May 1st", "1er mai", "1º maggio", "1. Mai"]


@pytest.mark.parametrize(
    ("seconds", "lang", "said"),
    [
        (5400, "en-US", "1 hour and 30 minutes"),
        (90061, "en-US", "1 day, 1 hour, 1 minute and 1 second"),
        (0, "en-US", "0 seconds"),
        (300, "de-DE", "5 Minuten"),
        (3660, "fr-FR", "1 heure et 1 minute"),
    ],
)
def test_a_length_of_time(seconds: float, lang: str, said: str) -> None:
    assert spoken_duration(seconds, lang) == said


def test_numbers_have_the_decimal_sign_of_the_language() -> None:
    said = [spoken_number(62.5, lang) for lang in ("en-US", "de-DE", "es-ES", "es-MX", "pt-BR")]
    assert said == ["62.5", "62,5", "62,5", "62.5", "62,5"]
    assert spoken_number(-0.333333, "en-US") == "-0.33"


@pytest.mark.parametrize(
    ("celsius", "units", "lang", "said"),
    [
        (21.1, "imperial", "en-US", "70 degrees"),
        (21.1, "metric", "de-DE", "21 Grad"),
        (-3.4, "metric", "fr-FR", "moins 3 degrés"),
        (1.2, "metric", "es-ES", "1 grado"),
    ],
)
def test_a_temperature_is_said_in_the_units_of_the_home(celsius: float, units: Units, lang: str, said: str) -> None:
    assert spoken_degrees(celsius, Home(units=units), lang) == said


def test_a_speed_is_said_in_the_units_of_the_home() -> None:
    assert spoken_speed(16.1, Home(units="imperial"), "en-US") == "10 miles per hour"
    assert spoken_speed(16.1, Home(units="metric"), "pt-PT") == "16 quilómetros por hora"


def test_items_in_a_row() -> None:
    assert spoken_list([], "en-US") == ""
    assert spoken_list(["milk"], "en-US") == "milk"
    assert spoken_list(["milk", "eggs", "bread"], "en-US") == "milk, eggs and bread"
    assert spoken_list(["queso", "higos"], "es-ES") == "queso e higos"
