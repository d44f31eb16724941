"""Filling slots that the user left out from the session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hark.builtin.transformers.intent.exclusions import SlotExclusions
from hark.plugins import Ctx, IntentTransformer, Match, Session

USUAL: Final[Mapping[str, str]] = {
    "latitude": "location.lat",
    "longitude": "location.lon",
    "timezone": "location.tz",
    "location": "location.city",
    "city": "location.city",
    "units": "system_unit",
    "room": "site_id",
    "lang": "lang",
}
"""Slots that mean a field of the session by their name, in skills that declare them as defaults."""


class SessionDefaults(IntentTransformer):
    """Adds slots that the user did not fill, from fields of the session: place, time zone, units, room.

    Only the slots that its settings name are filled: a handler may do something else where a slot is missing.
    """

    id = "defaults"
    priority = 50
    quick = True

    @dataclass(frozen=True)
    class Settings:
        """Which slots have defaults."""

        slots: dict[str, str] = field(default_factory=dict)
        """The field for a slot, by `<skill_id>:<slot>`, or `<slot>` for all skills: "weather.skill:city" =
        "location.city". An empty field means the usual one of that slot."""
        values: dict[str, str] = field(default_factory=dict)
        """What to use where the session has no such field, by field: "location.city" = "Lisbon"."""

    settings: Settings

    async def start(self) -> None:
        self._exclusions = SlotExclusions(self.host)
        self._of_skill: dict[str, list[tuple[str, str]]] = {}
        for name, place in self.settings.slots.items():
            skill_id, _, slot = name.rpartition(":")
            self._of_skill.setdefault(skill_id, []).append((slot, place or USUAL.get(slot, slot)))

    def transform(self, match: Match, ctx: Ctx) -> Match:
        wanted = (*self._of_skill.get(match.skill_id, ()), *self._of_skill.get("", ()))
        added: dict[str, str] = {}
        for slot, place in wanted:
            if slot not in match.slots and slot not in added:
                value = _read(ctx.session, place) or self.settings.values.get(place, "")
                if value and not self._exclusions.bars(match, ctx.session, slot, value):
                    added[slot] = value
        return match.with_slots(**added) if added else match


def _read(session: Session, place: str) -> str:
    value: Any = session
    for name in place.split("."):
        value = value.get(name) if isinstance(value, (Session, Mapping)) else getattr(value, name, None)
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""
