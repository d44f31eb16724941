"""Which plugins an assistant is made of."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from hark.builtin import DEFAULT_PLUGINS
from hark.hosting import Refusal, discover
from hark.plugins import Plugin

_ANY_GROUP: Final = b"[hark."


def plugins(*, installed: bool) -> Iterator[Plugin | Refusal]:
    """The plugins that come with Hark and, if asked for, those that installed packages offer."""
    for made in DEFAULT_PLUGINS:
        yield made()
    if installed and any(map(_offers, sys.path)):
        yield from discover()


def _offers(place: str) -> bool:
    """Whether any package there has entry points of ours.

    Looked up by hand first: most machines have none, and the standard library's way costs 2 MB and 30 ms.
    """
    points: Iterable[Path] = Path(place or ".").glob("*.dist-info/entry_points.txt")
    try:
        return any(_ANY_GROUP in file.read_bytes() for file in points)
    except OSError:
        return True  # let the thorough way find out
