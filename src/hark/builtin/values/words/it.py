"""Italian."""

from __future__ import annotations

from typing import Final

from hark.builtin.values.language import CalendarWords, ClockWords, DurationWords, LanguageTables, NumberWords

_NUMBERS: Final = NumberWords(
    minus="meno",
    point="virgola|punto",
    articles="il|lo|la|l|i|gli|le",
    corrections={
        r"\bmezz(?: ?oretta|ora)\b": "mezz ora",
        r"oretta\b": "ora",
        r"\bminutini\b": "minuti",
    },
    amounts={
        "una dozzina": 12,
        "mezza dozzina": 6,
        "mezzo": 0.5,
        "mezza": 0.5,
        "un quarto": 0.25,
        "metà": 0.5,
        "la metà": 0.5,
    },
    halves={"e (?:1 )?mezz[oa]": 0.5, "e (?:1 )?quarto": 0.25, "e 3 quarti": 0.75},
    ordinals={},
    ordinal_sign="[ºª°]",
    points=frozenset({"CH"}),
)
_DURATIONS: Final = DurationWords(
    units={
        "second": "second[oi]|sec|s",
        "minute": "minut[oi]|min|m",
        "hour": "or[ae]|h",
        "day": "giorn[oi]",
        "week": "settiman[ae]",
    },
    fractions={
        "(?:1 )?mezz[a]? ora": 1800,
        "ora e mezza": 5400,
        "minuto e mezz[oa]": 90,
        "(?:1 )?paio di minuti": 120,
        "(?:1 )?quarto d ora": 900,
        "3 quarti d ora": 2700,
        "mezzo minuto": 30,
        "mezza giornata": 43200,
    },
    both="e",
)
_CLOCK: Final = ClockWords(
    at="alle ore|alle|all|le ore|le|ore|l|a|per le",
    noon="mezzogiorno",
    midnight="mezzanotte",
    faces=(
        ("H", 0, 0),
        ("H(?: in punto| ore)", 0, 0),
        ("H[:.]MM", 0, 1),
        ("H MM", 0, 1),
        ("H e mezz[ao]", 30, 0),
        ("H e (?:1 )?quarto", 15, 0),
        ("H e 3 quarti", 45, 0),
        ("H meno (?:1 )?quarto", -15, 0),
        ("(?:1 )?quarto alle H", -15, 0),
        ("H e M(?: minuti| min)?", 0, 1),
        ("H meno M(?: minuti)?", 0, -1),
    ),
    parts={
        "am": "am",
        "pm": "pm",
        "(?:di|della|la) mattina": "morning",
        "(?:del|al) mattino": "morning",
        "(?:del|di|nel|il) pomeriggio": "afternoon",
        "(?:di|della|la) sera": "evening",
        "(?:di|della) notte": "night",
        # "Una mattina" is no hour of it.
        r"(?<!\d )mattina": "morning",
        r"(?<!\d )pomeriggio": "afternoon",
        r"(?<!\d )sera": "evening",
    },
)
_CALENDAR: Final = CalendarWords(
    days={"oggi": 0, "domani": 1, "dopodomani": 2, "dopo domani": 2, "ieri": -1, "(?:l )?altro ieri": -2},
    weekdays=("lunedi", "martedi", "mercoledi", "giovedi", "venerdi", "sabato", "domenica"),
    months=(
        *("gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto"),
        *("settembre", "ottobre", "novembre", "dicembre"),
    ),
    rules={
        "(?:di )?WEEKDAY": "coming",
        "quest[oa] WEEKDAY": "this",
        "WEEKDAY prossim[oa]|(?:il |la )?prossim[oa] WEEKDAY": "next",
        "(?:il |la )?WEEKDAY scors[oa]|(?:lo |la )?scors[oa] WEEKDAY": "last",
        "WEEKDAY della (?:prossima settimana|settimana prossima)": "next_week",
        "la (?:prossima settimana|settimana prossima) (?:di )?WEEKDAY": "next_week",
    },
    on="il|il giorno|l",
    now="ora|adesso|subito",
    dates=(
        "(?:il |l )?(?:WEEKDAY )?(?:il |l )?DAY (?:di )?MONTH(?: (?:del )?YEAR)?",
        "(?:il (?:giorno )?|l )DAY",
        "WEEKDAY (?:il )?DAY",
    ),
    later=("tra SPAN", "fra SPAN", "in SPAN"),
    ago=("SPAN fa",),
    month="mes[ei]",
    year="ann[oi]",
    first="primo",
    rewrites={
        r"(?<=\w )di (?=oggi\b|domani\b|dopodomani\b|sta|(?:luned|marted|mercoled|gioved|venerd)[iì]\b|sabato\b)": "",
        r"\bstasera\b|\bquesta sera\b": "oggi di sera",
        r"\bstamattina\b|\bquesta mattina\b": "oggi di mattina",
        r"\bquesto pomeriggio\b": "oggi del pomeriggio",
        r"\bstanotte\b": "oggi di notte",
    },
    counted_loosely=frozenset({8, 15}),
)

LANGUAGE: Final = LanguageTables("it", _NUMBERS, _DURATIONS, _CLOCK, _CALENDAR)
