"""The tables of each language for numbers, durations, times and dates.

Tables are compared by identity, so that what is compiled from them can be cached.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import import_module
from typing import Final, Literal

LANGUAGES: Final = ("de", "en", "es", "fr", "it", "pt")
"""The languages with tables, by primary subtag."""


Part = Literal["am", "pm", "morning", "midday", "afternoon", "evening", "night", "dawn"]
Rule = Literal["coming", "this", "next", "last", "next_week"]
Ordinals = Literal["none", "signs", "words"]
"""Which ordinals count: none, figures with a sign ("3rd"), or words as well ("third")."""
Unit = Literal["second", "minute", "hour", "day", "week"]


@dataclass(frozen=True, eq=False)
class NumberWords:
    """How numbers are said beyond what the library knows. Patterns hold number words as figures, and no accents."""

    minus: str
    point: str
    articles: str
    """What may stand before an ordinal."""
    corrections: Mapping[str, str]
    """Patterns over the words as said (with accents), and what to put in their place before numbers are searched."""
    amounts: Mapping[str, float]
    """Whole phrases that are a number."""
    halves: Mapping[str, float]
    """Patterns behind a number or a unit that add a part of it."""
    ordinals: Mapping[str, int]
    """Ordinals the library does not know."""
    ordinal_sign: str
    """What makes figures an ordinal: a pattern right behind them."""
    points: frozenset[str] = frozenset()
    """Regions that write a decimal point though the language writes a comma; `*` for all of them."""


@dataclass(frozen=True, eq=False)
class DurationWords:
    """How spans of time are said. Patterns as in `NumberWords`."""

    units: Mapping[Unit, str]
    fractions: Mapping[str, int]
    """Phrases with their seconds: "half an hour"."""
    both: str
    """The word between two parts: "and"."""
    one: str = "(?!)"
    """Articles that mean one and are no number word."""


@dataclass(frozen=True, eq=False)
class ClockWords:
    """How times of day are said. In patterns `H` is an hour, `M` are minutes."""

    at: str
    """Words before a time."""
    noon: str
    midnight: str
    faces: tuple[tuple[str, int, int], ...]
    """Pattern, minutes to add, and whether `M` is added (1) or taken away (-1)."""
    parts: Mapping[str, Part]
    """Parts of the day, as patterns."""


@dataclass(frozen=True, eq=False)
class CalendarWords:
    """How days are said. In patterns `WEEKDAY`, `DAY`, `NTH` (an ordinal), `MONTH`, `NTHMONTH` and
    `YEAR` stand for these."""

    days: Mapping[str, int]
    """Days by their distance from today."""
    weekdays: tuple[str, ...]
    months: tuple[str, ...]
    rules: Mapping[str, Rule]
    """Patterns with a weekday, and which one is meant."""
    on: str
    """Words before a date in figures."""
    now: str
    """Phrases for the present moment."""
    dates: tuple[str, ...]
    later: tuple[str, ...]
    """Patterns over the words as said, with `SPAN` for a duration from now on."""
    ago: tuple[str, ...]
    month: str
    year: str
    first: str = "(?!)"
    """Words for the first of a month."""
    rewrites: Mapping[str, str] = field(default_factory=dict)
    """Patterns over the words as said that are said in simpler words: "tonight", "today in the evening"."""
    counted_loosely: frozenset[int] = frozenset()
    """Numbers of days that are not meant literally: "in acht Tagen" is a week."""
    ordinals: Ordinals = "signs"
    """How days of the month are ordinals."""


@dataclass(frozen=True, eq=False)
class LanguageTables:
    """Everything the readers know about one language."""

    code: str
    numbers: NumberWords
    durations: DurationWords
    clock: ClockWords
    calendar: CalendarWords


@cache
def tables_of(code: str) -> LanguageTables:
    """The tables for one of `LANGUAGES`, loaded on first use."""
    language: LanguageTables = import_module(f"hark.builtin.values.words.{code}").LANGUAGE
    return language


@lru_cache(maxsize=256)
def region_of(tag: str) -> str:
    """The region in a language tag in upper case, or an empty text."""
    return next((part.upper() for part in tag.split("-")[1:] if len(part) == 2 and part.isalpha()), "")


def either(patterns: Mapping[str, object] | tuple[str, ...]) -> str:
    """One pattern for any of these, the longest first."""
    return "|".join(sorted(patterns, key=len, reverse=True))
