"""Home Assistant's matcher."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from intents.corpus import Corpus
from intents.engines import NONE, Answer


class Adapter:
    """Slots are wildcards: the values of the training samples are not all there are, and a list would be closed."""

    def __init__(self, free: bool) -> None:
        self._hassil: Any = import_module("hassil.recognize")
        self._intents_module: Any = import_module("hassil.intents")
        self._intents: Any = None
        self._wildcards: set[str] = set()

    def train(self, corpus: Corpus) -> None:
        """Parse everything; the templates are parsed at the first match, so one is asked for."""
        self._wildcards = set(corpus.entities)
        self._intents = self._intents_module.Intents.from_dict(self._written(corpus.intents))
        self.match("warm up")

    def add(self, name: str, templates: list[str], spoken: list[str]) -> None:
        """Parse one intent and put it beside the others."""
        more = self._intents_module.Intents.from_dict(self._written({name: templates}))
        self._intents.intents.update(more.intents)

    def match(self, text: str) -> Answer:
        """The template with the most literal text."""
        found = self._hassil.recognize_best(text, self._intents)
        if found is None:
            return NONE
        return Answer(found.intent.name, 1.0, {name: str(e.value).strip() for name, e in found.entities.items()})

    def _written(self, intents: dict[str, list[str]]) -> dict[str, Any]:
        return {
            "language": "en",
            "intents": {name: {"data": [{"sentences": templates}]} for name, templates in intents.items()},
            "lists": {name: {"wildcard": True} for name in self._wildcards},
        }
