"""The registrations of a running skill: announced, taken back and switched on the bus (INTENT-4)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from hark.model import Session
from hark.skills.definitions import Method, SkillDefinition
from hark.spec import DEFAULT_SESSION_ID, topics


class Emit(Protocol):
    """The signature of `Host.emit`."""

    def __call__(self, topic: str, data: dict[str, Any], *, session: Session | None = None) -> None:
        """Emit a message."""


class _Key(NamedTuple):
    session_id: str
    method: Method
    name: str
    lang: str


class SkillRegistrations:
    """Registers intents and entities. Until the first `announce` nothing is emitted, only recorded."""

    def __init__(
        self, skill_id: str, emit: Emit, capabilities: Iterable[str] = (), fallback: int | None = None
    ) -> None:
        self._skill_id = skill_id
        self._emit = emit
        self._capabilities = list(capabilities)
        self._fallback = fallback
        """The priority of the skill as a fallback, if it is one."""
        self._registered: dict[_Key, SkillDefinition] = {}
        self._disabled: dict[tuple[str, str], None] = {}
        """Session id and intent name."""
        self._announced = False

    def add(self, definitions: Iterable[SkillDefinition], session_id: str = DEFAULT_SESSION_ID) -> None:
        """Register these; one with the same name, language and method is replaced."""
        for definition in definitions:
            self._registered[_Key(session_id, definition.method, definition.name, definition.lang)] = definition
            self._send(definition.topic, session_id, definition.payload(self._skill_id))

    def remove(self, is_entity: bool, name: str, lang: str | None, session_id: str = DEFAULT_SESSION_ID) -> None:
        """Take back an intent (both methods) or an entity, in one language or, with None, in all."""
        for key in list(self._registered):
            same = (key.session_id, key.name, key.method == "entity") == (session_id, name, is_entity)
            if same and lang in (None, key.lang):
                del self._registered[key]
        topic = topics.ENTITY_DEREGISTER if is_entity else topics.INTENT_DEREGISTER
        data = {"entity_name" if is_entity else "intent_name": name, **({} if lang is None else {"lang": lang})}
        self._send(topic, session_id, {"skill_id": self._skill_id, **data})

    def switch(self, intent_name: str, on: bool, session_id: str = DEFAULT_SESSION_ID) -> None:
        """Enable or disable an intent."""
        self._disabled.pop((session_id, intent_name), None)
        if not on:
            self._disabled[session_id, intent_name] = None
        topic = topics.INTENT_ENABLE if on else topics.INTENT_DISABLE
        self._send(topic, session_id, {"skill_id": self._skill_id, "intent_name": intent_name})

    def announce(self) -> None:
        """Emit all registrations, under the same keys as before."""
        self._announced = True
        loaded = {"skill_id": self._skill_id, "capabilities": self._capabilities}
        self._send(topics.SKILL_LOADED, DEFAULT_SESSION_ID, loaded)
        if self._fallback is not None:
            data = {"skill_id": self._skill_id, "priority": self._fallback}
            self._send(topics.FALLBACK_REGISTER, DEFAULT_SESSION_ID, data)
        for key, definition in list(self._registered.items()):
            self._send(definition.topic, key.session_id, definition.payload(self._skill_id))
        # Disabling an intent before it was registered had no effect.
        for session_id, intent_name in list(self._disabled):
            self.switch(intent_name, False, session_id)

    def withdraw(self) -> None:
        """Take everything back, in every session."""
        if self._fallback is not None:
            self._send(topics.FALLBACK_DEREGISTER, DEFAULT_SESSION_ID, {"skill_id": self._skill_id}, always=True)
        for session_id in dict.fromkeys((DEFAULT_SESSION_ID, *(key.session_id for key in self._registered))):
            self._send(topics.SKILL_DEREGISTER, session_id, {"skill_id": self._skill_id}, always=True)

    def _send(self, topic: str, session_id: str, data: dict[str, Any], always: bool = False) -> None:
        if self._announced or always:
            self._emit(topic, data, session=None if session_id == DEFAULT_SESSION_ID else Session(session_id))
