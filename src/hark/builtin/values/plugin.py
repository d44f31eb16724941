"""The transformer that adds typed values to the slots of a match."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from itertools import islice
from typing import Final, Literal

from hark.builtin.values.reading import read
from hark.builtin.values.slots import GUESSES, kinds_by_name
from hark.builtin.values.support import LANGUAGES, available
from hark.plugins import Ctx, IntentTransformer, Match, Session
from hark.plugins.values import Kind, canonical

MISSING: Final = "slots get no typed values, because text2num is not installed: pip install 'hark[values]'"
_MOST_SLOTS: Final = 32
_MOMENTS: Final = ("when", "date", "time")


class Values(IntentTransformer):
    """Adds `<slot>.value` in canonical form and `<slot>.kind` for every slot whose whole text is one sure value.

    One transformer for all kinds, because which kind a slot holds is one decision. It is quick, but for the first use
    of a language or a time zone, which loads tables. Without the extra `hark[values]` it changes nothing and says so
    once.
    """

    id = "values"
    priority = 20
    quick = True

    @dataclass(frozen=True)
    class Settings:
        """Which slots get values."""

        slots: dict[
            str, Literal["none", "number", "ordinal", "duration", "when", "date", "time", "colour", "yes_no"]
        ] = field(default_factory=dict)
        """What a slot holds, by its name or by `<skill_id>:<name>`; `none` keeps values away from it."""
        guess: bool = True
        """Whether slots whose names say nothing are tried as number, duration, ordinal and time."""

    settings: Settings

    def __init__(self) -> None:
        self._ready = False
        self._unknown_zone = ""

    async def start(self) -> None:
        """As promised by `Plugin`."""
        self._ready = available()
        if not self._ready:
            self.host.log.info(MISSING)

    def transform(self, match: Match, ctx: Ctx) -> Match:
        """As promised by `IntentTransformer`."""
        code = match.lang.split("-")[0].lower()
        if not self._ready or not match.slots or code not in LANGUAGES:
            return match
        zone, sure = self._zone(ctx.session)
        now = datetime.fromtimestamp(self.host.clock.wall(), UTC)
        added: dict[str, str] = {}
        for name, text in islice(match.slots.items(), _MOST_SLOTS):
            if name.endswith((".value", ".kind")) or f"{name}.value" in match.slots:
                continue  # somebody else has read it already
            for kind in self._kinds(match.skill_id, name):
                value = read(kind, text, match.lang, now, zone) if sure or kind not in _MOMENTS else None
                if value is not None:
                    added |= {f"{name}.value": canonical(value), f"{name}.kind": kind}
                    break
        return match.with_slots(**added) if added else match

    def _kinds(self, skill_id: str, name: str) -> tuple[Kind, ...]:
        """The kinds to try, in order."""
        said = self.settings.slots.get(f"{skill_id}:{name}") or self.settings.slots.get(name)
        if said is not None:
            return () if said == "none" else (said,)
        return kinds_by_name(name) or (GUESSES if self.settings.guess else ())

    def _zone(self, session: Session) -> tuple[tzinfo | None, bool]:
        """The zone the user is in (None: this machine's), and whether it is known: if not, no time is sure."""
        name = session.location.tz if session.location is not None else None
        if not name:
            return None, True
        try:
            return _zone_named(name), True
        except (KeyError, ValueError, OSError):
            if name != self._unknown_zone:
                self._unknown_zone = name
                self.host.log.warning("the time zone %r is not known here: times get no values", name)
            return None, False


def _zone_named(name: str) -> tzinfo:
    from zoneinfo import ZoneInfo  # slow to import, and most conversations have no location

    return ZoneInfo(name)
