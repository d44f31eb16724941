"""Numbers as users say them, and as they are spoken, in the languages with tables."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from hark.intents.text import EDGES

_PLACES: Final = 6
"""Figures after the decimal sign that are said at most."""


def number(text: str, lang: str) -> Fraction | None:
    """The number that all of `text` is, or None. Number words need `text2num`, figures do not."""
    # Imported on first use: the tables are large.
    from hark.builtin.values.language import tables_of
    from hark.builtin.values.numbers import number as value_of

    code = _code(lang)
    found = value_of(text, tables_of(code), lang) if code and text.strip() and len(text) < 100 else None
    return None if found is None else Fraction(str(found))


def number_in(text: str, lang: str) -> Fraction | None:
    """The only number in `text`, whatever is said around it: "is it fifty?"."""
    words = text.split()
    for size in range(len(words), 0, -1):
        spans = (" ".join(words[start : start + size]) for start in range(len(words) - size + 1))
        found = {value for span in spans if (value := number(span.strip(EDGES), lang)) is not None}
        if found:
            return found.pop() if len(found) == 1 else None
    return None


def spoken(value: Fraction, lang: str, places: int = _PLACES) -> tuple[str, bool]:
    """`value` in figures with the language's decimal sign, and whether that is all of it."""
    rounded = round(value, places)
    whole, part = divmod(abs(rounded), 1)
    figures = str(round(part * 10**places)).rjust(places, "0").rstrip("0") if part else ""
    sign = "-" if rounded < 0 else ""
    return sign + str(whole) + (_mark(lang) + figures if figures else ""), rounded == value


def _mark(lang: str) -> str:
    from hark.builtin.values.language import region_of, tables_of

    code = _code(lang)
    points = tables_of(code).numbers.points if code else frozenset("*")
    return "." if "*" in points or region_of(lang) in points else ","


def _code(lang: str) -> str | None:
    from hark.builtin.values.language import LANGUAGES

    code = lang.partition("-")[0].lower()
    return code if code in LANGUAGES else None
