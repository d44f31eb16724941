"""Spanish."""

from __future__ import annotations

from typing import Final

from hark.builtin.values.language import CalendarWords, ClockWords, DurationWords, LanguageTables, NumberWords

_NUMBERS: Final = NumberWords(
    minus="menos",
    point="coma|punto",
    articles="el|la|los|las|lo",
    corrections={
        r"\bveintiún\b|\bveintiun\b": "veintiuno",
        r"\bun[oa]s\b": "algunos",  # some, not one
        r"\bveintidos\b": "veintidós",
        r"\bveintitres\b": "veintitrés",
        r"\bveintiseis\b": "veintiséis",
        r"\bhorita\b": "hora",
        r"\bminutitos?\b": "minutos",
        r"\b([ap])\.? ?m\b\.?": r"\1m",
        r"(?<=\d)([ap])\.? ?m\b\.?": r" \1m",
    },
    amounts={"una docena": 12, "media docena": 6, "medio": 0.5, "media": 0.5, "un medio": 0.5, "un cuarto": 0.25},
    halves={"y medi[oa]": 0.5, "y (?:1 )?cuarto": 0.25, "y 3 cuartos": 0.75},
    ordinals={"primer": 1, "segundo": 2, "segunda": 2, "tercer": 3},
    ordinal_sign=r"\.?[ºª°]|\.?er\b",
    # The countries of the north of Latin America.
    points=frozenset({"MX", "US", "PR", "GT", "HN", "NI", "PA", "SV", "DO"}),
)
_DURATIONS: Final = DurationWords(
    units={
        "second": "segundos?|seg|s",
        "minute": "minutos?|min|m",
        "hour": "horas?|h",
        "day": "dias?",
        "week": "semanas?",
    },
    fractions={
        "media hora": 1800,
        "hora y media": 5400,
        "hora y cuarto": 4500,
        "minuto y medio": 90,
        "(?:1 )?par de minutos": 120,
        "(?:1 )?cuarto de hora": 900,
        "3 cuartos de hora": 2700,
        "medio minuto": 30,
        "medio dia": 43200,
    },
    both="y",
)
_CLOCK: Final = ClockWords(
    at="a las|a la|las|la|al|a|para las|para la",
    noon="mediodia|medio dia",
    midnight="medianoche|media noche",
    faces=(
        ("H", 0, 0),
        ("H(?: en punto| horas?| h)", 0, 0),
        ("H[:.]MM(?: horas?| h)?", 0, 1),
        ("H MM", 0, 1),
        ("H h MM", 0, 1),
        ("H y media", 30, 0),
        ("H y (?:1 )?cuarto", 15, 0),
        ("H menos (?:1 )?cuarto", -15, 0),
        ("H y M(?: minutos?)?", 0, 1),
        ("H menos M(?: minutos?)?", 0, -1),
        ("(?:1 )?cuarto para las? H", -15, 0),
        ("M(?: minutos?)? para las? H", 0, -1),
    ),
    parts={
        "am": "am",
        "pm": "pm",
        "(?:de|por) la manana": "morning",
        "de la madrugada": "dawn",
        "del mediodia": "midday",
        "(?:de|por) la tarde": "afternoon",
        "(?:de|por) la noche": "night",
    },
)
_CALENDAR: Final = CalendarWords(
    days={"hoy": 0, "manana": 1, "pasado manana": 2, "ayer": -1, "anteayer": -2, "antes de ayer": -2},
    weekdays=("lunes", "martes", "miercoles", "jueves", "viernes", "sabado", "domingo"),
    months=(
        *("enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto"),
        *("sep?tiembre", "octubre", "noviembre", "diciembre"),
    ),
    rules={
        "(?:el )?WEEKDAY": "coming",
        "este WEEKDAY": "this",
        "(?:el )?proximo WEEKDAY": "next",
        "(?:el )?WEEKDAY (?:que viene|proximo)": "next",
        "(?:el )?pasado WEEKDAY|(?:el )?WEEKDAY pasado": "last",
        "(?:el )?WEEKDAY de la (?:semana que viene|proxima semana|semana proxima)": "next_week",
        "la (?:semana que viene|proxima semana) el WEEKDAY": "next_week",
    },
    on="el|el dia|dia",
    now="ahora|ahora mismo|ya mismo",
    dates=(
        "(?:el )?(?:WEEKDAY )?(?:el )?(?:dia )?DAY (?:de )?MONTH(?: (?:de |del )?YEAR)?",
        "(?:el (?:dia )?|dia )DAY",
        "(?:el )?WEEKDAY (?:el )?(?:dia )?DAY",
    ),
    later=("en SPAN", "dentro de SPAN", "SPAN a partir de (?:ahora|hoy)"),
    ago=("hace SPAN",),
    month="mes|meses",
    year="anos?",
    first="primero",
    rewrites={
        # "A las seis de mañana": the day of which it is six.
        r"(?<=\w )de (?=hoy\b|(?:pasado )?mañana\b|esta )": "",
        r"(?<=\w )del (?=(?:lunes|martes|mi[eé]rcoles|jueves|viernes|s[aá]bado|domingo)\b)": "el ",
        r"\besta noche\b": "hoy por la noche",
        r"\besta tarde\b": "hoy por la tarde",
        r"\besta mañana\b": "hoy por la mañana",
        r"\bmañana (?:en|a) la mañana\b": "mañana por la mañana",
    },
    counted_loosely=frozenset({8, 15}),
)

LANGUAGE: Final = LanguageTables("es", _NUMBERS, _DURATIONS, _CLOCK, _CALENDAR)
