"""The template intents there are, and the values their slots are known to take, indexed by language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hark.intents.pool import Pool, SessionScope
from hark.intents.registration import Skipped, TemplateIntent, read_entity, read_intent, read_lang, read_name
from hark.intents.template.exact import ExactIndex
from hark.intents.template.profile import Profile, SlotKey
from hark.intents.template.similarity import SimilarityIndex
from hark.intents.template.tagger import Known, Tagger
from hark.spec import topics


class TemplateIndex:
    """Finds sentences as written (`exact`) and sentences like the written ones (`likeness`)."""

    __slots__ = ("exact", "likeness")

    def __init__(self) -> None:
        self.exact = ExactIndex()
        self.likeness = SimilarityIndex()

    @property
    def is_bare(self) -> bool:
        """Whether there is nothing in it."""
        return self.exact.is_bare and self.likeness.is_bare

    def add(self, intent: TemplateIntent) -> None:
        """Enter an intent; what it costs does not depend on the others."""
        self.exact.add(intent)
        self.likeness.add(intent)

    def remove(self, intent: TemplateIntent) -> None:
        """Take an intent out again."""
        self.exact.remove(intent)
        self.likeness.remove(intent)

    def learn(self, key: SlotKey, values: Iterable[str]) -> None:
        """Take these values for the known ones of a slot; none to forget them."""
        self.likeness.learn(key, values)

    def tagger(self, profile: Profile, known: Known) -> Tagger:
        """What finds the slots of an intent of this index; kept until a registration changes what it knows."""
        if profile.tagger is None:
            slots = self.likeness.slot_words(profile)
            profile.tagger = Tagger(profile.intent.samples, known, slots, self._is_common)
        return profile.tagger

    def _is_common(self, word: str) -> bool:
        return self.likeness.count(word) > 1


EntityKey = tuple[str, str, str]
"""Skill, slot and folded language."""


class TemplatePool(Pool[TemplateIntent, TemplateIndex]):
    """The template intents of all sessions, and the values their slots are known to take."""

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
            if scope.roots[key[2]].is_bare:
                del scope.roots[key[2]]
        self._forget_bare(session_id)
