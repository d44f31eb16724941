"""Which of the files that make up an assistant have been edited."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from hark.app.dev.sources import Source
from hark.app.dev.units import Unit, units_of
from hark.app.dev.watching import Stamps, Watched, stamps_of
from hark.hosting import PluginFile, Refusal

SETTINGS: Final = ""
"""The settings file, among the roots of units."""


class Edits:
    """The units that plugins come from and the settings file, and what has changed since the last look.

    Made before the plugins are: what is saved while they are being loaded counts as an edit.
    """

    def __init__(self, sources: Iterable[Source | Refusal], settings_file: Path) -> None:
        self.settings_file = settings_file
        self.units = units_of(source for source in sources if not isinstance(source, Refusal))
        """By the name of their root."""
        self._watched = {name: Watched(stamps) for name, stamps in self.see().items()}

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

    def add(self, unit: Unit) -> None:
        """Look at another unit as well."""
        self.units[unit.root] = unit
        self._watched[unit.root] = Watched(stamps_of(unit.places))

    def drop(self, root: str) -> Unit:
        """Look at a unit no longer."""
        del self._watched[root]
        return self.units.pop(root)

    def of_files(self) -> set[str]:
        """The roots of units that the settings name as files."""
        return {root for root, unit in self.units.items() if isinstance(unit.sources[0], PluginFile)}
