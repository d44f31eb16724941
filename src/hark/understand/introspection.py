"""Answering who asks what is registered (INTENT-4 §10)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from hark.bus import Bus
from hark.model import Frozen, MalformedMessage, Message
from hark.model.lang import canonical
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.understand.intent_registry import IntentRegistry, RegisteredIntent

_ASKED: Final = ("skill_id", "intent_name", "lang", "method", "session_id")
_MOST_KNOWN: Final = 16
_LONGEST_KEY: Final = 1_000


class Introspection:
    """Answers list and describe queries from the manifest of this process.

    Where several processes have the same one, they name a `group`, and one of them answers.
    """

    def __init__(self, bus: Bus, manifest: IntentRegistry, group: str | None = None) -> None:
        self._bus = bus
        self._manifest = manifest
        self._known: dict[str, Frozen] = {}
        """Answers by query, as long as nothing is registered: one of thousands of intents takes a third of a second."""
        self._changes = -1
        self._subscriptions = (
            bus.on(topics.INTENT_LIST, self._list, name="introspection: list", group=group),
            bus.on(topics.INTENT_DESCRIBE, self._describe, name="introspection: describe", group=group),
            bus.on(topics.SKILLS_LIST, self._skills, name="introspection: skills", group=group),
        )

    def close(self) -> None:
        """Answer no longer."""
        for subscription in self._subscriptions:
            subscription.close()

    def _answer(self, query: Message, make: Callable[[Message], dict[str, Any]]) -> None:
        """Answer a query, as before if it was asked before and nothing was registered since."""
        if self._changes != self._manifest.changes:
            self._known.clear()
            self._changes = self._manifest.changes
        asking = query.session
        denied = (asking.session_id, asking.blacklisted_skills, asking.blacklisted_intents) if asking else ()
        key = repr((query.type, [query.data.get(name) for name in _ASKED], denied))
        known = self._known.get(key)
        if known is not None:
            self._bus.emit(query.response(known))
            return
        answer = query.response(make(query))
        if len(key) < _LONGEST_KEY:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = answer.data
        self._bus.emit(answer)

    def _list(self, query: Message) -> None:
        self._answer(query, self._intents)

    def _intents(self, query: Message) -> dict[str, Any]:
        session_id = query.data.get("session_id")
        registrations = self._manifest.registrations
        found = list(registrations) if session_id is None else self._reachable(query, str(session_id))
        shown = [
            {**_identity(definition), "enabled": definition.enabled_for(str(session_id or definition.key.session_id))}
            for definition in sorted(found, key=_in_order)
            if _fits(definition, query, ("skill_id", "lang"))
        ]
        return {"ok": True, "intents": shown}

    def _reachable(self, query: Message, session_id: str) -> list[RegisteredIntent]:
        """The effective pool; what the session denies is left out when it is the session that asks."""
        pool = self._manifest.registrations.pool(session_id)
        asking = query.session
        if asking is None or asking.session_id != session_id:
            return pool
        skills, intents = asking.blacklisted_skills or (), asking.blacklisted_intents or ()
        return [d for d in pool if d.key.skill_id not in skills and d.key.topic not in intents]

    def _describe(self, query: Message) -> None:
        skill_id = query.data.get("skill_id")
        if not isinstance(skill_id, str) or not skill_id:
            self._bus.emit(query.response({"ok": False, "error": "skill_id is missing: whose intents?"}))
            return
        wanted = ("skill_id", "intent_name", "lang", "method", "session_id")
        found = [definition for definition in self._manifest.registrations if _fits(definition, query, wanted)]
        if not found:
            self._bus.emit(query.response({"ok": False, "error": f"nothing of {skill_id} is registered that fits"}))
            return
        definitions = [{**_identity(d), "definition": d.payload} for d in sorted(found, key=_in_order)]
        try:
            self._answer(query, lambda _query: {"ok": True, "definitions": definitions})
        except MalformedMessage as error:  # a payload that is as deep as a Message can be fits into no answer
            problem = f"the registration of {skill_id} does not fit into an answer: {error}"
            self._bus.emit(query.response({"ok": False, "error": problem}))

    def _skills(self, query: Message) -> None:
        self._answer(query, self._announced)

    def _announced(self, query: Message) -> dict[str, Any]:
        session_id = query.data.get("session_id")
        scopes = None if session_id is None else (DEFAULT_SESSION_ID, str(session_id))
        shown = [
            {
                "skill_id": skill.skill_id,
                "session_id": skill.session_id,
                "capabilities": skill.capabilities,
                "intents": sum(_belongs(definition, skill.session_id, skill.skill_id) for definition in self._manifest),
            }
            for skill in self._manifest.skills.values()
            if scopes is None or skill.session_id in scopes
        ]
        return {"ok": True, "skills": shown}


def _identity(definition: RegisteredIntent) -> dict[str, Any]:
    key = definition.key
    return {
        "skill_id": key.skill_id,
        "intent_name": key.intent_name,
        "lang": canonical(key.lang),
        "method": key.method,
        "session_id": key.session_id,
    }


def _fits(definition: RegisteredIntent, query: Message, fields: tuple[str, ...]) -> bool:
    for field in fields:
        wanted = query.data.get(field)
        if wanted is None:
            continue
        have = getattr(definition.key, field)
        if have != (str(wanted).casefold() if field == "lang" else wanted):
            return False
    return True


def _in_order(definition: RegisteredIntent) -> tuple[Any, ...]:
    key = definition.key
    return (key.session_id != DEFAULT_SESSION_ID, key.session_id, key.skill_id, key.intent_name, key.lang, key.method)


def _belongs(definition: RegisteredIntent, session_id: str, skill_id: str) -> bool:
    return definition.key.session_id == session_id and definition.key.skill_id == skill_id
