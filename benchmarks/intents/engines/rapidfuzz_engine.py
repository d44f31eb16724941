"""The plainest baseline: the sample whose `ratio` to the sentence is highest."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from intents.corpus import Corpus
from intents.engines import NONE, Answer


class Adapter:
    """All samples in one list, compared one by one in C."""

    def __init__(self, free: bool) -> None:
        rapidfuzz: Any = import_module("rapidfuzz")
        self._best = rapidfuzz.process.extractOne
        self._ratio = rapidfuzz.fuzz.ratio
        self._samples: list[str] = []
        self._names: list[str] = []

    def train(self, corpus: Corpus) -> None:
        """Keep the sentences."""
        for name, spoken in corpus.spoken.items():
            self.add(name, corpus.intents[name], spoken)

    def add(self, name: str, templates: list[str], spoken: list[str]) -> None:
        """Keep one intent's sentences."""
        self._samples += spoken
        self._names += [name] * len(spoken)

    def match(self, text: str) -> Answer:
        """The most similar sample's intent; its ratio is the score."""
        found = self._best(text, self._samples, scorer=self._ratio)
        if found is None or found[1] <= 0:
            return NONE
        return Answer(self._names[found[2]], found[1] / 100, {})
