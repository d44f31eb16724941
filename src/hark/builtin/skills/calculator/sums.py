"""Working out a sum that was taken apart: numbers and signs, no more."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt
from typing import Final

Token = Fraction | str
"""A number, or one of `+ - * / ^ r % ( )`; `r` is a square root, `%` a percentage."""

_MOST_BITS: Final = 4096
_ROOT_FIGURES: Final = 15


class Unclear(ValueError):
    """The parts make no sum."""


class TooBig(ValueError):
    """Nobody wants to hear that number."""


def worked_out(tokens: Sequence[Token]) -> Fraction:
    """The result; raises `Unclear`, `TooBig` or `ZeroDivisionError`. Nothing but arithmetic can come of it."""
    sum_ = _Sum(tokens)
    result = sum_.terms()
    if sum_.next is not None:
        raise Unclear(f"{sum_.next!r} is left over")
    return result


class _Sum:
    """Reads from left to right: terms of factors of powers of numbers."""

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
        if self._take("r"):
            result = _root(self._atom())
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
    """Exact where it can be, else to many figures."""
    if value < 0:
        raise Unclear("no root of less than nothing")
    scale = 10**_ROOT_FIGURES
    top, bottom = isqrt(value.numerator), isqrt(value.denominator)
    if top * top == value.numerator and bottom * bottom == value.denominator:
        return Fraction(top, bottom)
    return Fraction(isqrt(value.numerator * scale * scale // value.denominator), scale)


def _sane(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
        raise TooBig("too many figures")
    return value
