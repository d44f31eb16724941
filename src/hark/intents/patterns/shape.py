"""A sentence taken apart at its slots, and the ways to divide words among them."""

from __future__ import annotations

from collections.abc import Iterator

from hark.intents.grammar import Sentence, is_slot

Span = tuple[int, int]
"""First word and the one after the last."""


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


def fits(shape: Shape, words: list[str]) -> bool:
    """Whether the words can be said for a sentence; there are as many as it has terms at least."""
    chunks = shape.chunks
    head, tail = chunks[0], chunks[-1]
    if words[: len(head)] != head or (tail and words[-len(tail) :] != tail):
        return False
    return len(chunks) == 2 or next(divisions(chunks, words), None) is not None


def divisions(chunks: list[list[str]], words: list[str]) -> Iterator[list[Span]]:
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
