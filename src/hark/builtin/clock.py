"""Time and date."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Final

from hark.plugins import Session, Turn
from hark.skills import Skill, intent

# Not by strftime, whose names follow the locale of the process instead of the language of the answer.
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


class ClockSkill(Skill):
    """Tells time, date and weekday where the user is, as far as the session says."""

    id = "clock.skill"

    @intent(
        "what time is it [now|right now]",
        "what is the [current] time [now|right now]",
        "tell me [what] [the] time [it is]",
        "(do you know|can you tell me) what time it is",
    )
    def time_here(self, turn: Turn) -> str:
        """The time of day."""
        now, caveat = self._now(turn.session)
        return f"{caveat or 'It is'} {now:%H:%M}."

    @intent(
        "what is (the date|today's date) [today]",
        "what date is it [today]",
        "what is the date of today",
        "tell me (the date|today's date)",
    )
    def date_here(self, turn: Turn) -> str:
        """The date, with its weekday."""
        now, caveat = self._now(turn.session)
        return f"{caveat or 'It is'} {_DAYS[now.weekday()]}, {now.day} {_MONTHS[now.month - 1]} {now.year}."

    @intent("what day is (it|today) [today]", "what day of the week is (it|today)", "which day is (it|today)")
    def day_here(self, turn: Turn) -> str:
        """The weekday."""
        now, caveat = self._now(turn.session)
        return f"{caveat or 'It is'} {_DAYS[now.weekday()]}."

    def _now(self, session: Session) -> tuple[datetime, str]:
        """The time where the user is; else this device's, and words that say so."""
        wall = self.host.clock.wall()
        zone = session.location.tz if session.location is not None else None
        if not zone:
            return datetime.fromtimestamp(wall).astimezone(), ""
        try:
            return datetime.fromtimestamp(wall, _zone(zone)), ""
        except (KeyError, ValueError, OSError):  # an unknown name, or no time zone database on this machine
            self.host.log.warning("the time zone %r is not known here", zone)
            return datetime.fromtimestamp(wall).astimezone(), "I do not know your time zone; on this device it is"


def _zone(name: str) -> tzinfo:
    # Imported when it is first needed: it is slow to import, and most conversations have no location.
    from zoneinfo import ZoneInfo

    return ZoneInfo(name)
