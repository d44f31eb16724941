"""Text as it is compared: words in one case, with contractions written out and without punctuation around them.

The one normaliser of text: what matches, converts, lints or reads values builds on these functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from unicodedata import normalize

_IS = ("what", "who", "where", "when", "how", "why", "that", "there", "here", "it", "he", "she")
_ARE = ("we", "you", "they", "what", "who", "where", "how")
_WILL = ("i", "you", "he", "she", "it", "we", "they", "that", "there", "what", "who")
_HAVE = ("i", "you", "we", "they", "could", "should", "would", "might", "must")
_NOT = (
    *("is", "are", "was", "were", "do", "does", "did", "have", "has", "had"),
    *("could", "should", "would", "might", "must", "need"),
)

# `'s` and `'d` can stand for two things; the table takes the one questions and commands use. What is not listed, a
# possessive above all, is left alone.
CONTRACTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        **{f"{word}'s": f"{word} is" for word in _IS},
        **{f"{word}'re": f"{word} are" for word in _ARE},
        **{f"{word}'ll": f"{word} will" for word in _WILL},
        **{f"{word}'ve": f"{word} have" for word in _HAVE},
        **{f"{word}n't": f"{word} not" for word in _NOT},
        "i'm": "i am",
        "i'd": "i would",
        "you'd": "you would",
        "can't": "cannot",
        "won't": "will not",
        "let's": "let us",
    }
}
"""Short form to long form, in lower case."""

NO_CONTRACTIONS: Final[Mapping[str, str]] = {}


def contractions(lang: str) -> Mapping[str, str]:
    """The contractions of a language, whatever its region; empty when nobody wrote any down."""
    return CONTRACTIONS.get(lang.partition("-")[0].lower(), NO_CONTRACTIONS)


# ruff: noqa: RUF001 - the signs that look like others are meant
EDGES: Final = ".,;:!?\"'`()[]{}<>|" + "…¿¡“”„‟‘‚«»‹›–—·、。，！？；：「」『』（）【】؟،؛।"
"""What is stripped from both ends of a word. Signs that carry meaning (`-5`, `20%`, `c#`) are not among it."""

_APOSTROPHES: Final = str.maketrans("’ʼ＇", "'''")


def straight(text: str) -> str:
    """`text` with one form for every letter and one apostrophe."""
    return text if text.isascii() else normalize("NFC", text).translate(_APOSTROPHES)


def words(text: str, lang: str = "") -> list[str]:
    """The words of `text`, folded for comparison; contractions of `lang` are written out."""
    return _split(straight(text).casefold(), lang)


def spoken_words(text: str, lang: str = "") -> list[str]:
    """As `words`, word for word, in the lower case people write: `straße` stays what it is."""
    return _split(straight(text).lower(), lang)


def _split(text: str, lang: str) -> list[str]:
    found = [word.strip(EDGES) for word in text.split()]
    if "" in found:
        found = [word for word in found if word]
    if "'" in text and (table := contractions(lang)):
        found = " ".join([table.get(word, word) for word in found]).split()
    return found
