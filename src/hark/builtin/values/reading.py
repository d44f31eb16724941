"""From words to values."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, tzinfo
from typing import Final

from hark.builtin.values.support import LANGUAGES
from hark.plugins.values import Kind, Value

LONGEST: Final = 100
"""Longer texts are no value: nobody says one in so many letters, and the readers stay quick."""


def read(kind: Kind, text: str, lang: str, now: datetime, zone: tzinfo | None = None) -> Value | None:
    """What `text` says in language `lang`, if all of it is one value of this kind and there is no doubt; else None.

    `now` is an aware datetime. Days and times are those of `zone`, or of this machine when there is none. Never
    raises for any text or language. Number words need the extra `hark[values]`; figures, colours, yes and no do not.
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
    from hark.builtin.values.language import language_of

    language = language_of(code)
    if kind in ("number", "ordinal"):
        from hark.builtin.values.quantities import number, ordinal

        return number(text, language, lang) if kind == "number" else ordinal(text, language)
    if kind == "duration":
        from hark.builtin.values.durations import span

        length = span(text, language, lang)
        return timedelta(seconds=length.seconds) if length is not None else None
    from hark.builtin.values.moments import Here, moment

    # A mere number is an hour only where a time of day is asked for.
    found = moment(text, Here(language, lang, now, zone), bare=kind == "time")
    if kind == "date" and not isinstance(found, date):
        return None
    if kind == "time" and not isinstance(found, (time, datetime)):
        return None
    return found
