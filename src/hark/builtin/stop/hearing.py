"""Whether an utterance says stop."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

from hark.intents import words
from hark.intents.locale import Locale, MissingResource, Role

Kind = Literal["something", "everything"]

Phrases = frozenset[tuple[str, ...]]

_LOCALE: Final = Locale(Path(__file__).parent / "locale")
_LONGEST: Final = 12
"""Words from which on an utterance is about something else."""


class _Words(NamedTuple):
    """What people say in one language."""

    stop: Phrases
    everything: Phrases
    around: Phrases
    """Words that change nothing: please, now, hey."""


def heard(utterance: str, lang: str, exact: bool = True) -> Kind | None:
    """What is to be stopped, if anything. `exact`: only where nothing else was said but a please or two."""
    known = _known(lang)
    if known is None:
        return None
    said = words(utterance, lang)
    if not said or len(said) > _LONGEST:
        return None
    core = _without(said, known.around)
    if tuple(core) in known.everything or tuple(said) in known.everything:
        return "everything"
    if tuple(core) in known.stop or tuple(said) in known.stop:
        return "something"
    if exact:
        return None
    if _begins_or_ends(core, known.everything):
        return "everything"
    return "something" if _begins_or_ends(core, known.stop) else None


def _begins_or_ends(said: list[str], phrases: Phrases) -> bool:
    return any(tuple(said[: len(one)]) == one or tuple(said[-len(one) :]) == one for one in phrases)


def _without(said: list[str], around: Phrases) -> list[str]:
    """What was said, without the words that change nothing at its beginning and end."""
    trimmed = True
    while trimmed and said:
        trimmed = False
        for phrase in around:
            size = len(phrase)
            if size < len(said) and tuple(said[:size]) == phrase:
                said, trimmed = said[size:], True
            elif size < len(said) and tuple(said[-size:]) == phrase:
                said, trimmed = said[:-size], True
    return said


@lru_cache(maxsize=64)
def _known(lang: str) -> _Words | None:
    try:
        return _Words(*(_phrases(name, lang) for name in _Words._fields))
    except MissingResource:
        return None


def _phrases(name: str, lang: str) -> Phrases:
    samples = _LOCALE.find(Role.VOCABULARY, name, lang).samples(Role.VOCABULARY, name)
    return frozenset(tuple(words(sample, lang)) for sample in samples)
