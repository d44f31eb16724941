"""French."""

from __future__ import annotations

from typing import Final

from hark.builtin.values.language import CalendarWords, ClockWords, DurationWords, LanguageTables, NumberWords

_NUMBERS: Final = NumberWords(
    minus="moins",
    point="virgule",
    articles="le|la|les|l",
    corrections={
        r"\bd (?=une?\b|demi)": "",
        r"\bpetite? (?=heure|demi|quart|minute)": "",
    },
    amounts={
        "une douzaine": 12,
        "une demi douzaine": 6,
        "un demi": 0.5,
        "une demie": 0.5,
        "la moitié": 0.5,
        "un quart": 0.25,
    },
    halves={"et demie?": 0.5, "et (?:1 )?quart": 0.25, "3 quarts": 0.75},
    ordinals={"second": 2, "seconde": 2},
    ordinal_sign=r"(?:er|re|ère|e|ème|eme|nd|nde)\b",
    points=frozenset({"CH"}),
)
_DURATIONS: Final = DurationWords(
    units={
        "second": "secondes?|sec|s",
        "minute": "minutes?|min|mn|m",
        "hour": "heures?|h",
        "day": "jours?|j",
        "week": "semaines?",
    },
    fractions={
        "(?:1 )?demi heure": 1800,
        "(?:1 )?quart d heure": 900,
        "3 quarts d heure": 2700,
        "(?:1 )?demi minute": 30,
        "(?:1 )?demi journee": 43200,
    },
    both="et",
)
_HOURS: Final = "(?: heures?| h)"
_CLOCK: Final = ClockWords(
    at="a",
    noon="midi",
    midnight="minuit",
    faces=(
        ("H", 0, 0),
        (f"H{_HOURS}(?: pile)?", 0, 0),
        (f"H:MM{_HOURS}?", 0, 1),
        (f"H{_HOURS} (?:et )?M(?: minutes?)?", 0, 1),
        (f"H{_HOURS}? et demie?", 30, 0),
        (f"H{_HOURS}? et (?:1 )?quart", 15, 0),
        (f"H{_HOURS}? moins (?:le |1 )?quart", -15, 0),
        (f"H{_HOURS}? moins M(?: minutes?)?", 0, -1),
        ("H MM", 0, 1),
    ),
    parts={
        "am": "am",
        "pm": "pm",
        "(?:du|au) matin": "morning",
        "(?:de l|l) apres midi": "afternoon",
        "(?:du|au) soir": "evening",
        # "Un matin" is no hour of it.
        r"(?<!\d )matin": "morning",
        r"(?<!\d )apres midi": "afternoon",
        r"(?<!\d )soir": "evening",
        "de la nuit": "night",
    },
)
_CALENDAR: Final = CalendarWords(
    days={"aujourd ?hui": 0, "demain": 1, "apres demain": 2, "hier": -1, "avant hier": -2},
    weekdays=("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"),
    months=(
        *("janvier", "fevrier", "mars", "avril", "mai", "juin", "juillet", "aout"),
        *("septembre", "octobre", "novembre", "decembre"),
    ),
    rules={
        "WEEKDAY": "coming",
        "ce WEEKDAY": "this",
        "WEEKDAY (?:prochain|qui vient)": "next",
        "WEEKDAY (?:dernier|passe)": "last",
        "(?:le )?WEEKDAY de la semaine prochaine|la semaine prochaine WEEKDAY": "next_week",
    },
    on="le",
    now="maintenant|tout de suite|immediatement",
    dates=(
        "(?:le )?(?:WEEKDAY )?(?:le )?DAY MONTH(?: (?:de )?YEAR)?",
        "le DAY",
        "(?:le )?WEEKDAY (?:le )?DAY",
    ),
    later=("dans SPAN", "d ici SPAN"),
    ago=("il y a SPAN",),
    month="mois",
    year="ans?|annees?",
    first="premier",
    rewrites={
        r"\bce (?=soir\b|matin\b)": "aujourd hui ",
        r"\bcet (?=après midi\b|apres midi\b)": "aujourd hui ",
    },
    counted_loosely=frozenset({8, 15}),
)

LANGUAGE: Final = LanguageTables("fr", _NUMBERS, _DURATIONS, _CLOCK, _CALENDAR)
