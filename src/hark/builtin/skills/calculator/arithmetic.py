"""Evaluating arithmetic, and units of measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import cbrt, isqrt
from typing import Final, NamedTuple

Token = Fraction | str
"""A number, or one of `+ - * / ^ r c % ( )`; `r` is a square root, `c` a cube root, `%` a percentage."""

_MOST_BITS: Final = 4096
_ROOT_FIGURES: Final = 15
_FLOAT_BITS: Final = 1000


class Unclear(ValueError):
    """The tokens are no arithmetic expression."""


class TooBig(ValueError):
    """The number is too long to be spoken."""


def evaluate(tokens: Sequence[Token]) -> Fraction:
    """The result; raises `Unclear`, `TooBig` or `ZeroDivisionError`. Only arithmetic is evaluated."""
    sum_ = _Sum(tokens)
    result = sum_.terms()
    if sum_.next is not None:
        raise Unclear(f"{sum_.next!r} is left over")
    return result


class _Sum:
    """A recursive descent parser: terms of factors of powers of numbers."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    @property
    def next(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _take(self, *signs: str) -> str | None:
        token = self.next
        if isinstance(token, str) and token in signs:
            self._at += 1
            return token
        return None

    def terms(self) -> Fraction:
        result = self._factors()
        while sign := self._take("+", "-"):
            other = self._factors()
            result = _sane(result + other if sign == "+" else result - other)
        return result

    def _factors(self) -> Fraction:
        result = self._power()
        while sign := self._take("*", "/"):
            other = self._power()
            result = _sane(result * other if sign == "*" else result / other)
        return result

    def _power(self) -> Fraction:
        if self._take("-"):
            return -self._power()
        base = self._atom()
        while self._take("%"):
            base /= 100
        return _raised(base, self._power()) if self._take("^") else base

    def _atom(self) -> Fraction:
        self._depth += 1
        if self._depth > 50:
            raise TooBig("too many brackets")
        if root := self._take("r", "c"):
            result = _root(self._atom()) if root == "r" else _cube_root(self._atom())
        elif self._take("("):
            result = self.terms()
            if self._take(")") is None and self.next is not None:
                raise Unclear("a bracket stays open")
        elif isinstance(self.next, Fraction):
            result = self.next
            self._at += 1
        else:
            raise Unclear(f"a number is missing before {self.next!r}")
        self._depth -= 1
        return result


def _raised(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent == Fraction(1, 2):
        return _root(base)
    if exponent.denominator != 1:
        raise Unclear("only whole powers")
    size = max(base.numerator.bit_length(), base.denominator.bit_length())
    if size * abs(exponent) > _MOST_BITS:
        raise TooBig(f"{base} to the power of {exponent}")
    return base**exponent.numerator


def _root(value: Fraction) -> Fraction:
    """The square root, exact if possible, else to many figures."""
    if value < 0:
        raise Unclear("no root of less than nothing")
    scale = 10**_ROOT_FIGURES
    top, bottom = isqrt(value.numerator), isqrt(value.denominator)
    if top * top == value.numerator and bottom * bottom == value.denominator:
        return Fraction(top, bottom)
    return Fraction(isqrt(value.numerator * scale * scale // value.denominator), scale)


def _cube_root(value: Fraction) -> Fraction:
    """The cube root, exact if possible, else to the figures of a float."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _FLOAT_BITS:
        raise TooBig(f"the cube root of {value}")
    near = Fraction(cbrt(value))
    whole = near.limit_denominator(value.denominator)
    return whole if whole**3 == value else near


def _sane(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
        raise TooBig("too many figures")
    return value


class MeasurementUnit(NamedTuple):
    """A unit: `size` of the kind's base unit, counted from `zero`."""

    kind: str
    size: Fraction
    zero: Fraction = Fraction(0)
    """How many base units are none of these: temperatures do not begin at the same point."""


def _units(kind: str, **sizes: str) -> dict[str, MeasurementUnit]:
    return {name: MeasurementUnit(kind, Fraction(size)) for name, size in sizes.items()}


UNITS: Final[Mapping[str, MeasurementUnit]] = {
    **_units("length", millimetre="1/1000", centimetre="1/100", metre="1", kilometre="1000", inch="0.0254"),
    **_units("length", foot="0.3048", yard="0.9144", mile="1609.344", nautical_mile="1852"),
    **_units("mass", milligram="1/1000000", gram="1/1000", kilogram="1", tonne="1000"),
    **_units("mass", ounce="0.028349523125", pound="0.45359237", stone="6.35029318"),
    **_units("volume", millilitre="1/1000", centilitre="1/100", decilitre="1/10", litre="1", cubic_metre="1000"),
    **_units("volume", teaspoon="0.00492892159375", tablespoon="0.01478676478125", cup="0.2365882365"),
    **_units("volume", fluid_ounce="0.0295735295625", pint="0.473176473", gallon="3.785411784"),
    **_units("speed", metre_per_second="1", kilometre_per_hour="5/18", mile_per_hour="0.44704", knot="463/900"),
    **_units("data", bit="1/8", byte="1", kilobyte="1e3", megabyte="1e6", gigabyte="1e9", terabyte="1e12"),
    **_units("data", kibibyte="1024", mebibyte="1048576", gibibyte="1073741824", megabit="125000", gigabit="125000000"),
    **_units("time", millisecond="1/1000", second="1", minute="60", hour="3600", day="86400", week="604800"),
    # A year of 365 days, and a twelfth of it: what people count with.
    **_units("time", month="2628000", year="31536000", leap_year="31622400", decade="315360000", century="3153600000"),
    **_units("volume", quart="0.946352946"),
    **_units("mass", short_ton="907.18474"),
    **_units("area", square_metre="1", hectare="10000", square_kilometre="1000000", acre="4046.8564224"),
    **_units("area", square_foot="0.09290304", square_mile="2589988.110336"),
    "kelvin": MeasurementUnit("temperature", Fraction(1)),
    "celsius": MeasurementUnit("temperature", Fraction(1), Fraction("273.15")),
    "fahrenheit": MeasurementUnit("temperature", Fraction(5, 9), Fraction("273.15") - 32 * Fraction(5, 9)),
}
"""The units by their names in locale files. Of the American and the British ones that share a name, the American."""


class Different(ValueError):
    """Two units measure different things."""


def converted(amount: Fraction, source: str, target: str) -> Fraction:
    """`amount` of one unit in another; raises `Different`."""
    one, other = UNITS[source], UNITS[target]
    if one.kind != other.kind:
        raise Different(f"{source} is a {one.kind}, {target} a {other.kind}")
    return (amount * one.size + one.zero - other.zero) / other.size
