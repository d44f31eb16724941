"""Taking over edited settings while the assistant runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from hark.app.dev.changes import Adopted, Change, Postponed
from hark.app.dev.reloading import Reloader
from hark.app.dev.units import Unit
from hark.app.house import House
from hark.app.settings import Settings
from hark.app.settings.tables import TABLES

RESTART: Final = ("[trace] size", "[trace] disk")
"""What is set up once, before the first turn."""
FILES: Final = "[assistant] files"
"""What is told file by file."""


async def adopt(house: House, settings: Settings, reloader: Reloader, units: Iterable[Unit]) -> list[Change]:
    """Go by other settings: at once where they are the house's, by making plugins again where they are theirs."""
    before = house.settings
    keys = [key for key in changed_keys(before, settings) if key != FILES]
    house.adopt(settings)
    changes: list[Change] = []
    if now := tuple(key for key in keys if key not in RESTART):
        changes.append(Adopted(now))
    if later := tuple(key for key in keys if key in RESTART):
        changes.append(Postponed(later))
    told = {entry.id: type(entry.plugin) for entry in house.residents}
    for plugin_id, kind in told.items():
        has_new_langs = before.understanding().langs != settings.understanding().langs
        # Some read their files in the languages that are understood, when they begin.
        if before.table_for(plugin_id, kind) != settings.table_for(plugin_id, kind) or (
            has_new_langs and getattr(kind, "reads_late", False)
        ):
            changes += await reloader.remake(plugin_id)
    # One that was not loaded for its settings may be now.
    refused = {refusal.name for refusal in house.refusals} - told.keys()
    if any(before.plugins.get(name) != settings.plugins.get(name) for name in refused):
        for unit in units:
            if not any(unit.has(kind) for kind in told.values()):
                changes += await reloader.reload(unit)
    return changes


def changed_keys(before: Settings, after: Settings) -> Iterator[str]:
    """Each key that has another value, as table and key; the tables of single plugins apart."""
    for name in TABLES:
        old, new = getattr(before, name), getattr(after, name)
        for key in msgspec.structs.asdict(new):
            if getattr(old, key) != getattr(new, key):
                yield f"[{name}] {key}"
    for entry in sorted(before.entries.keys() | after.entries.keys()):
        if before.entries.get(entry) != after.entries.get(entry):
            yield f"[pipeline.{entry}]"
