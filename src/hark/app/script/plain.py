"""Text without what does not count when it is compared."""

from __future__ import annotations

import re
from typing import Final
from unicodedata import normalize

LOOSE: Final = frozenset(".,;:!?…\"'«»„“‚‘¿¡()[]{}<>|*\\")  # noqa: RUF001 - each of them is meant
"""Punctuation that counts only inside a word or number, as in 17:30 or don't."""
DASHES: Final = frozenset("-–—")  # noqa: RUF001
"""What counts before a word as well, as in -5."""
_QUOTES: Final = str.maketrans({"’": "'", "”": '"'})  # noqa: RUF001
_MARKS, _DASHES = (re.escape("".join(sorted(signs))) for signs in (LOOSE, DASHES))
_DROPPED: Final = re.compile(rf"(?<!\w)[{_MARKS}]|[{_MARKS}](?!\w)|[{_DASHES}](?!\w)")


def plain(text: str) -> str:
    """`text` in lower case, with single spaces, without the punctuation around its words."""
    return " ".join(_DROPPED.sub(" ", same_quotes(text).casefold()).split())


def same_quotes(text: str) -> str:
    """`text` in one Unicode form, with straight apostrophes."""
    return normalize("NFC", text).translate(_QUOTES)
