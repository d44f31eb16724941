"""Where people say a place is, as a time zone."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from hark.builtin.skills.tables import Table, plain, read_table, table

_HERE: Final = Path(__file__).parent


class Place(NamedTuple):
    """A place with one time."""

    name: str
    """As it is written in the language it was asked for in."""
    zone: str


def place(said: str, lang: str) -> Place | None:
    """The place that is called `said` in `lang`, or anywhere; None when nobody wrote it down."""
    wanted = plain(said)
    return _names(lang).get(wanted) or _everywhere().get(wanted)


@lru_cache(maxsize=8)
def _names(lang: str) -> dict[str, Place]:
    return _by_name(table(_HERE / "names", "places", lang))


@lru_cache(maxsize=1)
def _everywhere() -> dict[str, Place]:
    """What places are called in English or by those who live there."""
    return _by_name(read_table(_HERE / "places.txt"))


def _by_name(zones: Table) -> dict[str, Place]:
    return {plain(name): Place(name, zone) for zone, names in zones.items() for name in names}
