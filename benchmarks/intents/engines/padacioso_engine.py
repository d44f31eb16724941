"""OVOS's matcher of patterns, as its pipeline plugin makes it: without fuzzy matching."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from intents.corpus import Corpus
from intents.engines import NONE, Answer


class Adapter:
    """A container of simple patterns."""

    def __init__(self, free: bool) -> None:
        padacioso: Any = import_module("padacioso")
        self._container = padacioso.IntentContainer(fuzz=False)

    def train(self, corpus: Corpus) -> None:
        """Add everything."""
        for slot, values in corpus.entities.items():
            self._container.add_entity(slot, values)
        for name, templates in corpus.intents.items():
            self._container.add_intent(name, templates)

    def add(self, name: str, templates: list[str], spoken: list[str]) -> None:
        """Add one intent."""
        self._container.add_intent(name, templates)

    def match(self, text: str) -> Answer:
        """The pattern it is surest of."""
        found = self._container.calc_intent(text)
        if not found["name"]:
            return NONE
        return Answer(found["name"], float(found["conf"]), {slot: str(v) for slot, v in found["entities"].items()})
