"""The one normaliser of text: words in one case, contractions written out, no punctuation around them.

Everything that compares, converts, checks or reads text builds on these functions.
"""

# ruff: noqa: RUF001 - the signs that look like others are meant
from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final
from unicodedata import category, normalize

from hark.model.text_cache import cached_by_text

EDGES: Final = ".,;:!?\"'`()[]{}<>|" + "…¿¡“”„‟‘‚«»‹›–—·、。，！？；：「」『』（）【】؟،؛।"
"""What is stripped from both ends of a word. Signs that carry meaning (`-5`, `20%`, `c#`) are not among it."""

UNSPACED: Final = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
"""The characters of Thai, Lao, Japanese and Chinese, which are written without spaces, for a class of a pattern."""

_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_FOLDER: Final = Path(__file__).parent / "contractions"

_APOSTROPHES: Final = str.maketrans("’ʼ＇", "'''")
_QUOTES: Final = str.maketrans({"‘": "'", "’": "'", "‚": "'", "ʼ": "'", "“": '"', "”": '"', "„": '"', "…": "..."})


@lru_cache(maxsize=64)
def short_forms(lang: str) -> Mapping[str, str]:
    """Every short form of a language and what it stands for, in lower case, from its file in `contractions`.

    Empty when the language has no file; its region does not matter.
    """
    primary = lang.partition("-")[0].lower()
    file = _FOLDER / f"{primary}.txt"
    if not (primary.isascii() and primary.isalpha() and file.is_file()):
        return {}
    lines = (line.partition("=") for line in file.read_text("utf-8").splitlines() if line and line[0] != "#")
    return {short.strip(): long.strip() for short, _, long in lines}


@lru_cache(maxsize=64)
def contractions(lang: str) -> Mapping[str, str]:
    """The short forms with an apostrophe inside: they are the same as their long forms wherever text is compared."""
    return {short: long for short, long in short_forms(lang).items() if "'" in short[1:-1]}


def is_unspaced(character: str) -> bool:
    """Whether a character is of a script without spaces between words."""
    return not character.isascii() and _UNSPACED.match(character) is not None


def straight(text: str) -> str:
    """`text` with one form for every letter and one apostrophe."""
    return text if text.isascii() else normalize("NFC", text).translate(_APOSTROPHES)


def straight_quotes(text: str) -> str:
    """`text` with quotes, apostrophes and ellipses as they are typed on a keyboard."""
    return text if text.isascii() else text.translate(_QUOTES)


@cached_by_text(4096)
def without_accents(text: str) -> str:
    """`text` without accents and other marks; `ß` is `ss`."""
    if text.isascii():
        return text
    bare = "".join(letter for letter in normalize("NFD", text.replace("ß", "ss")) if category(letter) != "Mn")
    return normalize("NFC", bare)


_ELIDED: Final = {
    "fr": frozenset({"l", "d"}),
    "it": frozenset({"l", "un", "d", "dell", "all", "dall", "nell", "sull"}),
}
"""What articles and prepositions are cut down to before a vowel, by language."""


def without_elision(text: str, lang: str) -> str:
    """`text` without the article or preposition that is joined to it by an apostrophe; empty if there is none."""
    before, _, rest = text.partition("'")
    return rest if before in _ELIDED.get(lang.partition("-")[0].lower(), ()) else ""


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
