"""Times, dates, numbers and quantities as people say them, in English, German, Spanish, French, Italian and
Portuguese. Other languages get figures and English words.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time
from fractions import Fraction
from typing import Final, NamedTuple

from hark.plugins.home import ClockHours, Home, Units, usual_clock

__all__ = [
    "month_name",
    "ordinal_figures",
    "spoken_date",
    "spoken_degrees",
    "spoken_duration",
    "spoken_list",
    "spoken_number",
    "spoken_speed",
    "spoken_time",
    "weekday_name",
]


def spoken_time(moment: time | datetime, lang: str, clock: ClockHours | None = None) -> str:
    """A time of day: "8:05 PM" or "20:05", by a clock of 12 or 24 hours; without one, by what the language uses."""
    words = _words(lang)
    hour, minute = moment.hour, moment.minute
    if (clock or usual_clock(lang)) == 24:
        if words is _WORDS["en"]:
            return f"{hour:02}:{minute:02}"
        return words.time.format(hour=hour, minute=f"{minute:02}")
    part = words.parts_of_day[next(index for index, until in enumerate(words.part_ends) if hour < until)]
    return f"{words.time.format(hour=(hour - 1) % 12 + 1, minute=f'{minute:02}')} {part}"


def spoken_date(day: date, lang: str, *, weekday: bool = True, year: bool = False) -> str:
    """A date: "Tuesday, November 17th", with its year if asked for."""
    words = _words(lang)
    american = bool(words.date_us) and _region(lang) in ("", "US", "CA", "PH")
    pattern = words.date_us if american else words.date
    number = words.first if day.day == 1 and words.first else str(day.day)
    text = pattern.format(day=number, nth=ordinal_figures(day.day), month=words.months[day.month - 1])
    if year:
        text = words.year.format(date=f"{text}," if american else text, year=day.year)
    return words.with_weekday.format(weekday=words.weekdays[day.weekday()], date=text) if weekday else text


def weekday_name(weekday: int, lang: str) -> str:
    """The name of a day of the week; 0 is Monday."""
    return _words(lang).weekdays[weekday]


def month_name(month: int, lang: str) -> str:
    """The name of a month; 1 is January."""
    return _words(lang).months[month - 1]


def spoken_duration(seconds: float, lang: str) -> str:
    """A length of time in days, hours, minutes and whole seconds: "1 hour and 30 minutes"."""
    words = _words(lang)
    rest = max(round(seconds), 0)
    parts = []
    for size, forms in zip((86400, 3600, 60, 1), words.durations, strict=True):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {forms[0] if count == 1 else forms[1]}")
    return spoken_list(parts, lang) if parts else f"0 {words.durations[-1][1]}"


def spoken_number(value: float | Fraction, lang: str, places: int = 2) -> str:
    """A number in figures, rounded to `places`, with the decimal sign of the language: "62.5", "62,5"."""
    rounded = round(Fraction(value), places)
    whole, part = divmod(abs(rounded), 1)
    figures = str(round(part * 10**places)).rjust(places, "0").rstrip("0") if part else ""
    mark = "." if _words(lang) is _WORDS["en"] or f"{lang[:2]}-{_region(lang)}" in _POINT_REGIONS else ","
    return ("-" if rounded < 0 else "") + str(whole) + (mark + figures if figures else "")


def spoken_degrees(celsius: float, home: Home, lang: str) -> str:
    """A temperature in the units of `home`, in whole degrees: "70 degrees"."""
    words = _words(lang)
    degrees = round(celsius if _metric(home.units) else celsius * 9 / 5 + 32)
    sign = f"{words.minus} " if degrees < 0 else ""
    return f"{sign}{abs(degrees)} {words.degrees[0] if abs(degrees) == 1 else words.degrees[1]}"


def spoken_speed(kilometres_per_hour: float, home: Home, lang: str) -> str:
    """A speed in the units of `home`, in whole numbers: "12 miles per hour"."""
    words = _words(lang)
    metric = _metric(home.units)
    return f"{round(kilometres_per_hour if metric else kilometres_per_hour / 1.609344)} {words.speeds[not metric]}"


def spoken_list(items: Sequence[str], lang: str) -> str:
    """Items in a row: "milk, eggs and bread"."""
    if len(items) < 2:
        return items[0] if items else ""
    last = items[-1]
    word = _words(lang).joined
    if word == "y" and last.lower().startswith(("i", "hi")):
        word = "e"  # "queso e higos"
    return f"{', '.join(items[:-1])} {word} {last}"


def ordinal_figures(number: int) -> str:
    """An English ordinal in figures: "3rd"."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


class _Words(NamedTuple):
    weekdays: tuple[str, ...]
    months: tuple[str, ...]
    time: str
    part_ends: tuple[int, ...]
    """The hour before which each part of the day ends."""
    parts_of_day: tuple[str, ...]
    date: str
    year: str
    with_weekday: str
    durations: tuple[tuple[str, str], ...]
    """Days, hours, minutes and seconds: one, and several."""
    degrees: tuple[str, str]
    minus: str
    speeds: tuple[str, str]
    joined: str
    date_us: str = ""
    first: str = ""
    """The first day of a month, where it has a form of its own."""


_POINT_REGIONS: Final = frozenset(
    [f"es-{region}" for region in ("MX", "US", "PR", "PA", "GT", "SV", "HN", "NI", "DO", "PE")]
    + ["de-CH", "de-LI", "it-CH"]
)

_WORDS: Final = {
    "en": _Words(
        ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
        (
            *("January", "February", "March", "April", "May", "June"),
            *("July", "August", "September", "October", "November", "December"),
        ),
        "{hour}:{minute}",
        (12, 24),
        ("AM", "PM"),
        "{day} {month}",
        "{date} {year}",
        "{weekday}, {date}",
        (("day", "days"), ("hour", "hours"), ("minute", "minutes"), ("second", "seconds")),
        ("degree", "degrees"),
        "minus",
        ("kilometers per hour", "miles per hour"),
        "and",
        date_us="{month} {nth}",
    ),
    "de": _Words(
        ("Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"),
        (
            *("Januar", "Februar", "März", "April", "Mai", "Juni"),
            *("Juli", "August", "September", "Oktober", "November", "Dezember"),
        ),
        "{hour}:{minute} Uhr",
        (5, 11, 14, 18, 22, 24),
        ("nachts", "morgens", "mittags", "nachmittags", "abends", "nachts"),
        "{day}. {month}",
        "{date} {year}",
        "{weekday}, der {date}",
        (("Tag", "Tage"), ("Stunde", "Stunden"), ("Minute", "Minuten"), ("Sekunde", "Sekunden")),
        ("Grad", "Grad"),
        "minus",
        ("Kilometer pro Stunde", "Meilen pro Stunde"),
        "und",
    ),
    "es": _Words(
        ("lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"),
        (
            *("enero", "febrero", "marzo", "abril", "mayo", "junio"),
            *("julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"),
        ),
        "{hour}:{minute}",
        (6, 12, 20, 24),
        ("de la madrugada", "de la mañana", "de la tarde", "de la noche"),
        "{day} de {month}",
        "{date} de {year}",
        "{weekday}, {date}",
        (("día", "días"), ("hora", "horas"), ("minuto", "minutos"), ("segundo", "segundos")),
        ("grado", "grados"),
        "menos",
        ("kilómetros por hora", "millas por hora"),
        "y",
    ),
    "fr": _Words(
        ("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"),
        (
            *("janvier", "février", "mars", "avril", "mai", "juin"),
            *("juillet", "août", "septembre", "octobre", "novembre", "décembre"),
        ),
        "{hour} h {minute}",
        (12, 18, 24),
        ("du matin", "de l'après-midi", "du soir"),
        "{day} {month}",
        "{date} {year}",
        "{weekday} {date}",
        (("jour", "jours"), ("heure", "heures"), ("minute", "minutes"), ("seconde", "secondes")),
        ("degré", "degrés"),
        "moins",
        ("kilomètres par heure", "miles par heure"),
        "et",
        first="1er",
    ),
    "it": _Words(
        ("lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica"),
        (
            *("gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno"),
            *("luglio", "agosto", "settembre", "ottobre", "novembre", "dicembre"),
        ),
        "{hour}:{minute}",
        (5, 12, 18, 24),
        ("di notte", "di mattina", "del pomeriggio", "di sera"),
        "{day} {month}",
        "{date} {year}",
        "{weekday} {date}",
        (("giorno", "giorni"), ("ora", "ore"), ("minuto", "minuti"), ("secondo", "secondi")),
        ("grado", "gradi"),
        "meno",
        ("chilometri all'ora", "miglia all'ora"),
        "e",
        first="1º",
    ),
    "pt": _Words(
        ("segunda-feira", "terça-feira", "quarta-feira", "quinta-feira", "sexta-feira", "sábado", "domingo"),
        (
            *("janeiro", "fevereiro", "março", "abril", "maio", "junho"),
            *("julho", "agosto", "setembro", "outubro", "novembro", "dezembro"),
        ),
        "{hour}:{minute}",
        (6, 12, 19, 24),
        ("da madrugada", "da manhã", "da tarde", "da noite"),
        "{day} de {month}",
        "{date} de {year}",
        "{weekday}, {date}",
        (("dia", "dias"), ("hora", "horas"), ("minuto", "minutos"), ("segundo", "segundos")),
        ("grau", "graus"),
        "menos",
        ("quilómetros por hora", "milhas por hora"),
        "e",
    ),
}


def _words(lang: str) -> _Words:
    return _WORDS.get(lang[:2].lower(), _WORDS["en"])


def _region(lang: str) -> str:
    return lang.partition("-")[2].upper()


def _metric(units: Units | None) -> bool:
    return units != "imperial"
