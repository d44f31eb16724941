"""Whether what a recogniser hears is what was said."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Final

from hark.app.script.plain import plain
from hark.model import Message
from hark.spec import topics

_ALIKE: Final = 0.7
"""How alike two spellings of one word are."""
_MOST: Final = 0.6
"""The share of words that has to be found."""


def mostly_in(text: str, heard: str) -> bool:
    """Whether most words of `text` are in what was `heard`. Numbers, which are heard as words, do not count."""
    words = [word for word in plain(text).replace("-", " ").split() if word.isalpha()]
    found = plain(heard).replace("-", " ").split()
    if not words:
        return bool(found)
    return sum(any(_alike(word, one) for one in found) for word in words) >= _MOST * len(words)


def misheard(said: str, outcome: Message | None) -> str:
    """What was understood, where that is not what was `said`."""
    if outcome is None or outcome.type == topics.STT_FAILED:
        return f'nothing was understood of "{said}"'
    heard = str((outcome.data.get("utterances") or ("",))[0])
    return f'"{said}" was understood as "{heard}"' if plain(heard) != plain(said) else ""


def _alike(word: str, other: str) -> bool:
    return word == other or SequenceMatcher(None, word, other, autojunk=False).ratio() >= _ALIKE
