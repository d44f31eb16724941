"""OVOS's fuzzy matcher, with the strategy its pipeline plugin has by default."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from intents.corpus import Corpus
from intents.engines import NONE, Answer


class Adapter:
    """A container of fuzzy templates. Of the values it tags for a slot, the longest is taken."""

    def __init__(self, free: bool) -> None:
        nebulento: Any = import_module("nebulento")
        self._container = nebulento.IntentContainer()

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
        """The template it is surest of."""
        found = self._container.calc_intent(text)
        if not found["name"]:
            return NONE
        slots = {slot: max(values, key=len) for slot, values in found["entities"].items() if values}
        return Answer(str(found["name"]), float(found["conf"]), slots)
