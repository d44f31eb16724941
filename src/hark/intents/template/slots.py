"""Which words fill which slot of a sentence that fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from hark.intents.grammar import Sentence, is_slot

Span = tuple[int, int]
"""First word and the one after the last."""

Score = Callable[[str, Span], int]
"""How well a span suits a slot: 0 is neutral."""

_TRIED: Final = 64
"""Divisions that are compared before the best of them is taken: what people say has a handful."""


class Shape:
    """A sentence taken apart: its slots, and the literal words before, between and after them."""

    __slots__ = ("chunks", "names")

    def __init__(self, sentence: Sentence) -> None:
        self.names = [word[1:-1] for word in sentence if is_slot(word)]
        self.chunks: list[list[str]] = [[]]
        for word in sentence:
            if is_slot(word):
                self.chunks.append([])
            else:
                self.chunks[-1].append(word)


def bind(shape: Shape, words: list[str], score: Score | None = None) -> dict[str, Span]:
    """The words each slot takes in a sentence that fits.

    Those `score` likes best, else as many as possible for the slots to the left: "send {message} to {contact}" reads
    "send go to bed to anna" as a person would.
    """
    names, chunks = shape.names, shape.chunks
    if len(names) == 1:
        return {names[0]: (len(chunks[0]), len(words) - len(chunks[1]))}
    if score is None:
        return dict(zip(names, next(_divisions(chunks, words), ()), strict=False))
    best: dict[str, Span] = {}
    best_points = 0
    for spans in islice(_divisions(chunks, words), _TRIED):
        bound = dict(zip(names, spans, strict=True))
        points = sum([score(name, span) for name, span in bound.items()])
        if not best or points > best_points:
            best, best_points = bound, points
    return best


def _divisions(chunks: list[list[str]], words: list[str]) -> Iterator[list[Span]]:
    """Every way to place the chunks, the inner ones as far right as possible first."""
    head, *inner, tail = chunks
    return _placed(inner, words, len(head), len(words) - len(tail))


def _placed(inner: list[list[str]], words: list[str], start: int, end: int) -> Iterator[list[Span]]:
    if not inner:
        if start < end:
            yield [(start, end)]
        return
    rest, chunk = inner[:-1], inner[-1]
    size = len(chunk)
    # A word at least for the slot behind the chunk, and one for the slot before it.
    for place in range(end - 1 - size, start, -1):
        if words[place] == chunk[0] and words[place : place + size] == chunk:
            fits = False
            for spans in _placed(rest, words, start, place):
                fits = True
                yield [*spans, (place + size, end)]
            if not fits:
                return  # there is less room still further to the left
