"""From written text to the words people say, and back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from hark.builtin.engines.sayable.numbers import spell
from hark.intents.text import EDGES, spoken_words

_FIGURES: Final = re.compile(r"\d{1,6}")
_SIGNS: Final = (("%", " percent "), ("°", " degrees "), ("-", " "))


def read_aloud(text: str, lang: str) -> list[str]:
    """The words of a text as they are said; figures and signs in English, else as they are written."""
    if lang.lower().startswith("en"):
        for sign, word in _SIGNS:
            text = text.replace(sign, word)
        text = _FIGURES.sub(lambda found: f" {spell(int(found[0]))} ", text)
    return spoken_words(text, lang)


def rewritten(text: str, words: Sequence[str], lang: str) -> str:
    """`text` with as little changed as it takes to say `words`: what was right stays written as it is."""
    tokens = text.split()
    spoken = [read_aloud(token, lang) for token in tokens]
    flat = [word for token in spoken for word in token]
    blocks = SequenceMatcher(None, flat, words, autojunk=False).get_matching_blocks()
    same = {old + at: new + at for old, new, size in blocks for at in range(size)}
    written = list(_written(tokens, spoken, same, words))
    if tokens and written:
        if tokens[0][:1].isupper():
            written[0] = written[0][:1].upper() + written[0][1:]
        end = tokens[-1][len(tokens[-1].rstrip(EDGES)) :]
        written[-1] = written[-1].rstrip(EDGES) + end
    return " ".join(written)


def _written(tokens: list[str], spoken: list[list[str]], same: dict[int, int], words: Sequence[str]) -> Iterator[str]:
    done = at = 0
    for token, said in zip(tokens, spoken, strict=True):
        places = [same.get(at + number, -1) for number in range(len(said))]
        at += len(said)
        # A figure or a contraction is several words: it stays if all of them do, in a row.
        if places and -1 not in places and places[-1] - places[0] == len(places) - 1:
            yield from words[done : places[0]]
            yield token
            done = places[-1] + 1
    yield from words[done:]
