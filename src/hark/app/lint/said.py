"""The sentences of a file, with the lines they come from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from hark.app.lint.sheets import Sheet
from hark.app.lint.tongues import Spoken
from hark.intents.locale import Line
from hark.intents.text import words

_MOST: Final = 1_000
"""Sentences of one template that are compared with others."""
_PLAIN: Final = re.compile(r"(?:[a-z0-9]+|\{\w+\})(?: (?:[a-z0-9]+|\{\w+\}))*").fullmatch
"""What folding would leave as it is, and most sentences are."""


class Said(NamedTuple):
    """A sentence."""

    line: Line
    text: str
    key: str
    """The sentence as it is compared: folded, one space between words, slots as `{name}`."""

    @property
    def words(self) -> list[str]:
        """Its words; a slot is one."""
        return self.key.split()

    @property
    def has_slot(self) -> bool:
        """Whether some of it is not known before it is said."""
        return "{" in self.text

    def holds(self, phrase: list[str]) -> bool:
        """Whether these words occur in it side by side."""
        words, size = self.words, len(phrase)
        return bool(phrase) and any(words[start : start + size] == phrase for start in range(len(words) - size + 1))


def sayings(sheet: Sheet, spoken: Spoken) -> Iterator[Said]:
    """The sentences of a file that can be made, a bounded number for each line."""
    lang = spoken.tongue.tag
    for entry in sheet.entries:
        samples = entry.template.samples(spoken.vocabularies, limit=None)
        for sample in islice(samples, _MOST):
            yield Said(entry.line, sample, sample if _PLAIN(sample) else _folded(sample, lang))


def _folded(sample: str, lang: str) -> str:
    found: list[str] = []
    for number, part in enumerate(sample.replace("}", "{").split("{")):
        found += [f"{{{part}}}"] if number % 2 else words(part, lang)
    return " ".join(found)
