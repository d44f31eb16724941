"""What there is to say to a sum and to a conversion."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

from hark.builtin.skills.calculator.reading import Quantity, Reader
from hark.builtin.skills.calculator.sums import Token, TooBig, Unclear, worked_out
from hark.builtin.skills.calculator.units import Different, converted
from hark.builtin.skills.spoken_numbers import spoken
from hark.intents.locale import Locale

_FOLLOWING: Final = ("+", "-", "*", "/", "^", "%")
_PLACES: Final = 3
"""Figures after the decimal sign of what was converted; more where there would be nothing left."""
_MOST: Final = 10**21


class Said(NamedTuple):
    """A dialog with its values, and the number that was found if there is one: a fraction as text."""

    dialog: str
    values: dict[str, str]
    result: str | None = None


UNCLEAR: Final = Said("unclear", {})


class Answering:
    """Answers in the languages of a locale."""

    def __init__(self, locale: Locale) -> None:
        self._reader = lru_cache(maxsize=8)(lambda lang: Reader(locale, lang))
        self.to = lru_cache(maxsize=32)(self._to)
        """What to say when all of a text is a sum or a conversion, by text and language; else None.

        It is asked whether it could answer before it is asked to.
        """

    def _to(self, text: str, lang: str) -> Said | None:
        reader = self._reader(lang)
        tokens = reader.sum(text)
        if tokens is not None:
            said = _summing(reader, tokens)
            return None if said is UNCLEAR else said
        wanted = reader.conversion(text)
        return wanted and _converting(reader, *wanted)

    def to_more(self, last: str, text: str, lang: str) -> Said | None:
        """What to say when `text` goes on with the result before: "and times two"; else None."""
        reader = self._reader(lang)
        tokens = reader.sum(text)
        if not tokens or tokens[0] not in _FOLLOWING:
            return None
        return _summing(reader, [Fraction(last), *tokens])

    def to_sum(self, text: str, lang: str) -> Said:
        """What to say when `text` has to be a sum."""
        reader = self._reader(lang)
        return _summing(reader, reader.sum(text) or ())

    def to_conversion(self, amount: str, unit: str, lang: str) -> Said | None:
        """What to say to so much of a unit in another one; None when one of them is not known."""
        reader = self._reader(lang)
        quantity, target = reader.quantity(amount), reader.unit(unit)
        return None if quantity is None or target is None else _converting(reader, quantity, target)


def _summing(reader: Reader, tokens: Sequence[Token]) -> Said:
    try:
        result = worked_out(tokens)
    except Unclear:
        return UNCLEAR
    except ZeroDivisionError:
        return Said("by_zero", {})
    except TooBig:
        return Said("too_big", {})
    if abs(result) >= _MOST:
        return Said("too_big", {})
    text, is_exact = spoken(result, reader.lang)
    return Said("result" if is_exact else "about", {"result": text}, str(result))


def _converting(reader: Reader, quantity: Quantity, unit: str) -> Said:
    amount, source = quantity
    try:
        result = converted(amount, source, unit)
    except Different:
        many = Fraction(2)
        return Said("different", {"source": reader.named(source, many), "target": reader.named(unit, many)})
    places = _PLACES if abs(result) >= Fraction(1, 100) or not result else _PLACES + 9
    rounded = round(result, places)
    values = {
        "amount": spoken(amount, reader.lang, _PLACES)[0],
        "source": reader.named(source, amount),
        "result": spoken(rounded, reader.lang, places)[0],
        "target": reader.named(unit, rounded),
    }
    return Said("converted", values, str(result))
