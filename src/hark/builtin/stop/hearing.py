"""Whether an utterance says stop."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

from hark.intents import words
from hark.intents.locale import Locale, MissingResource, Role

Kind = Literal["something", "everything"]

Phrases = frozenset[tuple[str, ...]]

_LONGEST: Final = 12
"""Words from which on an utterance is about something else."""


class _Words(NamedTuple):
    """What people say in one language."""

    stop: Phrases
    everything: Phrases
    around: tuple[tuple[str, ...], ...]
    """Words that change nothing: please, now, hey. The longest first: of "right now" no "right" must be left."""
    edges: frozenset[str]
    """The words with which these begin and end: most utterances have none of them there."""


def heard(utterance: str, lang: str, exact: bool = True) -> Kind | None:
    """What is to be stopped, if anything. `exact`: only where nothing else was said but a please or two."""
    known = _known(lang)
    if known is None:
        return None
    said = words(utterance, lang)
    if not said or len(said) > _LONGEST:
        return None
    core = said
    if said[0] in known.edges or said[-1] in known.edges:
        core = _without(said, known.around)
    for spoken in (tuple(core), tuple(said)):
        if spoken in known.everything:
            return "everything"
        if spoken in known.stop:
            return "something"
    if exact:
        return None
    if _begins_or_ends(core, known.everything):
        return "everything"
    return "something" if _begins_or_ends(core, known.stop) else None


def _begins_or_ends(said: list[str], phrases: Phrases) -> bool:
    return any(tuple(said[: len(one)]) == one or tuple(said[-len(one) :]) == one for one in phrases)


def _without(said: list[str], around: tuple[tuple[str, ...], ...]) -> list[str]:
    """What was said, without the words that change nothing at its beginning and end."""
    trimmed = True
    while trimmed:
        trimmed = False
        for phrase in around:
            size = len(phrase)
            if size < len(said) and tuple(said[:size]) == phrase:
                said, trimmed = said[size:], True
                break
            if size < len(said) and tuple(said[-size:]) == phrase:
                said, trimmed = said[:-size], True
                break
    return said


@lru_cache(maxsize=64)
def _known(lang: str) -> _Words | None:
    try:
        around = sorted(_phrases("around", lang), key=len, reverse=True)
        edges = frozenset(word for phrase in around for word in (phrase[0], phrase[-1]))
        return _Words(_phrases("stop", lang), _phrases("everything", lang), tuple(around), edges)
    except MissingResource:
        return None


def _phrases(name: str, lang: str) -> Phrases:
    samples = _locale().find(Role.VOCABULARY, name, lang).samples(Role.VOCABULARY, name)
    return frozenset(tuple(words(sample, lang)) for sample in samples)


@cache
def _locale() -> Locale:
    return Locale(Path(__file__).parent / "locale")  # when it is first needed, not when this is imported
