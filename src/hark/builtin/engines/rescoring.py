"""Choosing between what a recogniser heard and registered commands that sound nearly the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from hark.builtin.engines.speech_grammar.graph import WordGraph
from hark.builtin.engines.speech_grammar.nearest import nearest
from hark.builtin.engines.speech_grammar.spoken_forms import read_aloud, rewritten
from hark.intents.text import spoken_words

Score = Callable[[Sequence[str]], Sequence[float]]
"""The log probability of each text, given the sound."""

_SHARE: Final = 0.35
"""The share of a command's letters that may differ from what was heard. Chosen on the development set."""
_FROM: Final = 3
"""How many of the model's candidates are compared."""
_MOST: Final = 6
"""How many commands are scored by the model."""
_LONGEST: Final = 16
"""Words; longer speech is not compared with commands."""


def rescore(graph: WordGraph, heard: Sequence[str], lang: str, margin: float, score: Score) -> tuple[str, ...]:
    """The command that was most likely said, followed by the first candidate of the recogniser; or only the latter.

    A command with figures in it comes a second time, in the words that skills registered ("30%", "thirty percent").

    The model decides, not the letters: a command that it finds less likely than the first candidate by more than
    `margin` was not said. So other speech does not become a command that merely looks like it.
    """
    candidates = _distinct(heard, lang)[:_FROM]
    if not candidates or len(candidates[0][0]) > _LONGEST:
        return (heard[0],)
    if any(list(near.words) == candidates[0][0] for near in nearest(graph, candidates[0][0], 0.0, 3)):
        return _with_spoken_form(heard[0], lang)  # it is a command as it is
    likely: dict[tuple[str, ...], tuple[float, str]] = {}
    for words, text in candidates:
        for near in nearest(graph, words, _SHARE, _MOST):
            if near.words not in likely or near.cost < likely[near.words][0]:
                likely[near.words] = near.cost, rewritten(text, near.words, lang)
    texts = [text for _, text in sorted(likely.values())[:_MOST]]
    if not texts:
        return (heard[0],)
    first, *scores = score((heard[0], *texts))
    best, text = max(zip(scores, texts, strict=True))
    return (*_with_spoken_form(text, lang), heard[0]) if best >= first - margin else (heard[0],)


def _with_spoken_form(text: str, lang: str) -> tuple[str, ...]:
    """A text, and its spoken form where that differs."""
    words = read_aloud(text, lang)
    return (text,) if words == spoken_words(text, lang) else (text, " ".join(words))


def _distinct(heard: Iterable[str], lang: str) -> list[tuple[list[str], str]]:
    """The candidates that differ in more than spelling, with their words."""
    found: dict[tuple[str, ...], str] = {}
    for text in heard:
        found.setdefault(tuple(read_aloud(text, lang)), text)
    return [(list(words), text) for words, text in found.items() if words]
