"""Portuguese."""

from __future__ import annotations

from typing import Final

from hark.builtin.values.language import CalendarWords, ClockWords, DurationWords, LanguageTables, NumberWords

_NUMBERS: Final = NumberWords(
    minus="menos",
    point="virgula|ponto",
    articles="o|a|os|as",
    corrections={
        r"\bumas\b": "algumas",  # some, not one
        r"\bhorinha\b": "hora",
        r"\bminutinhos?\b": "minutos",
        r"\bpr([oa]s?)\b": r"para \1",
        r"\b(m|b|tr)ilhoes\b": r"\1ilhões",
    },
    amounts={"uma dúzia": 12, "meia dúzia": 6, "meio": 0.5, "meia": 0.5, "um quarto": 0.25, "metade": 0.5},
    halves={"e mei[oa]": 0.5, "e (?:1 )?quarto": 0.25, "e 3 quartos": 0.75},
    ordinals={},
    ordinal_sign=r"\.?[ºª°]",
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
        "meia hora": 1800,
        "hora e meia": 5400,
        "minuto e meio": 90,
        "(?:1 )?par de minutos": 120,
        "(?:1 )?quarto de hora": 900,
        "3 quartos de hora": 2700,
        "meio minuto": 30,
        "meio dia": 43200,
    },
    both="e",
)
_HOURS: Final = "(?: horas?| h)"
_CLOCK: Final = ClockWords(
    at="as|a|ao|pelas|para as",
    noon="meio dia",
    midnight="meia noite",
    faces=(
        ("H", 0, 0),
        (f"H(?:{_HOURS}(?: em ponto)?| em ponto)", 0, 0),
        (f"H:MM{_HOURS}?", 0, 1),
        ("H MM", 0, 1),
        (f"H{_HOURS} (?:e )?M(?: minutos?| min)?", 0, 1),
        (f"H{_HOURS}? e meia", 30, 0),
        (f"H{_HOURS}? e (?:1 )?quarto", 15, 0),
        ("H menos (?:1 )?quarto", -15, 0),
        ("H e M(?: minutos?)?", 0, 1),
        ("H menos M(?: minutos?)?", 0, -1),
        ("(?:1 )?quarto para (?:as?|o) H", -15, 0),
        ("M(?: minutos?)? para (?:as?|o) H", 0, -1),
    ),
    parts={
        "am": "am",
        "pm": "pm",
        "(?:da|de|pela) manha": "morning",
        "da madrugada": "dawn",
        "(?:da|a|de|pela) tarde": "afternoon",
        "(?:da|a|de|pela) noite": "night",
    },
)
_CALENDAR: Final = CalendarWords(
    days={"hoje": 0, "amanha": 1, "depois de amanha": 2, "ontem": -1, "anteontem": -2, "antes de ontem": -2},
    weekdays=(
        *("segunda(?: feira)?", "terca(?: feira)?", "quarta(?: feira)?", "quinta(?: feira)?", "sexta(?: feira)?"),
        *("sabado", "domingo"),
    ),
    months=(
        *("janeiro", "fevereiro", "marco", "abril", "maio", "junho", "julho", "agosto"),
        *("setembro", "outubro", "novembro", "dezembro"),
    ),
    rules={
        "(?:n[ao] |de |a )?WEEKDAY": "coming",
        "(?:n?est[ea]) WEEKDAY": "this",
        "(?:n?[ao] )?proxim[ao] WEEKDAY|(?:n?[ao] )?WEEKDAY que vem": "next",
        "(?:n?[ao] )?WEEKDAY passad[ao]|(?:n?[ao] )?ultim[ao] WEEKDAY": "last",
        "(?:n?[ao] )?WEEKDAY da (?:proxima semana|semana que vem)": "next_week",
        "(?:na )?(?:proxima semana|semana que vem) (?:n[ao] )?WEEKDAY": "next_week",
    },
    on="no|em|dia|no dia",
    now="agora|agora mesmo|ja",
    dates=(
        "(?:n[ao] |em |a )?(?:WEEKDAY )?(?:n?o )?(?:dia )?DAY (?:de )?MONTH(?: (?:de )?YEAR)?",
        "(?:n?o )?dia DAY",
        "(?:n[ao] )?WEEKDAY (?:dia )?DAY",
    ),
    later=("em SPAN", "daqui a SPAN", "dentro de SPAN"),
    ago=("há SPAN", "ha SPAN", "SPAN atrás", "SPAN atras"),
    month="mes|meses",
    year="anos?",
    first="primeiro",
    rewrites={
        r"(?<=\w )(?<!depois )de (?=hoje\b|(?:depois de )?amanhã\b)": "",
        r"\besta noite\b": "hoje à noite",
        r"\besta tarde\b": "hoje à tarde",
        r"\besta manhã\b": "hoje de manhã",
    },
    counted_loosely=frozenset({8, 15}),
)

LANGUAGE: Final = LanguageTables("pt", _NUMBERS, _DURATIONS, _CLOCK, _CALENDAR)
