"""The lines at the head of a script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from hark.app.script.mistakes import Wrong
from hark.app.script.script import NOTHING, Head
from hark.app.script.times import read_moment
from hark.model.lang import is_tag


def with_key(head: Head, key: str, text: str) -> Head:
    """`head` with what one line says; raises `Wrong`."""
    if not text:
        raise Wrong(f"{key}: says nothing", "write a value behind the colon, or take the line out")
    return msgspec.structs.replace(head, **{key: KEYS[key](text)})


def lang_tag(text: str) -> str:
    """A language tag; raises `Wrong`."""
    if not is_tag(text) or len(text.partition("-")[0]) > 3:  # "german" has the form of a tag, and is none
        raise Wrong(f"{text!r} is no language tag", "write one such as en-US or de-DE")
    return text


def _lang_tags(text: str) -> tuple[str, ...]:
    return tuple(map(lang_tag, _listed(text)))


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part for part in map(str.strip, text.split(",")) if part)


def _zone(text: str) -> str:
    # Only here: it is slow to import.
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(text)
    except (KeyError, ValueError, OSError):
        remedy = "write one such as Europe/Lisbon or UTC"
        raise Wrong(f"the time zone {text!r} is not known here", remedy) from None
    return text


def _skills(text: str) -> tuple[str, ...]:
    return () if text == NOTHING else _listed(text)


KEYS: Final[dict[str, Callable[[str], Any]]] = {
    "language": lang_tag,
    "languages": _lang_tags,
    "timezone": _zone,
    "now": read_moment,
    "skills": _skills,
    "settings": str,
}
"""What a head may say, and how each is read."""
