"""What came of a change, and how it is told."""

from __future__ import annotations

import msgspec

from hark.app.words import one_line
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


class Refused(msgspec.Struct, frozen=True):
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


class Adopted(msgspec.Struct, frozen=True):
    """Settings that hold from the next turn on."""

    keys: tuple[str, ...]
    """What has changed, as table and key."""

    def __str__(self) -> str:
        return f"settings in force: {', '.join(self.keys)}"


class Postponed(msgspec.Struct, frozen=True):
    """Settings that cannot change while the assistant runs."""

    keys: tuple[str, ...]

    def __str__(self) -> str:
        if len(self.keys) == 1:
            return f"{self.keys[0]} needs a restart: it cannot change while the assistant runs"
        return f"{', '.join(self.keys)} need a restart: they cannot change while the assistant runs"


class Unreadable(msgspec.Struct, frozen=True):
    """A settings file that cannot be used: the settings stay as they were."""

    mistakes: tuple[str, ...]

    def __str__(self) -> str:
        return one_line(f"settings not changed: {'; '.join(self.mistakes)}")


Change = Reloaded | Refused | Unloaded | Adopted | Postponed | Unreadable
