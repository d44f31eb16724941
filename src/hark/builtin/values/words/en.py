"""English."""

from __future__ import annotations

from typing import Final

from hark.builtin.values.language import CalendarWords, ClockWords, DurationWords, LanguageTables, NumberWords

_NUMBERS: Final = NumberWords(
    minus="minus|negative",
    point="point",
    articles="the",
    corrections={
        r"\bo clock\b": "oclock",  # where the o is no nought
        r"\ban? (?=hundred\b|thousand\b|million\b|billion\b)": "one ",
        r"\b([ap])\.? ?m\b\.?": r"\1m",
        r"(?<=\d)([ap])\.? ?m\b\.?": r" \1m",
        r"\b(?:an?(?:other)? )?couple (?:of |more )*(?=(?:second|minute|min|hour|day|week|month)s?\b)": "2 ",
    },
    amounts={
        "a dozen": 12,
        "one dozen": 12,
        "half a dozen": 6,
        "half": 0.5,
        "a half": 0.5,
        "half a": 0.5,
        "half an": 0.5,
        "a quarter": 0.25,
        "a quarter of a": 0.25,
    },
    halves={"and (?:a )?half": 0.5, "and a quarter": 0.25, "and 3 quarters": 0.75},
    ordinals={},
    ordinal_sign=r"(?:st|nd|rd|th)\b",
    points=frozenset("*"),
)
_DURATIONS: Final = DurationWords(
    units={
        "second": "seconds?|secs?|s",
        "minute": "minutes?|mins?|m",
        "hour": "hours?|hrs?|h",
        "day": "days?|d",
        "week": "weeks?",
    },
    fractions={
        "(?:a |1 )?half (?:an |1 )?hour": 1800,
        "(?:a |1 )?quarter (?:of an |of 1 )?hour": 900,
        "3 quarters of an hour": 2700,
        "(?:a )?half (?:a )?minute": 30,
        "half a day": 43200,
        "(?:a|1) fortnight": 1_209_600,
    },
    both="and",
    one="an?",
)
_CLOCK: Final = ClockWords(
    at="at|by",
    noon="noon|midday",
    midnight="midnight",
    faces=(
        ("H", 0, 0),
        ("H oclock", 0, 0),
        ("H[:.]MM", 0, 1),
        ("H MM", 0, 1),
        ("H (?:oh|0) M", 0, 1),
        ("half (?:past )?H", 30, 0),
        ("(?:a )?quarter (?:past|after) H", 15, 0),
        ("(?:a )?quarter (?:to|of|before|till) H", -15, 0),
        ("M(?: minutes?)? (?:past|after) H", 0, 1),
        ("M(?: minutes?)? (?:to|before|till) H", 0, -1),
    ),
    parts={
        "am": "am",
        "pm": "pm",
        "in the morning": "morning",
        "in the afternoon": "afternoon",
        "in the evening": "evening",
        "at night": "night",
        # "One morning" is no hour of it.
        r"(?<!\d )morning": "morning",
        r"(?<!\d )afternoon": "afternoon",
        r"(?<!\d )evening": "evening",
    },
)
_CALENDAR: Final = CalendarWords(
    days={
        "today": 0,
        "tomorrow": 1,
        "(?:the )?day after tomorrow": 2,
        "yesterday": -1,
        "(?:the )?day before yesterday": -2,
    },
    weekdays=("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    months=(
        *("january|jan", "february|feb", "march|mar", "april|apr", "may", "june|jun", "july|jul", "august|aug"),
        *("september|sept?", "october|oct", "november|nov", "december|dec"),
    ),
    rules={
        "(?:on )?WEEKDAY": "coming",
        "(?:on )?(?:this |the )?coming WEEKDAY": "coming",
        "(?:on )?this WEEKDAY": "this",
        "(?:on )?next WEEKDAY": "next",
        "(?:on )?last WEEKDAY": "last",
        "(?:on )?WEEKDAY (?:of )?next week|next week (?:on )?WEEKDAY": "next_week",
    },
    on="on",
    now="now|right now",
    dates=(
        "(?:on )?(?:WEEKDAY )?(?:the )?DAY (?:of )?MONTH(?: (?:of )?YEAR)?",
        "(?:on )?(?:WEEKDAY )?MONTH (?:the )?DAY(?: (?:of )?YEAR)?",
        "(?:on )?(?:WEEKDAY )?(?:the )?NTH",
    ),
    later=("in SPAN", "SPAN from (?:now|today)"),
    ago=("SPAN ago",),
    month="months?",
    year="years?",
    rewrites={
        r"\btonight\b": "today evening",
        r"\b(tomorrow|yesterday|(?:mon|tues|wednes|thurs|fri|satur|sun)day) night\b": r"\1 evening",
        r"\b(?:twelve|12) (?=noon\b|midnight\b)": "",
        r"\blast night\b": "yesterday evening",
        r"\bthis (?=morning\b|afternoon\b|evening\b)": "today ",
    },
    ordinals="words",
)

LANGUAGE: Final = LanguageTables("en", _NUMBERS, _DURATIONS, _CLOCK, _CALENDAR)
