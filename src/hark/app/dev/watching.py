"""Noticing that files have changed, by looking at them now and then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from stat import S_ISDIR
from typing import Final

Stamp = tuple[int, int, int]
"""Time of the last change, size, and number of a file: one that was put in its place has another number."""

Stamps = Mapping[str, Stamp]

SETTLED: Final = 2
"""Looks in a row that see the same before a change counts: an editor may still be writing."""
GONE: Final = 7
"""As many when a file is missing: an editor may be about to put another in its place."""
_SKIPPED: Final = ("~", ".pyc", ".tmp", ".bak")


def stamps_of(places: Iterable[Path]) -> Stamps:
    """What can be seen of files, and of everything in folders, from outside. What is not there is left out."""
    return dict(found for place in places for found in _seen(place))


def _seen(place: Path) -> Iterator[tuple[str, Stamp]]:
    try:
        found = place.stat()
        if not S_ISDIR(found.st_mode):
            yield str(place), (found.st_mtime_ns, found.st_size, found.st_ino)
            return
        inside = sorted(place.iterdir())
    except OSError:
        return  # gone meanwhile, or not for us
    for path in inside:
        if not path.name.startswith((".", "__pycache__")) and not path.name.endswith(_SKIPPED):
            yield from _seen(path)


class Watched:
    """What belongs together: one change of it is told once, when it has come to rest."""

    def __init__(self, stamps: Stamps) -> None:
        self._known = stamps
        self._seen: Stamps | None = None
        self._looks = 0

    def look(self, stamps: Stamps) -> bool:
        """Compare with what can be seen now; true when it has changed and is at rest."""
        if stamps == self._known:
            self._seen = None
            return False
        if stamps != self._seen:
            self._seen, self._looks = stamps, 0
        self._looks += 1
        if self._looks < (GONE if self._known.keys() - stamps.keys() else SETTLED):
            return False
        self._known, self._seen = stamps, None
        return True

    @property
    def restless(self) -> bool:
        """Whether something has changed that does not count yet."""
        return self._seen is not None
