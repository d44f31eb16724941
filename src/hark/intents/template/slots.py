"""Which words fill which slot of a sentence that fits."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final

from hark.intents.patterns import Shape, Span
from hark.intents.patterns.shape import divisions

__all__ = ["Score", "Shape", "Span", "bind"]

Score = Callable[[str, Span], int]
"""How well a span suits a slot: 0 is neutral."""

_TRIED: Final = 64
"""Divisions that are compared before the best of them is taken: what people say has a handful."""


def bind(shape: Shape, words: list[str], score: Score | None = None) -> dict[str, Span]:
    """The words each slot takes in a sentence that fits.

    Those `score` likes best, else as many as possible for the slots to the left: "send {message} to {contact}" reads
    "send go to bed to anna" as a person would.
    """
    names, chunks = shape.names, shape.chunks
    if len(names) == 1:
        return {names[0]: (len(chunks[0]), len(words) - len(chunks[1]))}
    if score is None:
        return dict(zip(names, next(divisions(chunks, words), ()), strict=False))
    best: dict[str, Span] = {}
    best_points = 0
    for spans in islice(divisions(chunks, words), _TRIED):
        bound = dict(zip(names, spans, strict=True))
        points = sum([score(name, span) for name, span in bound.items()])
        if not best or points > best_points:
            best, best_points = bound, points
    return best
