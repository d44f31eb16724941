"""What there is to read with: the languages with tables, and the library for number words."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

LANGUAGES: Final = ("de", "en", "es", "fr", "it", "pt")
"""The languages with tables, by primary subtag."""


def available() -> bool:
    """Whether the library for number words is installed."""
    return library() is not None


@cache
def library() -> Any:
    """The library for number words, or None when it is not installed."""
    try:
        import text_to_num  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError:
        return None
    return text_to_num
