"""The registered template intents and the known values of their slots, indexed by language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from hark.intents.pool import Pool, SessionScope
from hark.intents.registration import Skipped, TemplateIntent, read_entity, read_intent, read_lang, read_name
from hark.intents.template.exact import ExactIndex
from hark.intents.template.profile import Profile, SlotKey
from hark.intents.template.similarity import SimilarityIndex
from hark.intents.template.tagger import Known, Tagger
from hark.spec import topics

SKIP_WORDS: Final = "skip_words"
"""The entity with the words to skip in a skill's sentences."""


class TemplateIndex:
    """The template intents of one language: by their sentences as written (`exact`), and by `similarity` to them."""

    __slots__ = ("exact", "similarity", "skips")

    def __init__(self) -> None:
        self.exact = ExactIndex()
        self.similarity = SimilarityIndex()
        self.skips: dict[str, frozenset[str]] = {}
        """By skill, the phrases that may be said anywhere in its sentences and mean nothing."""

    @property
    def is_empty(self) -> bool:
        """Whether it has neither intents nor values."""
        return self.exact.is_empty and self.similarity.is_empty and not self.skips

    def add(self, intent: TemplateIntent) -> None:
        """Add an intent; the cost does not depend on the others."""
        self.exact.add(intent)
        self.similarity.add(intent)

    def remove(self, intent: TemplateIntent) -> None:
        """Remove an intent."""
        self.exact.remove(intent)
        self.similarity.remove(intent)

    def learn(self, key: SlotKey, values: Iterable[str]) -> None:
        """Replace the known values of a slot; none to forget them."""
        if key[1] == SKIP_WORDS:
            self.skips = {skill_id: phrases for skill_id, phrases in self.skips.items() if skill_id != key[0]}
            phrases = frozenset(values)
            if phrases:
                self.skips[key[0]] = phrases
        else:
            self.similarity.learn(key, values)

    def tagger(self, profile: Profile, known: Known) -> Tagger:
        """The tagger for an intent of this index, cached until the known values change."""
        if profile.tagger is None:
            slots = self.similarity.slot_words(profile)
            profile.tagger = Tagger(profile.intent.samples, known, slots, self._is_common)
        return profile.tagger

    def _is_common(self, word: str) -> bool:
        return self.similarity.count(word) > 1


EntityKey = tuple[str, str, str]
"""Skill, slot and folded language."""


class TemplatePool(Pool[TemplateIntent, TemplateIndex]):
    """The template intents of all sessions, and the known values of their slots."""

    def __init__(self) -> None:
        super().__init__(topics.REGISTER_TEMPLATE, read_intent, TemplateIndex)
        self._apply |= {
            topics.ENTITY_REGISTER: self._register_entity,
            topics.ENTITY_DEREGISTER: self._deregister_entity,
        }

    def _register_entity(self, data: Mapping[str, Any], session_id: str) -> list[Skipped]:
        key, values, skipped = read_entity(data)
        scope = self._scopes.setdefault(session_id, SessionScope())
        if scope.entities.get(key) != values:
            scope.entities[key] = values
            scope.roots.setdefault(key[2], TemplateIndex()).learn(key[:2], values)
        return skipped

    def _deregister_entity(self, data: Mapping[str, Any], session_id: str) -> list[Skipped]:
        name, lang = (read_name(data, "skill_id"), read_name(data, "entity_name")), read_lang(data, required=False)
        self._drop_entities(session_id, lambda key: key[:2] == name and (lang is None or key[2] == lang.lower()))
        return []

    def _deregister_skill(self, data: Mapping[str, Any], session_id: str) -> list[Skipped]:
        skill_id = read_name(data, "skill_id")
        self._drop_entities(session_id, lambda key: key[0] == skill_id)
        return super()._deregister_skill(data, session_id)

    def _drop_entities(self, session_id: str, unwanted: Callable[[EntityKey], bool]) -> None:
        scope = self.scope(session_id)
        for key in [key for key in scope.entities if unwanted(key)]:
            del scope.entities[key]
            scope.roots[key[2]].learn(key[:2], ())
            if scope.roots[key[2]].is_empty:
                del scope.roots[key[2]]
        self._forget_empty(session_id)
