"""Hearing what skills register (INTENT-4). Everything is recorded as it was broadcast; nothing is judged or gated."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Final

import msgspec

from hark.bus import Bus
from hark.model import Frozen, Message
from hark.spec import RESERVED_INTENT_NAMES, dispatch_topic, topics
from hark.spec.names import SKILL_ID
from hark.understand.registrations import Definition, Key, Method, Registrations, listed

log = logging.getLogger("hark.manifest")

CAPABILITIES: Final = ("fallback", "common_query", "converse")
"""What a skill may say it can do beside intents."""

_METHODS: Final[dict[str, Method]] = {topics.REGISTER_KEYWORD: "keyword", topics.REGISTER_TEMPLATE: "template"}
_IDENTITY: Final[dict[str, tuple[str, ...]]] = {
    topics.REGISTER_KEYWORD: ("skill_id", "intent_name", "lang"),
    topics.REGISTER_TEMPLATE: ("skill_id", "intent_name", "lang"),
    topics.ENTITY_REGISTER: ("skill_id", "entity_name", "lang"),
    topics.ENTITY_DEREGISTER: ("skill_id", "entity_name"),
    topics.INTENT_DEREGISTER: ("skill_id", "intent_name"),
    topics.INTENT_ENABLE: ("skill_id", "intent_name"),
    topics.INTENT_DISABLE: ("skill_id", "intent_name"),
    topics.SKILL_LOADED: ("skill_id",),
    topics.SKILL_DEREGISTER: ("skill_id",),
}


class Announced(msgspec.Struct, frozen=True):
    """A skill that said it is loaded."""

    session_id: str
    skill_id: str
    capabilities: tuple[str, ...]


class Manifest:
    """Every registration seen on the bus. Presence here means that it was broadcast, not that anything matches it."""

    def __init__(self, bus: Bus, protect_skills: bool = True) -> None:
        self.registrations = Registrations()
        self.skills: dict[tuple[str, str], Announced] = {}
        """Announced skills, by session and id."""
        self.entities: dict[tuple[str, str, str, str], Frozen] = {}
        """Registered entities, by session, skill, name and folded language."""
        self.protect_skills = protect_skills
        """Whether a skill may be deregistered by nobody but itself."""
        self._subscription = bus.on(topics.REGISTRATION, self.observe, name="manifest")

    def __iter__(self) -> Iterator[Definition]:
        return iter(self.registrations)

    def __len__(self) -> int:
        return len(self.registrations)

    def close(self) -> None:
        """Listen no longer."""
        self._subscription.close()

    def observe(self, message: Message) -> None:
        """Take a registration message to account, unless it does not say whom it is about."""
        for field in _IDENTITY[message.type]:
            if not isinstance(message.data.get(field), str) or not message.data[field]:
                log.warning("%s lacks its %s and was dropped: %.200s", message.type, field, dict(message.data))
                return
        source, target = message.context.get(SKILL_ID), message.data["skill_id"]
        if source is not None and source != target:
            log.debug("%s for %s was sent by %s", message.type, target, source)
        if message.type in _METHODS:
            self._register(message, _METHODS[message.type])
        elif message.type in (topics.ENTITY_REGISTER, topics.ENTITY_DEREGISTER):
            self._entity(message)
        elif message.type == topics.SKILL_LOADED:
            self._announce(message)
        elif message.type == topics.SKILL_DEREGISTER:
            self._deregister_skill(message)
        else:
            self._intent(message)

    def _register(self, message: Message, method: Method) -> None:
        data = message.data
        if data["intent_name"] in RESERVED_INTENT_NAMES:
            told = (message.type, data["intent_name"], data["skill_id"], data["lang"])
            log.warning("%s: intent_name %r of %s (%s) is reserved and was not indexed", *told)
            return
        key = Key(message.session_id, data["skill_id"], data["intent_name"], data["lang"].casefold(), method)
        self.registrations.put(key, data)

    def _intent(self, message: Message) -> None:
        """Deregister, enable or disable an intent."""
        data = message.data
        topic = dispatch_topic(data["skill_id"], data["intent_name"])
        lang = data["lang"] if isinstance(data.get("lang"), str) else None
        if message.type == topics.INTENT_DEREGISTER:
            self.registrations.drop(self.registrations.of(topic, message.session_id, lang))
        else:
            self.registrations.switch(topic, message.session_id, lang, message.type == topics.INTENT_ENABLE)

    def _entity(self, message: Message) -> None:
        data = message.data
        named = (message.session_id, data["skill_id"], data["entity_name"])
        lang = data["lang"].casefold() if isinstance(data.get("lang"), str) else None
        if message.type == topics.ENTITY_REGISTER:
            self.entities[*named, str(lang)] = data
            return
        for key in [key for key in self.entities if key[:3] == named and lang in (None, key[3])]:
            del self.entities[key]

    def _announce(self, message: Message) -> None:
        skill_id = message.data["skill_id"]
        known = tuple(name for name in listed(message.data, "capabilities") if name in CAPABILITIES)
        self.skills[message.session_id, skill_id] = Announced(message.session_id, skill_id, known)

    def _deregister_skill(self, message: Message) -> None:
        skill_id, source = message.data["skill_id"], message.context.get(SKILL_ID)
        if self.protect_skills and source is not None and source != skill_id:
            log.warning("%s: %r may not remove the skill %r", message.type, source, skill_id)
            return
        scope = (message.session_id, skill_id)
        self.skills.pop(scope, None)
        self.registrations.drop(d for d in self if (d.key.session_id, d.key.skill_id) == scope)
        for key in [key for key in self.entities if key[:2] == scope]:
            del self.entities[key]
