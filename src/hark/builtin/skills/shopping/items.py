"""What people want to buy, out of what they say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def as_said(text: str, utterance: str) -> str:
    """`text`, which a slot holds, in the user's own capitals and commas where they can be found."""
    found = re.search(r"\W+".join(map(re.escape, text.split())), utterance, re.IGNORECASE)
    return found[0] if found is not None else text


def items_of(text: str, joining: Sequence[str], leading: Sequence[str]) -> list[str]:
    """The things `text` names, each once.

    They stand between commas and the words in `joining` ("and"); those in `leading` ("some", "the") are dropped.
    """
    words = "|".join(re.escape(word) for word in sorted(joining, key=len, reverse=True))
    parts = re.split(rf"[,;]|\b(?:{words})\b" if words else "[,;]", text, flags=re.IGNORECASE)
    named = (_bare(part, leading) for part in parts)
    return list({item.casefold(): item for item in named if item}.values())


def _bare(text: str, leading: Sequence[str]) -> str:
    words = text.strip(" \t\n.!?").split()
    while len(words) > 1 and words[0].casefold() in leading:
        words = words[1:]
    bare = " ".join(words)
    for prefix in leading:  # "de l'eau"
        if prefix.endswith("'") and bare.casefold().startswith(prefix) and len(bare) > len(prefix):
            bare = bare[len(prefix) :]
    return bare


def without(items: Sequence[str], gone: Iterable[str]) -> tuple[list[str], list[str], list[str]]:
    """What is left of `items`, what was taken off as it stood there, and what was not there at all."""
    left, taken, missing = list(items), [], []
    for wanted in gone:
        found = next((item for item in left if item.casefold() == wanted.casefold()), None)
        if found is None:
            missing.append(wanted)
        else:
            left.remove(found)
            taken.append(found)
    return left, taken, missing
