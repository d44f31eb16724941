"""Sentences with slots, found by the words before their first slot or after their last."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

from hark.intents.grammar import Sentence

E = TypeVar("E")

CROWDED: Final = 8
"""More sentences than this do not share an edge: they are better found in another way."""


class Edges(Generic[E]):
    """What is entered under the words a sentence begins with, or under those it ends with.

    By its first word one knows how many words an edge can have, so few are tried however many there are.
    """

    # Readers may be on another thread than the one that adds: what is entered is replaced whole, never changed.
    __slots__ = ("_of", "_sizes", "_uses")

    def __init__(self) -> None:
        self._of: dict[Sentence, tuple[E, ...]] = {}
        self._sizes: dict[str, tuple[int, ...]] = {}
        """The lengths of the edges whose outermost word it is."""
        self._uses: dict[tuple[str, int], int] = {}
        """How many edges have that outermost word and that length."""

    def load(self, edge: Sentence) -> int:
        """How many share an edge."""
        return len(self._of.get(edge, ()))

    def add(self, edge: Sentence, outermost: str, entered: E) -> None:
        """Enter something; `outermost` is the first word of a beginning, the last of an ending."""
        if edge not in self._of:
            use = outermost, len(edge)
            self._uses[use] = self._uses.get(use, 0) + 1
            if self._uses[use] == 1:
                self._sizes[outermost] = (*self._sizes.get(outermost, ()), len(edge))
        self._of[edge] = (*self._of.get(edge, ()), entered)

    def remove(self, edge: Sentence, outermost: str, entered: E) -> None:
        """Take something out again."""
        left = tuple([other for other in self._of[edge] if other is not entered])
        if left:
            self._of[edge] = left
            return
        del self._of[edge]
        use = outermost, len(edge)
        self._uses[use] -= 1
        if not self._uses[use]:
            del self._uses[use]
            sizes = tuple([size for size in self._sizes[outermost] if size != len(edge)])
            if sizes:
                self._sizes[outermost] = sizes
            else:
                del self._sizes[outermost]

    def begins(self, said: Sentence) -> list[E]:
        """What is entered under a beginning of what was said."""
        met: list[E] = []
        for size in self._sizes.get(said[0], ()):
            met += self._of.get(said[:size], ())
        return met

    def ends(self, said: Sentence) -> list[E]:
        """What is entered under an ending of what was said."""
        met: list[E] = []
        for size in self._sizes.get(said[-1], ()):
            met += self._of.get(said[-size:], ())
        return met
