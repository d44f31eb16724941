"""The results of a reload as the user reads them, and the application of changed settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

import msgspec

from hark.app.settings import Settings
from hark.app.settings.tables import TABLES
from hark.app.text import one_line
from hark.hosting import Refusal
from hark.spec import TRANSFORMER_TYPES

if TYPE_CHECKING:
    from hark.app.reload.reload_group import ReloadGroup
    from hark.app.reload.reloader import Reloader
    from hark.app.runtime import Runtime


class Reloaded(msgspec.Struct, frozen=True):
    """A plugin whose present code is in service."""

    plugin_id: str
    what: str
    """The number of its intents, or its kind of transformer."""
    seconds: float
    """How long it took, without the wait for open turns."""
    new: bool = False
    """Whether no plugin had this id before."""

    def __str__(self) -> str:
        verb = "loaded" if self.new else "reloaded"
        return f"{verb} {self.plugin_id} ({self.what}) in {self.seconds * 1000:.0f} ms"


class ReloadRefused(msgspec.Struct, frozen=True):
    """A change that was not made, and the reason."""

    refusal: Refusal
    in_service: tuple[str, ...] = ()
    """The ids of the plugins that stay in service unchanged."""

    def __str__(self) -> str:
        refusal = self.refusal
        if self.in_service:
            text = f"{', '.join(self.in_service)} not reloaded: {refusal.reason}"
            stays = "the old version stays in service"
        else:
            text, stays = f"{refusal.kind} {refusal.name} is not loaded: {refusal.reason}", ""
        return one_line(" · ".join(part for part in (text, refusal.where, refusal.remedy, stays) if part))


class Unloaded(msgspec.Struct, frozen=True):
    """A plugin that is no longer in service because its code is gone."""

    plugin_id: str

    def __str__(self) -> str:
        return f"unloaded {self.plugin_id}"


class SettingsApplied(msgspec.Struct, frozen=True):
    """Settings that hold from the next turn on."""

    keys: tuple[str, ...]
    """Table and key of each changed setting."""

    def __str__(self) -> str:
        return f"settings applied: {', '.join(self.keys)}"


class RestartNeeded(msgspec.Struct, frozen=True):
    """Settings that cannot change while the assistant runs."""

    keys: tuple[str, ...]

    def __str__(self) -> str:
        if len(self.keys) == 1:
            return f"{self.keys[0]} needs a restart; it cannot change while the assistant runs"
        return f"{', '.join(self.keys)} need a restart; they cannot change while the assistant runs"


class UnreadableFile(msgspec.Struct, frozen=True):
    """A settings file that cannot be used: the settings stay as they were."""

    mistakes: tuple[str, ...]

    def __str__(self) -> str:
        return one_line(f"settings not changed: {'; '.join(self.mistakes)}")


Change = Reloaded | ReloadRefused | Unloaded | SettingsApplied | RestartNeeded | UnreadableFile


RESTART: Final = ("[trace] size", "[trace] disk")
"""Settings that are only read before the first turn."""
FILES: Final = "[assistant] files"
"""Reported file by file instead."""


async def apply_settings(
    runtime: Runtime, settings: Settings, reloader: Reloader, groups: Iterable[ReloadGroup]
) -> list[Change]:
    """Apply other settings: the runtime's own at once, those of plugins by making these plugins again."""
    before = runtime.settings
    keys = [key for key in changed_keys(before, settings) if key != FILES]
    runtime.adopt(settings)
    changes: list[Change] = []
    if now := tuple(key for key in keys if key not in RESTART):
        changes.append(SettingsApplied(now))
    if later := tuple(key for key in keys if key in RESTART):
        changes.append(RestartNeeded(later))
    loaded = [(entry.id, type(entry.plugin)) for entry in runtime.plugin_set]
    remade: set[str] = set()
    for plugin_id, kind in loaded:
        has_new_langs = before.understanding().langs != settings.understanding().langs
        # Plugins that read late read their files for each configured language when they start.
        differs = before.table_for(plugin_id, kind) != settings.table_for(plugin_id, kind)
        if plugin_id not in remade and (differs or (has_new_langs and getattr(kind, "reads_late", False))):
            remade.add(plugin_id)
            changes += await reloader.remake(plugin_id)
    # A plugin that was refused because of its settings may be accepted now.
    refused = {refusal.name for refusal in runtime.refusals} - {plugin_id for plugin_id, _ in loaded}
    if before.transformer != settings.transformer or any(
        before.plugins.get(name) != settings.plugins.get(name) for name in refused
    ):
        for group in groups:
            if refused and not any(group.has(kind) for _, kind in loaded):
                changes += await reloader.reload(group)
    return changes


def changed_keys(before: Settings, after: Settings) -> Iterator[str]:
    """Table and key of each setting that differs, except those in the tables of single plugins."""
    for name in TABLES:
        old, new = getattr(before, name), getattr(after, name)
        for key in msgspec.structs.asdict(new):
            if getattr(old, key) != getattr(new, key):
                yield f"[{name}] {key}"
    for kind in TRANSFORMER_TYPES:
        for name in sorted({*before.transformer.get(kind, ()), *after.transformer.get(kind, ())}):
            if before.transformer_table(kind, name) != after.transformer_table(kind, name):
                yield f"[transformer.{kind}.{name}]"
    for entry in sorted(before.entries.keys() | after.entries.keys()):
        if before.entries.get(entry) != after.entries.get(entry):
            yield f"[pipeline.{entry}]"
