"""Which known words a word is like: by the groups of three letters they share.

"reserve" is like "reservation", "lichter" like "licht", and a slip of recognition like what was meant. The words are
those of sentences and of known values, each once however many have it; adding one touches nothing but its own letters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from math import sqrt
from typing import Final

_SHORT: Final = 3
"""Words no longer than this are like nothing but themselves."""
_ALIKE: Final = 0.35
"""The least share of letters in common, from 0 to 1."""
_MOST: Final = 8
"""Words a word is taken to be like."""

SimilarWords = list[tuple[str, float]]
"""Words, and how like them a word is."""


class TrigramIndex:
    """The words of one language under one session id."""

    # Readers may be on another thread than the one that adds: a list only ever grows, or is replaced whole.
    __slots__ = ("_having", "_uses")

    def __init__(self) -> None:
        self._uses: dict[str, int] = {}
        self._having: dict[str, list[str]] = {}
        """By three letters."""

    def add(self, words: Iterable[str]) -> None:
        """Enter words; one that comes again is counted."""
        uses = self._uses
        for word in words:
            if len(word) > _SHORT:
                times = uses[word] = uses.get(word, 0) + 1
                if times == 1:
                    for three in trigrams(word):
                        self._having.setdefault(three, []).append(word)

    def remove(self, words: Iterable[str]) -> None:
        """Take words out again that were entered."""
        for word in words:
            if len(word) > _SHORT:
                self._uses[word] -= 1
                if not self._uses[word]:
                    del self._uses[word]
                    for three in trigrams(word):
                        left = [other for other in self._having[three] if other != word]
                        if left:
                            self._having[three] = left
                        else:
                            del self._having[three]

    def of(self, word: str) -> SimilarWords:
        """The words that `word` is most like, itself aside."""
        size = len(word)
        if size <= _SHORT:
            return []
        having = self._having
        shared = Counter(chain.from_iterable([having.get(three, ()) for three in trigrams(word)]))
        kin = [
            (other, alike)
            for other, common in shared.items()
            if common > 1 and (alike := common / sqrt(size * len(other))) >= _ALIKE and other != word
        ]
        if len(kin) > _MOST:
            kin.sort(key=lambda one: (-one[1], one[0]))
            del kin[_MOST:]
        return kin


def trigrams(word: str) -> set[str]:
    """The groups of three letters, its edges counting as letters: as many as it has letters, or fewer."""
    edged = f" {word} "
    return {edged[at : at + 3] for at in range(len(word))}
