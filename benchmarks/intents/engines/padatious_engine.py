"""OVOS's neural matcher."""

from __future__ import annotations

import tempfile
from importlib import import_module
from typing import Any

from intents.corpus import Corpus
from intents.engines import NONE, Answer


class Adapter:
    """A container that trains in the calling thread and keeps its files in a folder that goes when it goes."""

    def __init__(self, free: bool) -> None:
        padatious: Any = import_module("ovos_padatious")
        self._folder = tempfile.TemporaryDirectory(prefix="padatious")
        self._container = padatious.IntentContainer(self._folder.name)

    def train(self, corpus: Corpus) -> None:
        """Add everything, then train."""
        for slot, values in corpus.entities.items():
            self._container.add_entity(slot, values)
        for name, templates in corpus.intents.items():
            self._container.add_intent(name, templates)
        self._container.train(debug=False)

    def add(self, name: str, templates: list[str], spoken: list[str]) -> None:
        """Add one intent and train what changed."""
        self._container.add_intent(name, templates)
        self._container.train(debug=False)

    def match(self, text: str) -> Answer:
        """The intent it is surest of."""
        found = self._container.calc_intent(text)
        if not found.name:
            return NONE
        return Answer(found.name, float(found.conf), {slot: str(value) for slot, value in found.matches.items()})
