"""An index of what skills registered: pure book-keeping, nothing is judged (INTENT-4 §§3 to 8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal

import msgspec

from hark.model import Frozen
from hark.model.intent_context import IntentContext, gate_is_open
from hark.spec import DEFAULT_SESSION_ID, dispatch_topic

Method = Literal["keyword", "template"]
_RIDERS: Final = ("required_slots", "requires_context", "excludes_context")


class Key(msgspec.Struct, frozen=True, order=True):
    """What tells one registered intent from another (INTENT-4 §3.2); `lang` is folded."""

    session_id: str
    skill_id: str
    intent_name: str
    lang: str
    method: Method

    @property
    def topic(self) -> str:
        """The dispatch topic of the intent."""
        return dispatch_topic(self.skill_id, self.intent_name)


class Definition(msgspec.Struct):
    """One registered intent, as it was broadcast."""

    key: Key
    payload: Frozen
    enabled: bool = True
    """Whether it is switched on where it was registered."""
    off_in: frozenset[str] = frozenset()
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


class Registrations:
    """Every registered intent, by its key and by its dispatch topic."""

    def __init__(self) -> None:
        self._definitions: dict[Key, Definition] = {}
        self._by_topic: dict[str, list[Definition]] = {}
        self._guarded: set[str] = set()
        """Dispatch topics for which some definition sets conditions."""

    def __iter__(self) -> Iterator[Definition]:
        return iter(self._definitions.values())

    def __len__(self) -> int:
        return len(self._definitions)

    def put(self, key: Key, payload: Frozen) -> None:
        """Enter a definition; one with the same key is replaced and stays switched on or off as it was."""
        known = self._definitions.get(key)
        if known is not None:
            known.payload = payload
        else:
            definition = self._definitions[key] = Definition(key, payload)
            self._by_topic.setdefault(key.topic, []).append(definition)
        self._note_guard(key.topic)

    def drop(self, definitions: Iterable[Definition]) -> None:
        """Forget definitions."""
        for definition in list(definitions):
            topic = definition.key.topic
            del self._definitions[definition.key]
            self._by_topic[topic].remove(definition)
            if not self._by_topic[topic]:
                del self._by_topic[topic]
            self._note_guard(topic)

    def of(self, topic: str, session_id: str, lang: str | None = None) -> list[Definition]:
        """The definitions of one intent in one scope: both methods, and all languages unless one is named."""
        return [
            definition
            for definition in self._by_topic.get(topic, ())
            if definition.key.session_id == session_id and (lang is None or definition.key.lang == lang.casefold())
        ]

    def pool(self, session_id: str) -> list[Definition]:
        """What a session can see: the default scope and its own (INTENT-4 §11.2)."""
        scopes = (DEFAULT_SESSION_ID, session_id)
        return [definition for definition in self if definition.key.session_id in scopes]

    def switch(self, topic: str, session_id: str, lang: str | None, enabled: bool) -> None:
        """Switch an intent on or off: for everybody in the default scope, else in the view of one session."""
        for definition in self.of(topic, session_id, lang):
            definition.enabled = enabled
        if session_id != DEFAULT_SESSION_ID:
            for inherited in self.of(topic, DEFAULT_SESSION_ID, lang):
                inherited.off_in = inherited.off_in - {session_id} if enabled else inherited.off_in | {session_id}

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
