"""Which slots hold which kind of value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hark.plugins.values import Kind

GUESSES: Final[tuple[Kind, ...]] = ("number", "duration", "ordinal", "when")
"""What is tried when a slot's name says nothing, in this order: no text is two of them but by accident."""

_NAMES: Final[Mapping[Kind, str]] = {
    "number": "number num count amount quantity level percent percentage volume brightness temperature degrees age",
    "ordinal": "ordinal nth rank",
    "duration": "duration length timespan period interval delay",
    "when": "when datetime moment deadline",
    "date": "date day",
    "time": "time hour",
    "colour": "colour color",
    "yes_no": "answer confirmation confirm yes_no yesno",
}
_KINDS: Final[Mapping[str, Kind]] = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_ALSO: Final[Mapping[Kind, tuple[Kind, ...]]] = {"time": ("time", "duration"), "when": ("when", "duration")}
"""What people put into a slot of this name as well: a timer's time is a duration."""


def kinds_by_name(name: str) -> tuple[Kind, ...]:
    """The kinds a slot may hold by its name, or by the last word of it: `start_date` holds a date."""
    kind = _KINDS.get(name) or _KINDS.get(name.rpartition("_")[2])
    return () if kind is None else _ALSO.get(kind, (kind,))
