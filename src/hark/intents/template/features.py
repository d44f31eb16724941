"""What a sentence is compared by when it does not fit word for word: its words, their beginnings and their neighbours.

Nothing here knows a language. A word's beginning stands in for its stem: four letters tell "remind" and "reminder" from
"remove" in most languages that inflect. Languages written without spaces have one word to a sentence and therefore
match as written or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hark.intents.grammar import is_slot

STEM: Final = 4
"""Letters of a word's beginning; shorter words and those as long have none."""
STEM_WEIGHT: Final = 0.8
PAIR_WEIGHT: Final = 0.6
"""Two words side by side."""
KIN_WEIGHT: Final = 0.6
"""A word that has letters in common with one of the sentences, less the fewer it has."""
FILLER: Final = 0.75
"""What is left of a word's weight when it is known to say little in that language."""
GAP_WEIGHT: Final = 0.4
"""A word beside a slot, or beside what nobody has as a word."""
START: Final = "<"
END: Final = ">"
GAP: Final = "{}"

_BY_LENGTH: Final = (0.85, 0.85, 0.85, 0.95)


def weight(word: str) -> float:
    """How much a word counts by its looks alone: short words are the common ones in most languages."""
    size = len(word)
    return 1.0 if size > 3 or not word.isascii() else _BY_LENGTH[size]


def is_word(feature: str) -> bool:
    """Whether a feature is a word, neither a beginning nor two side by side."""
    return feature[0] != "^" and " " not in feature


def telling(words: Iterable[str]) -> frozenset[str]:
    """The words that are not short, by their beginnings: what a sentence is about is among them."""
    return frozenset([word[:STEM] for word in words if (len(word) > 3 or not word.isascii()) and not is_slot(word)])


def features(sentence: Iterable[str]) -> dict[str, float]:
    """The features of one sentence of a template, and what each counts. Slots count by their neighbours alone.

    A word is itself, `^` and its beginning is a stem, two words with a space between are neighbours. Words hold neither
    a space nor one of the signs `<`, `>`, `{` at the edge, so the three sorts cannot be taken for each other; a word
    that begins with `^` could, and does no harm.
    """
    found: dict[str, float] = {}
    before = START
    for term in sentence:
        word = GAP if is_slot(term) else term
        if word is not GAP:
            found[word] = weight(word)
            if len(word) > STEM:
                found["^" + word[:STEM]] = STEM_WEIGHT
        found[f"{before} {word}"] = GAP_WEIGHT if GAP in (word, before) else PAIR_WEIGHT
        before = word
    found[f"{before} {END}"] = GAP_WEIGHT if before is GAP else PAIR_WEIGHT
    return found
