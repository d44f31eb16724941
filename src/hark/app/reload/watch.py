"""Detects edits of plugin files and of the settings file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from stat import S_ISDIR
from typing import Final

from hark.app.reload.reload_group import PluginSource, ReloadGroup, groups_of
from hark.hosting import PluginFile, Refusal

Stamp = tuple[int, int, int]
"""Time of the last change, size and inode of a file; a file that replaced it has another inode."""

Stamps = Mapping[str, Stamp]

SETTLED: Final = 2
"""Scans in a row with the same result before a change counts: an editor may still be writing."""
GONE: Final = 7
"""As many when a file is missing: an editor may be about to replace it."""
_SKIPPED: Final = ("~", ".pyc", ".tmp", ".bak")


def stamps_of(places: Iterable[Path]) -> Stamps:
    """The stamps of these files, and of all files in these folders. Missing files are left out."""
    return dict(found for place in places for found in _seen(place))


def _seen(place: Path) -> Iterator[tuple[str, Stamp]]:
    try:
        found = place.stat()
        if not S_ISDIR(found.st_mode):
            yield str(place), (found.st_mtime_ns, found.st_size, found.st_ino)
            return
        inside = sorted(place.iterdir())
    except OSError:
        return  # deleted meanwhile, or not readable
    for path in inside:
        if not path.name.startswith((".", "__pycache__")) and not path.name.endswith(_SKIPPED):
            yield from _seen(path)


class ChangeDetector:
    """Reports a change of a set of files once, when it has settled."""

    def __init__(self, stamps: Stamps) -> None:
        self._known = stamps
        self._seen: Stamps | None = None
        self._scans = 0

    def update(self, stamps: Stamps) -> bool:
        """Compare with the stamps of a new scan; true when the files have changed and settled."""
        if stamps == self._known:
            self._seen = None
            return False
        if stamps != self._seen:
            self._seen, self._scans = stamps, 0
        self._scans += 1
        if self._scans < (GONE if self._known.keys() - stamps.keys() else SETTLED):
            return False
        self._known, self._seen = stamps, None
        return True

    @property
    def is_unsettled(self) -> bool:
        """Whether a change has been seen that does not count yet."""
        return self._seen is not None


SETTINGS: Final = ""
"""The settings file, among the roots of groups."""


class FileWatcher:
    """Watches the files of reload groups and the settings file.

    Made before the plugins are loaded, so that what is saved meanwhile counts as an edit.
    """

    def __init__(self, sources: Iterable[PluginSource | Refusal], settings_file: Path) -> None:
        self.settings_file = settings_file
        self.groups = groups_of(source for source in sources if not isinstance(source, Refusal))
        """By the name of their root."""
        self._watched = {name: ChangeDetector(stamps) for name, stamps in self.scan().items()}

    @property
    def is_unsettled(self) -> bool:
        """Whether a change has been seen that may not be complete."""
        return any(watched.is_unsettled for watched in self._watched.values())

    def scan(self) -> dict[str, Stamps]:
        """The stamps of all files now, by the root of their group; any thread may call this."""
        seen = {root: stamps_of(group.places) for root, group in list(self.groups.items())}
        return seen | {SETTINGS: stamps_of([self.settings_file])}

    def changed(self, seen: dict[str, Stamps]) -> list[str]:
        """The roots of groups that have changed and settled, and `SETTINGS` if that file has."""
        return [name for name, watched in self._watched.items() if name in seen and watched.update(seen[name])]

    def add(self, group: ReloadGroup) -> None:
        """Watch another group as well."""
        self.groups[group.root] = group
        self._watched[group.root] = ChangeDetector(stamps_of(group.places))

    def drop(self, root: str) -> ReloadGroup:
        """Stop watching a group."""
        del self._watched[root]
        return self.groups.pop(root)

    def file_roots(self) -> set[str]:
        """The roots of groups that the settings name as files."""
        return {root for root, group in self.groups.items() if isinstance(group.sources[0], PluginFile)}
