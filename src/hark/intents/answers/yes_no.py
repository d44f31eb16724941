"""Yes and no, as people say them."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from hark.intents.locale import Locale, MissingResource, Role
from hark.intents.text import words

Phrases = frozenset[tuple[str, ...]]


class _Words(NamedTuple):
    """What people say in one language."""

    yes: Phrases
    no: Phrases
    polite: Phrases
    """Words that change nothing: please, thanks."""


def yes_or_no(text: str, lang: str) -> bool | None:
    """Whether `text` says yes or no in `lang`; None when it says neither, or both, or something else besides."""
    known = _known(lang)
    said = words(text, lang)
    if known is None or not said:
        return None
    for spoken in (said, [word for word in said if (word,) not in known.polite]):
        is_yes, is_no = _is_made_of(spoken, known.yes), _is_made_of(spoken, known.no)
        if is_yes != is_no:
            return is_yes
    return None


def _is_made_of(said: list[str], phrases: Phrases) -> bool:
    """Whether `said` is nothing but these phrases, one after the other."""
    reached = {0}
    for start in range(len(said)):
        if start in reached:
            reached |= {start + len(one) for one in phrases if tuple(said[start : start + len(one)]) == one}
    return bool(said) and len(said) in reached


@lru_cache(maxsize=64)
def _known(lang: str) -> _Words | None:
    try:
        return _Words(*(_phrases(name, lang) for name in _Words._fields))
    except MissingResource:
        return None


def _phrases(name: str, lang: str) -> Phrases:
    samples = _locale().find(Role.VOCABULARY, name, lang).samples(Role.VOCABULARY, name)
    return frozenset(tuple(words(sample, lang)) for sample in samples)


@cache
def _locale() -> Locale:
    return Locale(Path(__file__).parent / "locale")  # when it is first needed, not when this is imported
