"""Text that says the same over and over, as models do where there is nothing to hear."""

from __future__ import annotations

import zlib
from math import sqrt
from typing import Final

_LONGEST: Final = 12
"""Words of a phrase that is looked for in a row."""
_SHORT: Final = 240
"""Bytes. The longer people talk, the more of their words come again: longer text may be squeezed by more."""


def repeats_itself(text: str, squeezed: float) -> bool:
    """Whether it is one phrase again and again, in the main, or can be squeezed by more than `squeezed`."""
    words = [word.strip(".,!?") for word in text.lower().split()]
    if _is_one_phrase(words) or _goes_round(words):
        return True
    raw = text.encode()
    limit = squeezed * sqrt(max(1.0, len(raw) / _SHORT))
    return len(raw) > 0 and len(raw) / len(zlib.compress(raw)) > limit


def _is_one_phrase(words: list[str]) -> bool:
    """ "What time is it? What time is it?" is too short to be squeezed well."""
    return any(
        all(word == words[place % size] for place, word in enumerate(words)) for size in range(2, len(words) // 2 + 1)
    )


def _goes_round(words: list[str]) -> bool:
    """Whether more than half of the words are one phrase, three times or more without anything in between."""
    for size in range(1, min(_LONGEST, len(words) // 3) + 1):
        same = 0
        for place in range(size, len(words)):
            same = same + 1 if words[place] == words[place - size] else 0
            if same >= 2 * size and 2 * (same + size) > max(len(words), 8):
                return True
    return False
