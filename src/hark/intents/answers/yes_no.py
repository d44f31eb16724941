"""Yes and no, as people say them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from hark.intents.locale import Locale, MissingResource
from hark.intents.text import words

_MEANINGS: Final[Mapping[str, bool | None]] = {"polite": None, "yes": True, "no": False}
"""The meaning of the phrases of each vocabulary; politeness has none."""
_LONGEST: Final = 12
"""An utterance with more words is more than an answer."""


def yes_or_no(text: str, lang: str) -> bool | None:
    """Whether `text` says yes or no in `lang`; None when it says neither, or both, or something else besides."""
    said = words(text, lang)
    meanings = _known(lang)
    if not meanings or not said or len(said) > _LONGEST:
        return None
    meant: set[bool] = set()
    start = 0
    while start < len(said):
        # The longest phrase first: "of course not" begins with "of course".
        for end in range(len(said), start, -1):
            phrase = tuple(said[start:end])
            if phrase in meanings:
                break
        else:
            return None
        meaning = meanings[phrase]
        if meaning is not None:
            meant.add(meaning)
        start = end
    return meant.pop() if len(meant) == 1 else None


@lru_cache(maxsize=64)
def _known(lang: str) -> Mapping[tuple[str, ...], bool | None]:
    """The meaning of each phrase of a language; empty for a language without vocabularies."""
    known: dict[tuple[str, ...], bool | None] = {}
    try:
        for name, meaning in _MEANINGS.items():
            known.update(dict.fromkeys(_locale().phrases(name, lang), meaning))
    except MissingResource:
        return {}
    return known


@cache
def _locale() -> Locale:
    return Locale(Path(__file__).parent / "locale")  # when it is first needed, not when this is imported
