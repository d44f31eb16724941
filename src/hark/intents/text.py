"""Text as it is compared: words in one case, without punctuation around them."""

from __future__ import annotations

from typing import Final
from unicodedata import normalize

from hark.intents.contractions import contractions

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
