"""Hark's template engine, through its public pieces."""

from __future__ import annotations

import inspect
import time
from typing import Any, Final

from hark.intents import Found, TemplatePool, lookup
from hark.model import Session
from hark.spec import topics
from intents.corpus import Corpus
from intents.engines import NONE, Answer

SKILL: Final = "bench.hark"
LANG: Final = "en-US"
EVERYBODY: Final = "default"


class Adapter:
    """One skill that has all intents. Nothing is configured: the floor is the one that ships, unless `free`."""

    def __init__(self, free: bool) -> None:
        self._pool = TemplatePool()
        self._session = Session()
        can_be_free = "floor" in inspect.signature(lookup).parameters
        self._options: dict[str, Any] = {"floor": 0.0} if free and can_be_free else {}

    def train(self, corpus: Corpus) -> None:
        """Register the entities, then the intents."""
        for slot, values in corpus.entities.items():
            data = {"skill_id": SKILL, "entity_name": slot, "lang": LANG, "samples": values}
            self._pool.apply(topics.ENTITY_REGISTER, data, EVERYBODY)
        for name, templates in corpus.intents.items():
            self.add(name, templates, [])

    def add(self, name: str, templates: list[str], spoken: list[str]) -> None:
        """Register one intent."""
        data = {"skill_id": SKILL, "intent_name": name, "lang": LANG, "samples": templates}
        skipped = self._pool.apply(topics.REGISTER_TEMPLATE, data, EVERYBODY)
        if skipped:
            raise ValueError(f"{name}: {skipped[0]}")

    def match(self, text: str) -> Answer:
        """Look the sentence up."""
        found = lookup(self._pool, text, LANG, self._session, time.time, **self._options)
        if not isinstance(found, Found):
            return NONE
        return Answer(found.intent.intent_name, getattr(found, "score", 1.0), found.slots)
