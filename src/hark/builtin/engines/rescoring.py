"""Choosing between what a recogniser heard and registered commands that sound nearly the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from hark.builtin.engines.speech_grammar.graph import WordGraph
from hark.builtin.engines.speech_grammar.nearest import nearest
from hark.builtin.engines.speech_grammar.spoken_forms import read_aloud, rewritten
from hark.intents.text import spoken_words

Judge = Callable[[Sequence[str]], Sequence[float]]
"""How likely the model finds these texts for what it heard, as log probabilities."""

_SHARE: Final = 0.35
"""Of the letters of a command, how many may have been heard as others. Chosen on the development set."""
_FROM: Final = 3
"""How many of the model's readings are looked at."""
_MOST: Final = 6
"""How many commands the model is asked about."""
_LONGEST: Final = 16
"""Words; who talks for longer gives no command that could be mistaken."""


def preferred(graph: WordGraph, heard: Sequence[str], lang: str, margin: float, judge: Judge) -> tuple[str, ...]:
    """What to hand on: the command that was most likely meant, and then the first of what was heard.

    A command with figures in it comes a second time, in the words that skills registered ("30%", "thirty percent").

    The model decides, not the letters: a command that it finds less likely than the first reading by more than
    `margin` was not said. So talk does not become a command that merely looks like it.
    """
    readings = _different(heard, lang)[:_FROM]
    if not readings or len(readings[0][0]) > _LONGEST:
        return (heard[0],)
    if any(list(near.words) == readings[0][0] for near in nearest(graph, readings[0][0], 0.0, 3)):
        return _both(heard[0], lang)  # it is a command as it was heard
    likely: dict[tuple[str, ...], tuple[float, str]] = {}
    for words, text in readings:
        for near in nearest(graph, words, _SHARE, _MOST):
            if near.words not in likely or near.cost < likely[near.words][0]:
                likely[near.words] = near.cost, rewritten(text, near.words, lang)
    texts = [text for _, text in sorted(likely.values())[:_MOST]]
    if not texts:
        return (heard[0],)
    first, *scores = judge((heard[0], *texts))
    best, text = max(zip(scores, texts, strict=True))
    return (*_both(text, lang), heard[0]) if best >= first - margin else (heard[0],)


def _both(text: str, lang: str) -> tuple[str, ...]:
    """A text, and how it is said where that is written in other words."""
    words = read_aloud(text, lang)
    return (text,) if words == spoken_words(text, lang) else (text, " ".join(words))


def _different(heard: Iterable[str], lang: str) -> list[tuple[list[str], str]]:
    """The readings that differ in more than how they are written, with their words."""
    found: dict[tuple[str, ...], str] = {}
    for text in heard:
        found.setdefault(tuple(read_aloud(text, lang)), text)
    return [(list(words), text) for words, text in found.items() if words]
