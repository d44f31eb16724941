"""The one normaliser of text: words in one case, contractions written out, no punctuation around them.

Everything that compares, converts, checks or reads text builds on these functions.
"""

# ruff: noqa: RUF001 - the signs that look like others are meant
from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final
from unicodedata import category, normalize

EDGES: Final = ".,;:!?\"'`()[]{}<>|" + "…¿¡“”„‟‘‚«»‹›–—·、。，！？；：「」『』（）【】؟،؛।"
"""What is stripped from both ends of a word. Signs that carry meaning (`-5`, `20%`, `c#`) are not among it."""

_APOSTROPHES: Final = str.maketrans("’ʼ＇", "'''")
_QUOTES: Final = str.maketrans({"‘": "'", "’": "'", "‚": "'", "ʼ": "'", "“": '"', "”": '"', "„": '"', "…": "..."})

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

_NO_CONTRACTIONS: Final[Mapping[str, str]] = {}


def contractions(lang: str) -> Mapping[str, str]:
    """The contractions of a language, whatever its region; empty when there is no table for it."""
    return CONTRACTIONS.get(lang.partition("-")[0].lower(), _NO_CONTRACTIONS)


def straight(text: str) -> str:
    """`text` with one form for every letter and one apostrophe."""
    return text if text.isascii() else normalize("NFC", text).translate(_APOSTROPHES)


def straight_quotes(text: str) -> str:
    """`text` with quotes, apostrophes and ellipses as they are typed on a keyboard."""
    return text if text.isascii() else text.translate(_QUOTES)


@lru_cache(maxsize=4096)
def without_accents(text: str) -> str:
    """`text` without accents and other marks; `ß` is `ss`."""
    if text.isascii():
        return text
    bare = "".join(letter for letter in normalize("NFD", text.replace("ß", "ss")) if category(letter) != "Mn")
    return normalize("NFC", bare)


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
