"""Text in the one form the readers of values compare: lower case, single spaces, words and figures apart."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from unicodedata import category, normalize

# Signs between words go, and so do the marks that the readers make themselves (`#`, `@`, `*`). Those inside of figures
# ("19:30", "2,5", "24.12.") stay.
_APART: Final = re.compile(r"[’'ʼ`´]|(?<=[^\W\d])[-‐‑](?=[^\W\d])|[,;](?=\s|$)|[!?¡¿\"“”„«»()#@*]|\.{2,}")  # noqa: RUF001
_SPLIT: Final = re.compile(r"(?<=\d)(?=[^\W\d_ºª])|(?<=[^\W\d_])(?=\d)")


def folded(text: str) -> str:
    """`text` in lower case without punctuation; a full stop at the end stays only behind a figure. Accents stay."""
    text = normalize("NFC", text).replace("\u2212", "-").lower()
    text = " ".join(_APART.sub(" ", text).split())
    return text if text[-2:-1].isdigit() else text.rstrip(". ")


def spaced(text: str) -> str:
    """`text` with figures and letters apart: "7pm" becomes "7 pm"."""
    return _SPLIT.sub(" ", text)


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """`text` without accents."""
    if text.isascii():
        return text
    bare = "".join(letter for letter in normalize("NFD", text.replace("ß", "ss")) if category(letter) != "Mn")
    return normalize("NFC", bare)


@lru_cache(maxsize=4096)
def key(phrase: str) -> str:
    """The form in which whole phrases are looked up."""
    return plain(folded(phrase))
