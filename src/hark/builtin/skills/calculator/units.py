"""Units of measurement and how they turn into each other."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Final, NamedTuple


class Unit(NamedTuple):
    """A unit: `size` of the kind's base unit, counted from `zero`."""

    kind: str
    size: Fraction
    zero: Fraction = Fraction(0)
    """How many base units are none of these: temperatures do not begin at the same point."""


def _units(kind: str, **sizes: str) -> dict[str, Unit]:
    return {name: Unit(kind, Fraction(size)) for name, size in sizes.items()}


UNITS: Final[Mapping[str, Unit]] = {
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
    "kelvin": Unit("temperature", Fraction(1)),
    "celsius": Unit("temperature", Fraction(1), Fraction("273.15")),
    "fahrenheit": Unit("temperature", Fraction(5, 9), Fraction("273.15") - 32 * Fraction(5, 9)),
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
