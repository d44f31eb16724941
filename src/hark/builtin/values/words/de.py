"""German."""

from __future__ import annotations

from typing import Final

from hark.builtin.values.language import CalendarWords, ClockWords, DurationWords, LanguageTables, NumberWords

_NUMBERS: Final = NumberWords(
    minus="minus",
    point="komma",
    articles="der|die|das|den|dem|des",
    corrections={
        r"\b(?:ei)?ne[nmrs]?\b": "ein",
        r"stündchen\b": "stunde",
        r"minütchen\b": "minute",
        r"\banderthalb\b": "ein einhalb",
        r"\b(\w+?)(?:und)?einhalb\b": r"\1 einhalb",
        r"fuenf": "fünf",
        r"zwoelf": "zwölf",
    },
    amounts={
        "ein dutzend": 12,
        "ein halbes dutzend": 6,
        "halb": 0.5,
        **{f"{one}halb{ending}": 0.5 for one in ("", "ein ") for ending in ("e", "es", "er", "en")},
        "ein halb": 0.5,
        "ein viertel": 0.25,
        "die hälfte": 0.5,
    },
    halves={"einhalb": 0.5, "und 1 halbe?": 0.5, "und 1 viertel": 0.25},
    ordinals={},
    ordinal_sign=r"\.(?!\d)|s?te[rsnm]?\b",
    points=frozenset({"CH", "LI"}),
)
_DURATIONS: Final = DurationWords(
    units={
        "second": "sekunden?|sek|s",
        "minute": "minuten?|min|m",
        "hour": "stunden?|std|h",
        "day": "tag|tage|tagen|tages",
        "week": "wochen?",
    },
    fractions={
        "(?:1 )?halben? stunde": 1800,
        "(?:1 )?viertel ?stunde": 900,
        "(?:1 )?(?:drei|3 )viertel ?stunde": 2700,
        "(?:1 )?halben? minute": 30,
        "(?:1 )?halber tag|1 halben tag": 43200,
    },
    both="und",
)
_CLOCK: Final = ClockWords(
    at="um",
    noon="(?!)",
    midnight="mitternacht",
    faces=(
        ("H", 0, 0),
        ("H uhr", 0, 0),
        (r"H[:.]MM(?: uhr)?", 0, 1),
        ("H uhr (?:und )?M", 0, 1),
        ("halb H", -30, 0),
        ("(?:punkt|schlag) H(?: uhr)?", 0, 0),
        ("viertel (?:nach|ab|uber) H(?: uhr)?", 15, 0),
        ("viertel vor H(?: uhr)?", -15, 0),
        ("viertel H", -45, 0),
        ("(?:drei|3 )viertel H", -15, 0),
        ("M(?: minuten?)? (?:nach|ab) H(?: uhr)?", 0, 1),
        ("M(?: minuten?)? vor H(?: uhr)?", 0, -1),
        ("M(?: minuten?)? vor halb H", -30, -1),
        ("M(?: minuten?)? nach halb H", -30, 1),
    ),
    parts={
        "fruh": "morning",
        "morgens": "morning",
        "in der fruh|am morgen": "morning",
        "am vormittag|vormittags": "morning",
        "mittags": "midday",
        "am nachmittag|nachmittags": "afternoon",
        "am abend|abends": "evening",
        "nachts": "night",
        # "Ein Nachmittag" is no hour of it.
        r"(?<!\d )vormittag": "morning",
        r"(?<!\d )nachmittag": "afternoon",
        r"(?<!\d )abend": "evening",
    },
)
_CALENDAR: Final = CalendarWords(
    days={"heute": 0, "morgen": 1, "ubermorgen": 2, "uebermorgen": 2, "gestern": -1, "vorgestern": -2},
    weekdays=("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag|sonnabend", "sonntag"),
    months=(
        *("januar|janner", "februar|feber", "marz", "april", "mai", "juni|juno", "juli", "august"),
        *("september", "oktober", "november", "dezember"),
    ),
    rules={
        "(?:am )?WEEKDAY": "coming",
        "(?:am )?kommende[rn] WEEKDAY": "coming",
        "diese[rn] WEEKDAY": "this",
        "(?:am )?nachste[rn] WEEKDAY": "next",
        "(?:am )?(?:letzte[rn]|vergangene[rn]) WEEKDAY": "last",
        "(?:am )?WEEKDAY nachster woche|nachste woche (?:am )?WEEKDAY": "next_week",
    },
    on="am|der|den",
    now="jetzt|jetzt gleich|sofort",
    dates=(
        "(?:am |der |den )?(?:WEEKDAY )?(?:den |dem |der )?DAY MONTH(?: YEAR)?",
        "(?:am |der |den )?(?:WEEKDAY )?(?:den |dem |der )?NTH NTHMONTH(?: YEAR)?",
        "(?:am |der |den )NTH",
        "(?:am )?WEEKDAY (?:den |dem |der )?NTH",
    ),
    later=("in SPAN",),
    ago=("vor SPAN",),
    month="monat|monate|monaten",
    year="jahr|jahre|jahren",
    rewrites={
        r"(tag|mittwoch|sonnabend)(?=(?:morgen|vormittag|nachmittag|abend)\b)": r"\1 ",
        r"\b(heute|gestern|\w+tag|mittwoch|sonnabend) morgen\b": r"\1 morgens",
        r"\bmorgen früh\b": "morgen morgens",
    },
    counted_loosely=frozenset({8}),
    ordinals="words",
)

LANGUAGE: Final = LanguageTables("de", _NUMBERS, _DURATIONS, _CLOCK, _CALENDAR)
