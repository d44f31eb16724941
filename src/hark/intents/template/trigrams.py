"""The known words that a word is similar to, by the groups of three letters they share.

"reserve" is similar to "reservation", "lichter" to "licht", and a recognition error to what was meant. The words are
those of sentences and of known values, each once; adding one touches only the entries of its own letters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from math import sqrt
from typing import Final

_SHORT: Final = 3
"""Words no longer than this are similar to no other word."""
_ALIKE: Final = 0.35
"""The least share of common trigrams, from 0 to 1."""
_MOST: Final = 8
"""The most words that are returned."""

SimilarWords = list[tuple[str, float]]
"""Words, and how similar they are, from 0 to 1."""


class TrigramIndex:
    """The words of one language under one session id."""

    # Another thread may read while this one adds: a list only ever grows, or is replaced.
    __slots__ = ("_having", "_uses")

    def __init__(self) -> None:
        self._uses: dict[str, int] = {}
        self._having: dict[str, list[str]] = {}
        """The words with a trigram."""

    @property
    def is_empty(self) -> bool:
        """Whether it has no word."""
        return not self._uses and not self._having

    def add(self, words: Iterable[str]) -> None:
        """Add words, counting those that are there already."""
        uses = self._uses
        for word in words:
            if len(word) > _SHORT:
                times = uses[word] = uses.get(word, 0) + 1
                if times == 1:
                    for trigram in trigrams(word):
                        self._having.setdefault(trigram, []).append(word)

    def remove(self, words: Iterable[str]) -> None:
        """Remove words that were added."""
        for word in words:
            if len(word) > _SHORT:
                self._uses[word] -= 1
                if not self._uses[word]:
                    del self._uses[word]
                    for trigram in trigrams(word):
                        left = [other for other in self._having[trigram] if other != word]
                        if left:
                            self._having[trigram] = left
                        else:
                            del self._having[trigram]

    def of(self, word: str) -> SimilarWords:
        """The words most similar to `word`, itself excluded."""
        size = len(word)
        if size <= _SHORT:
            return []
        having = self._having
        shared = Counter(chain.from_iterable([having.get(trigram, ()) for trigram in trigrams(word)]))
        similar = [
            (other, alike)
            for other, common in shared.items()
            if common > 1 and (alike := common / sqrt(size * len(other))) >= _ALIKE and other != word
        ]
        if len(similar) > _MOST:
            similar.sort(key=lambda one: (-one[1], one[0]))
            del similar[_MOST:]
        return similar


def trigrams(word: str) -> set[str]:
    """The groups of three letters of a word, with a space at either edge: at most as many as it has letters."""
    edged = f" {word} "
    return {edged[at : at + 3] for at in range(len(word))}
