"""Whether an utterance is a question at all (COMMON-QUERY-1 §4). When in doubt, it is."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path

from hark.intents import words
from hark.intents.locale import Locale, MissingResource, Role


def is_question(text: str, lang: str) -> bool:
    """Whether `text` may ask for a fact: it begins like a question, or like a request to be told something."""
    said = words(text, lang)
    if not said:
        return False
    openers = _openers(lang)
    return openers is None or text.rstrip().endswith("?") or said[0] in openers or said[0].split("'")[0] in openers


@lru_cache(maxsize=64)
def _openers(lang: str) -> frozenset[str] | None:
    """The words a question begins with; None in a language nobody wrote them down for."""
    try:
        language = _locale().find(Role.VOCABULARY, "opener", lang)
    except MissingResource:
        return None
    return frozenset(language.samples(Role.VOCABULARY, "opener"))


@cache
def _locale() -> Locale:
    return Locale(Path(__file__).parent / "locale")  # when it is first needed, not when this is imported
