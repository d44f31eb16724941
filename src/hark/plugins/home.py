"""Where the assistant is, and how its users want to hear times and quantities."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Final, Literal, TypeVar

import msgspec

from hark.model import Session

T = TypeVar("T")

Units = Literal["metric", "imperial"]
ClockHours = Literal[12, 24]

_IMPERIAL: Final = frozenset({"US", "LR", "MM"})
_TWELVE_HOURS: Final = frozenset(
    [f"en-{region}" for region in ("US", "CA", "AU", "NZ", "IN", "PH", "PK", "SG", "ZA")]
    + [f"es-{region}" for region in ("US", "MX", "CO", "PE", "VE", "PR")]
    + ["fr-CA"]
)
_SESSION_UNITS: Final[dict[object, Units]] = {"metric": "metric", "imperial": "imperial"}
_SESSION_CLOCKS: Final[dict[object, ClockHours]] = {"full": 24, "half": 12, "24": 24, "12": 12, 24: 24, 12: 12}
"""What clients write into the session fields `system_unit` and `time_format`."""


class Home(msgspec.Struct, frozen=True):
    """The table `[home]` of the settings: the place, its time zone, units and clock, and the assistant's names.

    `host.home` holds it as it was configured; `turn.home` as it applies to a turn, where units and clock are never
    None: the session comes first, then the settings, then what is usual for the language.
    """

    place: str = ""
    """The name of the place, as it is said: "Boston"; empty if unknown."""
    latitude: float | None = None
    """In degrees, north is positive."""
    longitude: float | None = None
    """In degrees, east is positive."""
    time_zone: str = ""
    """An IANA zone such as "America/New_York"; empty for the time zone of the machine."""
    units: Units | None = None
    """The units that answers use; None for those that are usual for the language."""
    clock: ClockHours | None = None
    """Whether times are said as "8:05 PM" (12) or "20:05" (24); None for what is usual for the language."""
    names: tuple[str, ...] = ("Hark",)
    """What the assistant is called; it introduces itself by the first."""

    @property
    def name(self) -> str:
        """The first name of the assistant."""
        return self.names[0] if self.names else "Hark"

    @property
    def zone(self) -> tzinfo | None:
        """The time zone, or None for that of the machine. Raises `LookupError` for one that is not known here."""
        return zone_named(self.time_zone) if self.time_zone else None

    def local(self, wall: float) -> datetime:
        """The aware local time at `wall`, in Unix seconds. In an unknown zone it is the time of the machine."""
        try:
            zone = self.zone
        except LookupError:
            zone = None
        return datetime.fromtimestamp(wall).astimezone() if zone is None else datetime.fromtimestamp(wall, zone)

    def for_session(self, session: Session | None, lang: str) -> Home:
        """This home as it applies to a session: its location, `system_unit` and `time_format` win, where it has them;
        what is not set is what is usual for `lang`.
        """
        units, clock = self.units or usual_units(lang), self.clock or usual_clock(lang)
        if session is None:
            return msgspec.structs.replace(self, units=units, clock=clock)
        units = _looked_up(_SESSION_UNITS, session.get("system_unit")) or units
        clock = _looked_up(_SESSION_CLOCKS, session.get("time_format")) or clock
        here = session.location
        if here is None:
            return msgspec.structs.replace(self, units=units, clock=clock)
        zone = here.tz or self.time_zone
        if here.lat is None or here.lon is None or (here.lat, here.lon) == (self.latitude, self.longitude):
            return msgspec.structs.replace(self, units=units, clock=clock, time_zone=zone)
        return Home("", float(here.lat), float(here.lon), zone, units, clock, self.names)


def usual_units(lang: str) -> Units:
    """The units that are usual where a language such as "en-US" is spoken."""
    return "imperial" if _with_region(lang).partition("-")[2] in _IMPERIAL else "metric"


def usual_clock(lang: str) -> ClockHours:
    """Whether a clock of 12 or of 24 hours is usual where a language such as "en-US" is spoken."""
    return 12 if _with_region(lang) in _TWELVE_HOURS else 24


def _with_region(lang: str) -> str:
    language, _, region = lang.partition("-")
    return f"{language.lower()}-{region.upper() or ('US' if language.lower() == 'en' else '')}"


def zone_named(name: str) -> tzinfo:
    """The IANA time zone `name`; raises `LookupError` when it is not known on this machine."""
    from zoneinfo import ZoneInfo  # slow to import, and most conversations have no time zone

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise LookupError(f"the time zone {name!r} is not known here") from None


def _looked_up(table: dict[object, T], value: object) -> T | None:
    # A session is written by clients: a list here has no hash.
    return table.get(value) if isinstance(value, (str, int)) else None
