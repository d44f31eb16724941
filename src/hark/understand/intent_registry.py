"""What skills register (INTENT-4): recorded as it was broadcast; nothing is judged."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Literal

import msgspec

from hark.bus import Bus
from hark.model import Frozen, Message
from hark.model.intent_context import IntentContext, gate_is_open
from hark.spec import DEFAULT_SESSION_ID, RESERVED_INTENT_NAMES, dispatch_topic, topics
from hark.spec.names import SKILL_ID
from hark.understand.turn_state import TurnOptions

Method = Literal["keyword", "template"]
_RIDERS: Final = ("required_slots", "requires_context", "excludes_context")


EntityKey = tuple[str, str, str, str]
"""The session, skill, name and folded language of a registered entity."""


class IntentKey(msgspec.Struct, frozen=True, order=True):
    """The identity of a registered intent (INTENT-4 §3.2); `lang` is folded."""

    session_id: str
    skill_id: str
    intent_name: str
    lang: str
    method: Method

    @property
    def topic(self) -> str:
        """The dispatch topic of the intent."""
        return dispatch_topic(self.skill_id, self.intent_name)


class RegisteredIntent(msgspec.Struct):
    """One registered intent, as it was broadcast."""

    key: IntentKey
    payload: Frozen
    enabled: bool = True
    """Whether it is switched on where it was registered."""
    off_in: set[str] = set()
    """Other sessions in which it is switched off."""

    def enabled_for(self, session_id: str) -> bool:
        """Whether it is switched on for a session that can see it."""
        return self.enabled and session_id not in self.off_in

    def lacks(self, slots: Mapping[str, str], context: IntentContext, now: float) -> str | None:
        """Why this definition does not allow a match with these slots in this context, or None when it does."""
        if self.key.method == "template":  # a keyword registration has no such field: there it means nothing
            for slot in listed(self.payload, "required_slots"):
                if slot not in slots:
                    return f"required slot {slot!r} is not filled"
        owner = self.key.skill_id
        for gate in listed(self.payload, "requires_context"):
            if not gate_is_open(context, owner, gate, now):
                return f"required context {gate!r} is not live"
        for gate in listed(self.payload, "excludes_context"):
            if gate_is_open(context, owner, gate, now):
                return f"excluded context {gate!r} is live"
        return None


class IntentIndex:
    """Every registered intent, by its key and by its dispatch topic."""

    def __init__(self) -> None:
        self._definitions: dict[IntentKey, RegisteredIntent] = {}
        self._by_topic: dict[str, list[RegisteredIntent]] = {}
        self._by_skill: dict[tuple[str, str], dict[IntentKey, RegisteredIntent]] = {}
        """By session and skill."""
        self._guarded: set[str] = set()
        """Dispatch topics for which some definition sets conditions."""

    def __iter__(self) -> Iterator[RegisteredIntent]:
        return iter(self._definitions.values())

    def __len__(self) -> int:
        return len(self._definitions)

    def put(self, key: IntentKey, payload: Frozen) -> None:
        """Enter a definition; one with the same key is replaced and stays switched on or off as it was."""
        known = self._definitions.get(key)
        if known is not None:
            known.payload = payload
        else:
            definition = self._definitions[key] = RegisteredIntent(key, payload)
            self._by_topic.setdefault(key.topic, []).append(definition)
            self._by_skill.setdefault((key.session_id, key.skill_id), {})[key] = definition
        self._note_guard(key.topic)

    def drop(self, definitions: Iterable[RegisteredIntent]) -> None:
        """Forget definitions."""
        for definition in list(definitions):
            topic, scope = definition.key.topic, (definition.key.session_id, definition.key.skill_id)
            del self._definitions[definition.key], self._by_skill[scope][definition.key]
            if not self._by_skill[scope]:
                del self._by_skill[scope]
            self._by_topic[topic].remove(definition)
            if not self._by_topic[topic]:
                del self._by_topic[topic]
            self._note_guard(topic)

    def payload(self, key: IntentKey) -> Frozen | None:
        """The definition of an intent as it was broadcast last; None where there is none."""
        known = self._definitions.get(key)
        return known.payload if known is not None else None

    def of_skill(self, session_id: str, skill_id: str) -> list[RegisteredIntent]:
        """The definitions of one skill in one scope."""
        return list(self._by_skill.get((session_id, skill_id), {}).values())

    def of(self, topic: str, session_id: str, lang: str | None = None) -> list[RegisteredIntent]:
        """The definitions of one intent in one scope: both methods, and all languages unless one is named."""
        return [
            definition
            for definition in self._by_topic.get(topic, ())
            if definition.key.session_id == session_id and (lang is None or definition.key.lang == lang.casefold())
        ]

    def pool(self, session_id: str) -> list[RegisteredIntent]:
        """What a session can see: the default scope and its own (INTENT-4 §11.2)."""
        scopes = (DEFAULT_SESSION_ID, session_id)
        return [definition for definition in self if definition.key.session_id in scopes]

    def switch(self, topic: str, session_id: str, lang: str | None, enabled: bool) -> None:
        """Switch an intent on or off: for all sessions in the default scope, else in the view of one session."""
        for definition in self.of(topic, session_id, lang):
            definition.enabled = enabled
        if session_id != DEFAULT_SESSION_ID:
            for inherited in self.of(topic, DEFAULT_SESSION_ID, lang):
                inherited.off_in.discard(session_id) if enabled else inherited.off_in.add(session_id)

    def objection(
        self, topic: str, lang: str, slots: Mapping[str, str], session_id: str, context: IntentContext, now: float
    ) -> str | None:
        """Why the definitions of an intent forbid a match; None when one of them allows it, or there are none."""
        if topic not in self._guarded:
            return None
        scopes = (DEFAULT_SESSION_ID, session_id)
        visible = [definition for definition in self._by_topic[topic] if definition.key.session_id in scopes]
        in_lang = [definition for definition in visible if definition.key.lang == lang.casefold()] or visible
        objections = [definition.lacks(slots, context, now) for definition in in_lang]
        return None if None in objections or not objections else objections[0]

    def _note_guard(self, topic: str) -> None:
        definitions = self._by_topic.get(topic, ())
        if any(listed(definition.payload, rider) for definition in definitions for rider in _RIDERS):
            self._guarded.add(topic)
        else:
            self._guarded.discard(topic)


def listed(payload: Frozen, field: str) -> tuple[Any, ...]:
    """The list in a field of a payload; what is no list counts as none."""
    value = payload.get(field)
    return value if isinstance(value, tuple) else ()


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


class AnnouncedSkill(msgspec.Struct, frozen=True):
    """A skill that said it is loaded."""

    session_id: str
    skill_id: str
    capabilities: tuple[str, ...]


class IntentRegistry:
    """Every registration seen on the bus. Presence here means that it was broadcast, not that anything matches it."""

    def __init__(self, bus: Bus, options: Callable[[], TurnOptions] = TurnOptions) -> None:
        self.registrations = IntentIndex()
        self.skills: dict[tuple[str, str], AnnouncedSkill] = {}
        """Announced skills, by session and id."""
        self.entities: dict[EntityKey, Frozen] = {}
        self.changes = 0
        """How many registration messages have been seen: what was derived before another one is out of date."""
        self._options = options
        self._subscription = bus.on(topics.REGISTRATION, self.observe, name="manifest")

    def __iter__(self) -> Iterator[RegisteredIntent]:
        return iter(self.registrations)

    def __len__(self) -> int:
        return len(self.registrations)

    def close(self) -> None:
        """Listen no longer."""
        self._subscription.close()

    def observe(self, message: Message) -> None:
        """Take a registration message to account, unless it does not say whom it is about."""
        self.changes += 1
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
            names = (message.type, data["intent_name"], data["skill_id"], data["lang"])
            log.warning("%s: intent_name %r of %s (%s) is reserved and was not indexed", *names)
            return
        key = IntentKey(message.session_id, data["skill_id"], data["intent_name"], data["lang"].casefold(), method)
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
        self.skills[message.session_id, skill_id] = AnnouncedSkill(message.session_id, skill_id, known)

    def _deregister_skill(self, message: Message) -> None:
        skill_id, source = message.data["skill_id"], message.context.get(SKILL_ID)
        if self._options().protect_skills and source is not None and source != skill_id:
            log.warning("%s: %r may not remove the skill %r", message.type, source, skill_id)
            return
        scope = (message.session_id, skill_id)
        self.skills.pop(scope, None)
        self.registrations.drop(self.registrations.of_skill(*scope))
        for key in [key for key in self.entities if key[:2] == scope]:
            del self.entities[key]
