"""Typed values of slots. A slot is text; beside `when`, `when.value` holds its canonical form and `when.kind` its kind.

| kind | canonical form | Python |
|---|---|---|
| `number`, `ordinal` | `5`, `2.5` | `int`, `float` |
| `duration` | seconds: `600` | `timedelta` |
| `when`, `date`, `time` | `2026-11-17`, `07:30`, `2026-11-17T07:30:00+01:00` | `date`, `time`, `datetime` |
| `colour` | `#rrggbb` | `str` |
| `yes_no` | `yes`, `no` | `bool` |
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import Final, Literal, get_args

Kind = Literal["number", "ordinal", "duration", "when", "date", "time", "colour", "yes_no"]
"""What a slot can hold. `when` is any of a day, a time of day, or both."""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

Value = int | float | datetime | date | time | timedelta | str | bool
"""A typed value; a colour is text."""

_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(\.[0-9]{1,17})?")
_COLOUR: Final = re.compile(r"#[0-9a-f]{6}")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME: Final = re.compile(r"[0-9]{2}:[0-9]{2}(?::[0-9]{2})?")
_MOMENT: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(?:Z|[+-][0-9]{2}:[0-9]{2})"
)
_TIMED: Final = {"when", "date", "time"}


def canonical(value: Value) -> str:
    """The canonical text of `value`; `parse` reads it back."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, timedelta):
        return _number_text(value.total_seconds())
    if isinstance(value, (int, float)):
        return _number_text(value)
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        return value.isoformat(timespec="minutes")
    return value


def parse(text: str, kind: str | None = None) -> Value | None:
    """The value of a canonical text, or None when it is not one.

    Without `kind` the form decides, and a number is a number: only `duration` makes it a time span. An unknown kind
    counts as no kind.
    """
    if kind is not None and kind not in KINDS:
        kind = None
    try:
        return _parse(text, kind)
    except (ValueError, OverflowError):  # the 30th of February, a span of a million years
        return None


def typed_value(slots: Mapping[str, str], name: str) -> Value | None:
    """The typed value of slot `name`, or None when it has none."""
    text = slots.get(f"{name}.value")
    return None if text is None else parse(text, slots.get(f"{name}.kind"))


def _parse(text: str, kind: str | None) -> Value | None:
    if kind in (None, "number", "ordinal", "duration") and (found := _NUMBER.fullmatch(text)):
        number = float(text) if found[1] else int(text)
        return timedelta(seconds=number) if kind == "duration" else number
    if kind in (None, "yes_no") and text in ("yes", "no"):
        return text == "yes"
    if kind in (None, "colour") and _COLOUR.fullmatch(text):
        return text
    return _parse_time(text) if kind is None or kind in _TIMED else None


def _parse_time(text: str) -> Value | None:
    if _DATE.fullmatch(text):
        return date.fromisoformat(text)
    if _TIME.fullmatch(text):
        return time.fromisoformat(text)
    return datetime.fromisoformat(text) if _MOMENT.fullmatch(text) else None


def _number_text(number: float) -> str:
    from decimal import Decimal  # seldom needed, and a third of a megabyte

    # By way of Decimal, because JSON readers differ about exponents and Python writes them for small numbers.
    return str(int(number)) if number == int(number) else format(Decimal(repr(number)), "f")
