"""Writing out what stands in a text as figures and symbols, in the words of its language."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from hark.intents.speech.dates import SpokenDates, SpokenDays, date_parts
from hark.intents.speech.markup import plain_text
from hark.intents.speech.names import SpokenNames, name_parts
from hark.intents.speech.numbers import SpokenNumbers
from hark.intents.speech.quantities import GLYPHS, JoinedNumbers, SpokenQuantities, SpokenSymbols, quantity_parts
from hark.intents.speech.rules import SpokenRule, filled
from hark.intents.speech.words import SPOKEN_LANGUAGES, spoken_words
from hark.model.lang import primary

_LONGEST: Final = 20_000
"""Characters of a text that are worked on; no answer is that long."""
_FIGURES: Final = re.compile(rf"[\d{GLYPHS}]")


def speakable(text: str, lang: str | None, *, markup: bool = True) -> str:
    """`text` as it should be spoken in `lang`, a language tag; of an unknown language only markup is removed.

    With `markup` false, markdown and emoji stay. Never raises for any text.
    """
    if len(text) > _LONGEST:
        return text
    if markup:
        text = plain_text(text)
    tag = (lang or "").lower()
    if primary(tag) not in SPOKEN_LANGUAGES:
        return text
    return _spoken_form(tag).write(text)


@lru_cache(maxsize=32)
def _spoken_form(lang: str) -> _SpokenForm:
    return _SpokenForm(lang)


class _SpokenForm:
    """All rules of one language, in the order in which they are applied."""

    def __init__(self, lang: str) -> None:
        words = spoken_words(lang)
        numbers = SpokenNumbers(words)
        parts = {**name_parts(words), **quantity_parts(words, numbers), **date_parts(words)}
        dates, quantities = SpokenDates(numbers, parts), SpokenQuantities(numbers, parts)
        self._worth = re.compile(
            filled(
                rf"[0-9&+=@%°€£¥$#/.\u2192{GLYPHS}]|[IVX]{{2}}|(?<!\w)(?:[IVX](?:<<ordinals>>)|<<short>>)(?!\w)"
                rf"|[^\W\d_]\.?(?:<<through>>)[^\W\d_]|[^\W\d_] [IV](?!\w)",
                parts,
            )
        )
        self._of_words = (*SpokenDays(dates, parts).rules, *SpokenNames(numbers, parts).rules)
        self._of_figures = (
            *JoinedNumbers(numbers, parts).rules,
            *dates.rules,
            *quantities.rules,
        )
        self._of_symbols = SpokenSymbols(words, parts).rules

    def write(self, text: str) -> str:
        if self._worth.search(text) is None:
            return text
        text = _by(self._of_words, text)
        if _FIGURES.search(text):
            text = _by(self._of_figures, text)
        return _by(self._of_symbols, text)


def _by(rules: tuple[SpokenRule, ...], text: str) -> str:
    for rule in rules:
        text = rule.on(text)
    return text
