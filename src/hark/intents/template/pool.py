"""The template intents there are, and the values their slots are known to take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hark.intents.definition import TemplateIntent
from hark.intents.pool import Pool, Scope
from hark.intents.registration import Skipped, read_entity, read_intent, read_lang, read_name
from hark.intents.template.index import TemplateIndex
from hark.spec import topics

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
        scope = self._scopes.setdefault(session_id, Scope())
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
