"""The transformer that adds typed values to the slots of a match."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import islice
from typing import Final, Literal

from hark.builtin.values.language import LANGUAGES
from hark.plugins import Ctx, IntentTransformer, Match, Session
from hark.plugins.home import zone_named
from hark.plugins.values import Kind, Value, canonical

GUESSES: Final[tuple[Kind, ...]] = ("number", "duration", "ordinal", "when")
"""The kinds to try, in this order, for a slot whose name gives no hint: hardly any text is two of them."""

_NAMES: Final[Mapping[Kind, str]] = {
    "number": "number num count amount quantity level percent percentage volume brightness temperature degrees age",
    "ordinal": "ordinal nth rank",
    "duration": "duration length timespan period interval delay",
    "when": "when datetime moment deadline",
    "date": "date day",
    "time": "time hour",
    "colour": "colour color",
    "yes_no": "answer confirmation confirm yes_no yesno",
}
_KINDS: Final[Mapping[str, Kind]] = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_ALSO: Final[Mapping[Kind, tuple[Kind, ...]]] = {"time": ("time", "duration"), "when": ("when", "duration")}
"""Further kinds for a slot of this name: a timer's time is a duration."""


def kinds_by_name(name: str) -> tuple[Kind, ...]:
    """The kinds a slot may hold by its name, or by the last word of it: `start_date` holds a date."""
    kind = _KINDS.get(name) or _KINDS.get(name.rpartition("_")[2])
    return () if kind is None else _ALSO.get(kind, (kind,))


LONGEST: Final = 100
"""Longer texts are no value; this bounds the time of the readers."""


def read(kind: Kind, text: str, lang: str, now: datetime, zone: tzinfo | None = None) -> Value | None:
    """The value of `text` in language `lang`, if all of it is one unambiguous value of this kind; else None.

    `now` is an aware datetime. Days and times are those of `zone`, or of this machine when there is none. Never
    raises for any text or language. Number words need `text2num`; figures, colours, yes and no do not.
    """
    code = lang.split("-")[0].lower()
    if len(text) > LONGEST or not text.strip() or code not in LANGUAGES:
        return None
    try:
        return _read(kind, text, code, lang, now.astimezone(zone).replace(microsecond=0), zone)
    except OverflowError:  # a day before the first year or after the last
        return None


def _read(kind: Kind, text: str, code: str, lang: str, now: datetime, zone: tzinfo | None) -> Value | None:
    # The readers and their tables are imported when first needed: an assistant without such slots starts without them.
    if kind == "colour":
        from hark.builtin.values.colours import colour

        return colour(text, code)
    if kind == "yes_no":
        from hark.intents.answers import yes_or_no

        return yes_or_no(text, lang)
    from hark.builtin.values.language import tables_of

    language = tables_of(code)
    if kind in ("number", "ordinal"):
        from hark.builtin.values.numbers import number, ordinal

        return number(text, language, lang) if kind == "number" else ordinal(text, language)
    if kind == "duration":
        from hark.builtin.values.durations import span

        length = span(text, language, lang)
        return timedelta(seconds=length.seconds) if length is not None else None
    from hark.builtin.values.moments import Here, moment

    # A number alone is an hour only where a time of day is expected.
    found = moment(text, Here(language, lang, now, zone), bare=kind == "time")
    if kind == "date" and not isinstance(found, date):
        return None
    if kind == "time" and not isinstance(found, (time, datetime)):
        return None
    return found


_MOST_SLOTS: Final = 32
_MOMENTS: Final = ("when", "date", "time")


class Values(IntentTransformer):
    """Adds `<slot>.value` in canonical form and `<slot>.kind` for every slot whose whole text is one unambiguous value.

    One transformer for all kinds, because which kind a slot holds is one decision. It is quick, but for the first use
    of a language or a time zone, which loads tables. Without `text2num` it changes nothing and says so
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
        """What a slot holds, by its name or by `<skill_id>:<name>`; `none` for no value."""
        guess: bool = True
        """Whether slots whose names give no hint are tried as number, duration, ordinal and time."""

    settings: Settings

    def __init__(self) -> None:
        self._unknown_zone = ""

    def transform(self, match: Match, ctx: Ctx) -> Match:
        code = match.lang.split("-")[0].lower()
        if not match.slots or code not in LANGUAGES:
            return match
        zone, sure = self._zone(ctx.session)
        now = datetime.fromtimestamp(self.host.clock.wall(), UTC)
        added: dict[str, str] = {}
        for name, text in islice(match.slots.items(), _MOST_SLOTS):
            if name.endswith((".value", ".kind")) or f"{name}.value" in match.slots:
                continue  # another transformer has added it
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
        """The zone the user is in (None: this machine's), and whether it is known: if not, times are ambiguous."""
        name = (session.location.tz if session.location is not None else None) or self.host.home.time_zone
        if not name:
            return None, True
        try:
            return zone_named(name), True
        except LookupError:
            if name != self._unknown_zone:
                self._unknown_zone = name
                self.host.log.warning("the time zone %r is not known here: times get no values", name)
            return None, False
