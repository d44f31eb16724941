"""Which of the files that make up an assistant have been edited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from stat import S_ISDIR
from typing import Final

from hark.app.reload.reload_group import PluginSource, ReloadGroup, groups_of
from hark.hosting import PluginFile, Refusal

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


class ChangeDetector:
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


SETTINGS: Final = ""
"""The settings file, among the roots of units."""


class FileWatcher:
    """The units that plugins come from and the settings file, and what has changed since the last look.

    Made before the plugins are: what is saved while they are being loaded counts as an edit.
    """

    def __init__(self, sources: Iterable[PluginSource | Refusal], settings_file: Path) -> None:
        self.settings_file = settings_file
        self.units = groups_of(source for source in sources if not isinstance(source, Refusal))
        """By the name of their root."""
        self._watched = {name: ChangeDetector(stamps) for name, stamps in self.see().items()}

    @property
    def restless(self) -> bool:
        """Whether something has changed that may not be all."""
        return any(watched.restless for watched in self._watched.values())

    def see(self) -> dict[str, Stamps]:
        """What can be seen of the files now; any thread may do this."""
        seen = {root: stamps_of(unit.places) for root, unit in list(self.units.items())}
        return seen | {SETTINGS: stamps_of([self.settings_file])}

    def changed(self, seen: dict[str, Stamps]) -> list[str]:
        """The roots of units that have changed and are at rest, and `SETTINGS` if these have."""
        return [name for name, watched in self._watched.items() if name in seen and watched.look(seen[name])]

    def add(self, unit: ReloadGroup) -> None:
        """Look at another unit as well."""
        self.units[unit.root] = unit
        self._watched[unit.root] = ChangeDetector(stamps_of(unit.places))

    def drop(self, root: str) -> ReloadGroup:
        """Look at a unit no longer."""
        del self._watched[root]
        return self.units.pop(root)

    def of_files(self) -> set[str]:
        """The roots of units that the settings name as files."""
        return {root for root, unit in self.units.items() if isinstance(unit.sources[0], PluginFile)}
