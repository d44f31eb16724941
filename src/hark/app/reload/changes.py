"""What came of a change, and how it is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from hark.app.reload.reload_group import ReloadGroup
from hark.app.reload.reloader import Reloader
from hark.app.runtime import Runtime
from hark.app.settings import Settings
from hark.app.settings.tables import TABLES
from hark.app.text import one_line
from hark.hosting import Refusal


class Reloaded(msgspec.Struct, frozen=True):
    """A plugin is in service as it is written now."""

    plugin_id: str
    what: str
    """What it is: how many intents, or which kind of transformer."""
    seconds: float
    """How long it took, the wait for its turns apart."""
    new: bool = False
    """Whether there was none of this id before."""

    def __str__(self) -> str:
        verb = "loaded" if self.new else "reloaded"
        return f"{verb} {self.plugin_id} ({self.what}) in {self.seconds * 1000:.0f} ms"


class ReloadRefused(msgspec.Struct, frozen=True):
    """A change that was not made, and why."""

    refusal: Refusal
    in_service: tuple[str, ...] = ()
    """Who stays in service as it was."""

    def __str__(self) -> str:
        refusal = self.refusal
        if self.in_service:
            told = f"{', '.join(self.in_service)} not reloaded: {refusal.reason}"
            stays = "the old one stays in service" if len(self.in_service) == 1 else "the old ones stay in service"
        else:
            told, stays = f"{refusal.kind} {refusal.name} is not loaded: {refusal.reason}", ""
        return one_line(" · ".join(part for part in (told, refusal.where, refusal.remedy, stays) if part))


class Unloaded(msgspec.Struct, frozen=True):
    """A plugin is no longer in service, because it is no longer there."""

    plugin_id: str

    def __str__(self) -> str:
        return f"unloaded {self.plugin_id}"


class SettingsApplied(msgspec.Struct, frozen=True):
    """Settings that hold from the next turn on."""

    keys: tuple[str, ...]
    """What has changed, as table and key."""

    def __str__(self) -> str:
        return f"settings in force: {', '.join(self.keys)}"


class RestartNeeded(msgspec.Struct, frozen=True):
    """Settings that cannot change while the assistant runs."""

    keys: tuple[str, ...]

    def __str__(self) -> str:
        if len(self.keys) == 1:
            return f"{self.keys[0]} needs a restart: it cannot change while the assistant runs"
        return f"{', '.join(self.keys)} need a restart: they cannot change while the assistant runs"


class UnreadableFile(msgspec.Struct, frozen=True):
    """A settings file that cannot be used: the settings stay as they were."""

    mistakes: tuple[str, ...]

    def __str__(self) -> str:
        return one_line(f"settings not changed: {'; '.join(self.mistakes)}")


Change = Reloaded | ReloadRefused | Unloaded | SettingsApplied | RestartNeeded | UnreadableFile


RESTART: Final = ("[trace] size", "[trace] disk")
"""What is set up once, before the first turn."""
FILES: Final = "[assistant] files"
"""What is told file by file."""


async def apply_settings(
    house: Runtime, settings: Settings, reloader: Reloader, units: Iterable[ReloadGroup]
) -> list[Change]:
    """Go by other settings: at once where they are the house's, by making plugins again where they are theirs."""
    before = house.settings
    keys = [key for key in changed_keys(before, settings) if key != FILES]
    house.adopt(settings)
    changes: list[Change] = []
    if now := tuple(key for key in keys if key not in RESTART):
        changes.append(SettingsApplied(now))
    if later := tuple(key for key in keys if key in RESTART):
        changes.append(RestartNeeded(later))
    told = {entry.id: type(entry.plugin) for entry in house.plugin_set}
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
