"""What skills have registered: recorded as broadcast, never judged (INTENT-4)."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

import msgspec

from hark.bus import Bus
from hark.model import Frozen, Message
from hark.model.context import IntentContext, gate_is_open
from hark.spec import DEFAULT_SESSION_ID, RESERVED_INTENT_NAMES, dispatch_topic, topics

log = logging.getLogger("hark.manifest")

Method = Literal["keyword", "template"]
_METHODS: Final[dict[str, Method]] = {topics.REGISTER_KEYWORD: "keyword", topics.REGISTER_TEMPLATE: "template"}
_RIDERS: Final = ("required_slots", "requires_context", "excludes_context")


class Key(msgspec.Struct, frozen=True):
    """What tells one registration from another (INTENT-4 §3.2)."""

    session_id: str
    skill_id: str
    intent_name: str
    lang: str
    method: Method


class Definition(msgspec.Struct):
    """One registered intent, as it was broadcast."""

    key: Key
    payload: Frozen
    enabled: bool = True

    def lacks(self, slots: Mapping[str, str], context: IntentContext, now: float) -> str | None:
        """Why this definition does not allow a match with these slots in this context, or None when it does."""
        for slot in _listed(self.payload, "required_slots"):
            if slot not in slots:
                return f"required slot {slot!r} is not filled"
        owner = self.key.skill_id
        for gate in _listed(self.payload, "requires_context"):
            if not gate_is_open(context, owner, gate, now):
                return f"required context {gate!r} is not live"
        for gate in _listed(self.payload, "excludes_context"):
            if gate_is_open(context, owner, gate, now):
                return f"excluded context {gate!r} is live"
        return None


class Manifest:
    """Every registration seen on the bus. Presence here means that it was broadcast, not that anything matches it."""

    def __init__(self, bus: Bus, protect_skills: bool = True) -> None:
        self._protect = protect_skills
        self._definitions: dict[Key, Definition] = {}
        self._by_topic: dict[str, list[Definition]] = {}
        self._guarded: set[str] = set()
        """Dispatch topics for which some definition sets conditions."""
        bus.on(topics.REGISTRATION, self.observe, name="manifest")

    def __iter__(self) -> Iterator[Definition]:
        return iter(self._definitions.values())

    def __len__(self) -> int:
        return len(self._definitions)

    def objection(
        self, skill_id: str, intent_name: str, lang: str, slots: Mapping[str, str], session_id: str,
        context: IntentContext, now: float,
    ) -> str | None:  # fmt: skip
        """Why the registered definitions of an intent forbid this match; None when one of them allows it."""
        topic = dispatch_topic(skill_id, intent_name)
        if topic not in self._guarded:
            return None
        visible = [d for d in self._by_topic[topic] if d.key.session_id in (session_id, DEFAULT_SESSION_ID)]
        in_lang = [d for d in visible if d.key.lang == lang.casefold()] or visible
        objections = [definition.lacks(slots, context, now) for definition in in_lang]
        return None if None in objections or not objections else objections[0]

    def observe(self, message: Message) -> None:
        """Take a registration message to account."""
        data = message.data
        wanted = (
            ("skill_id",) if message.type in (topics.SKILL_DEREGISTER, topics.SKILL_LOADED) else _identity(message.type)
        )
        for field in wanted:
            if not isinstance(data.get(field), str) or not data[field]:
                log.warning("%s lacks its %s and was dropped: %s", message.type, field, dict(data))
                return
        if message.type in _METHODS:
            self._register(message, _METHODS[message.type])
        elif message.type == topics.INTENT_DEREGISTER:
            self._forget(self._selected(message))
        elif message.type == topics.SKILL_DEREGISTER:
            self._deregister_skill(message)
        elif message.type in (topics.INTENT_ENABLE, topics.INTENT_DISABLE):
            for definition in self._selected(message):
                definition.enabled = message.type == topics.INTENT_ENABLE

    def _register(self, message: Message, method: Method) -> None:
        data = message.data
        if data["intent_name"] in RESERVED_INTENT_NAMES:
            log.warning(
                "%s: intent_name %r of %s (%s) is reserved and was not indexed",
                message.type, data["intent_name"], data["skill_id"], data["lang"],
            )  # fmt: skip
            return
        key = Key(message.session_id, data["skill_id"], data["intent_name"], data["lang"].casefold(), method)
        known = self._definitions.get(key)
        if known is not None:
            known.payload = data  # in place: its enabled state outlives the replacement
        else:
            definition = Definition(key, data)
            self._definitions[key] = definition
            self._by_topic.setdefault(dispatch_topic(key.skill_id, key.intent_name), []).append(definition)
        self._note_guard(dispatch_topic(key.skill_id, key.intent_name))

    def _note_guard(self, topic: str) -> None:
        definitions = self._by_topic.get(topic, [])
        if any(_listed(d.payload, rider) for d in definitions for rider in _RIDERS):
            self._guarded.add(topic)
        else:
            self._guarded.discard(topic)

    def _selected(self, message: Message) -> list[Definition]:
        """The definitions a message speaks of: both methods, and all languages unless it names one."""
        data, lang = message.data, message.data.get("lang")
        return [
            d
            for d in self._by_topic.get(dispatch_topic(data["skill_id"], data["intent_name"]), ())
            if d.key.session_id == message.session_id and (lang is None or d.key.lang == str(lang).casefold())
        ]

    def _deregister_skill(self, message: Message) -> None:
        skill_id, source = message.data["skill_id"], message.context.get("skill_id")
        if self._protect and source is not None and source != skill_id:
            log.warning("%s: %r may not remove the skill %r (ruling R12)", message.type, source, skill_id)
            return
        wanted = (message.session_id, skill_id)
        self._forget([d for d in self if (d.key.session_id, d.key.skill_id) == wanted])

    def _forget(self, definitions: list[Definition]) -> None:
        for definition in definitions:
            key = definition.key
            topic = dispatch_topic(key.skill_id, key.intent_name)
            del self._definitions[key]
            self._by_topic[topic].remove(definition)
            if not self._by_topic[topic]:
                del self._by_topic[topic]
            self._note_guard(topic)


def _identity(topic: str) -> tuple[str, ...]:
    if topic in (topics.ENTITY_REGISTER, topics.ENTITY_DEREGISTER):
        return ("skill_id", "entity_name")
    if topic in _METHODS:
        return ("skill_id", "intent_name", "lang")
    return ("skill_id", "intent_name")


def _listed(payload: Frozen, field: str) -> tuple[Any, ...]:
    value = payload.get(field)
    return value if isinstance(value, tuple) else ()
