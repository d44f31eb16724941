"""What settings of several transformers hold: when a rule applies, by device, language, time or wake word; files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, time, tzinfo
from pathlib import Path
from typing import Final

from hark.model.lang import is_tag
from hark.plugins import Clock, Ctx, Host, Session
from hark.spec.names import SOURCE, WAKE_WORD

_HOURS: Final = re.compile(r"([01]?\d|2[0-4])(?::([0-5]\d))?\s*-\s*([01]?\d|2[0-4])(?::([0-5]\d))?")


@dataclass(frozen=True)
class Conditions:
    """Where and when a rule applies. What is left empty applies always; what is set has to be true together."""

    devices: tuple[str, ...] = ()
    """Devices: ids of sessions, sites or sources of Messages."""
    langs: tuple[str, ...] = ()
    """Languages of the utterance, as tags such as "de" or "de-AT"."""
    hours: str = ""
    """Local time such as "20:00-07:00"."""
    wake_words: tuple[str, ...] = ()
    """Phrases of wake words, such as "hey jarvis"."""

    def __post_init__(self) -> None:
        check_tags(self.langs)
        if self.hours and _HOURS.fullmatch(self.hours.strip()) is None:
            raise ValueError(f'hours {self.hours!r} is not a time such as "20:00-07:00"')

    def fits(self, ctx: Ctx, host: Host) -> bool:
        """Whether they are true now, for the turn of `ctx`."""
        if self.devices and not any(name in self.devices for name in device_names(ctx)):
            return False
        if self.langs and not any(_is_in(heard_lang(ctx, host), wanted) for wanted in self.langs):
            return False
        if self.wake_words and _folded(ctx.get(WAKE_WORD)) not in map(_folded, self.wake_words):
            return False
        return not self.hours or _is_between(self.hours, local_time(ctx.session, host.clock))


def check_tags(tags: Iterable[str]) -> None:
    """Raise `ValueError` for what is no language tag; an empty text is none that is set."""
    for tag in tags:
        if tag and not is_tag(tag):
            raise ValueError(f'{tag!r} is not a language tag such as "de" or "pt-BR"')


def heard_lang(ctx: Ctx, host: Host) -> str:
    """The language of what was said: as stated, as detected, that of the session, or that of the assistant."""
    session = ctx.session
    found = (ctx.lang, session.stt_lang, session.detected_lang, session.request_lang, session.lang)
    return next((lang for lang in found if lang), host.lang)


def device_names(ctx: Ctx) -> tuple[str, ...]:
    """The names under which rules may mean the device of this turn."""
    session, source = ctx.session, ctx.get(SOURCE)
    found = (session.session_id, session.site_id, source)
    return tuple(name for name in found if isinstance(name, str))


def local_time(session: Session, clock: Clock) -> time:
    """The time of day at the session's location, else of this machine."""
    zone: tzinfo | None = None
    if session.location is not None and session.location.tz:
        from zoneinfo import ZoneInfo  # slow to import, and most sessions have no location

        try:
            zone = ZoneInfo(session.location.tz)
        except (KeyError, ValueError, OSError):
            zone = None
    return datetime.fromtimestamp(clock.wall(), UTC).astimezone(zone).time()


def _is_between(hours: str, now: time) -> bool:
    found = _HOURS.fullmatch(hours.strip())
    if found is None:
        return False
    begin = 60 * int(found[1]) + int(found[2] or 0)
    end = 60 * int(found[3]) + int(found[4] or 0)
    minute = 60 * now.hour + now.minute
    return begin <= minute < end if begin < end else minute >= begin or minute < end


def _is_in(lang: str, wanted: str) -> bool:
    lang, wanted = lang.lower(), wanted.lower()
    return lang == wanted or lang.startswith(f"{wanted}-")


def _folded(phrase: object) -> str:
    return phrase.replace("_", " ").casefold().strip() if isinstance(phrase, str) else ""


def plugin_path(name: str, host: Host) -> Path:
    """The path that a setting names; a relative one starts at the plugin's data folder."""
    path = Path(name).expanduser()
    return path if path.is_absolute() else host.data_dir / path
