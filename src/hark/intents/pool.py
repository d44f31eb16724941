"""The registered intents of one method, by session, and which of them are disabled (INTENT-4 §5 to §8, §11)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import count
from typing import Any, Final, Generic, Protocol, TypeVar

from hark.intents.registration import IntentDefinition, Key, Skipped, read_lang, read_name
from hark.intents.text import words
from hark.model import ContextEntry, Session
from hark.model.intent_context import IntentContext, gate_is_open, is_live, private_key
from hark.spec import DEFAULT_SESSION_ID, dispatch_topic, topics

D = TypeVar("D", bound=IntentDefinition)
D_contra = TypeVar("D_contra", bound=IntentDefinition, contravariant=True)
X = TypeVar("X", bound="Index[Any]")


class Index(Protocol[D_contra]):
    """All intents of one language under one session id, arranged for a matcher."""

    @property
    def is_empty(self) -> bool:
        """Whether it has no content."""

    def add(self, intent: D_contra) -> None:
        """Add an intent; the cost does not depend on the others."""

    def remove(self, intent: D_contra) -> None:
        """Remove an intent."""


class SessionScope(Generic[D, X]):
    """What was registered and disabled under one session id."""

    __slots__ = ("disabled", "entities", "intents", "labels", "roots")

    def __init__(self) -> None:
        self.intents: dict[str, dict[str, D]] = {}
        """By label, then by folded language."""
        self.labels: dict[str, dict[str, None]] = {}
        """The labels of each skill."""
        self.roots: dict[str, X] = {}
        """The index of a folded language."""
        self.entities: dict[tuple[str, str, str], frozenset[str]] = {}
        """Values by skill, slot and folded language."""
        self.disabled: frozenset[Key] = frozenset()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to keep."""
        return not self.intents and not self.entities and not self.disabled

    def holds(self, key: Key) -> bool:
        """Whether an intent is registered here in that language."""
        return key[1] in self.intents.get(key[0], ())


NOTHING: Final[SessionScope[Any, Any]] = SessionScope()


Apply = Callable[[Mapping[str, Any], str], list[Skipped]]
"""Applies the payload of one message under a session id."""


class Pool(Generic[D, X]):
    """The registrations of all sessions. Those of `default` are for all sessions; a session may have more of its own.

    `apply` takes the messages of INTENT-4 as they are. A registration can be found as soon as `apply` returned, and
    costs what its own definition costs, however many others there are. A method gives the topic it registers by, the
    reader of its payload and the index of one language.
    """

    def __init__(
        self,
        topic: str,
        read: Callable[[Mapping[str, Any], int], tuple[D, list[Skipped]]],
        index: Callable[[], X],
    ) -> None:
        self._read = read
        self._index = index
        self._order = count()
        self._scopes: dict[str, SessionScope[D, X]] = {DEFAULT_SESSION_ID: SessionScope()}
        self._tags: dict[str, tuple[str, ...]] = {}
        self._apply: dict[str, Apply] = {
            topic: self._register,
            topics.INTENT_DEREGISTER: self._deregister,
            topics.SKILL_DEREGISTER: self._deregister_skill,
            topics.INTENT_ENABLE: self._enable,
            topics.INTENT_DISABLE: self._disable,
        }

    @property
    def consumed(self) -> tuple[str, ...]:
        """The topics `apply` takes."""
        return tuple(self._apply)

    def apply(self, topic: str, data: Mapping[str, Any], session_id: str) -> list[Skipped]:
        """Apply a registration message; returns the items that were left out, raises `Rejected` when it has no
        effect."""
        return self._apply[topic](data, session_id)

    def scope(self, session_id: str) -> SessionScope[D, X]:
        """The registrations of one session id alone."""
        return self._scopes.get(session_id, NOTHING)

    def tags(self, lang: str) -> tuple[str, ...]:
        """The folded languages to search, best first: the same tag, then others of the same primary language."""
        tag = lang.lower()
        known = self._tags.get(tag.partition("-")[0], ())
        if not known or known[0] == tag or tag not in known:
            return known
        return (tag, *(other for other in known if other != tag))

    def intents(self, session_id: str) -> Iterator[D]:
        """All intents a session can reach, disabled or not."""
        for scope_id in dict.fromkeys((DEFAULT_SESSION_ID, session_id)):
            # Copies, because another thread may read while intents are registered.
            for languages in list(self.scope(scope_id).intents.values()):
                yield from list(languages.values())

    def _register(self, data: Mapping[str, Any], session_id: str) -> list[Skipped]:
        old = self._registered(data, session_id)
        if old is not None and old.payload == data:
            return []  # skills announce themselves again whenever an assistant gets ready
        # A replacement keeps its place in the order.
        intent, skipped = self._read(data, next(self._order) if old is None else old.order)
        scope = self._scopes.setdefault(session_id, SessionScope())
        scope.roots.setdefault(intent.tag, self._index()).add(intent)
        intent.settle()
        scope.intents.setdefault(intent.label, {})[intent.tag] = intent
        scope.labels.setdefault(intent.skill_id, {})[intent.label] = None
        if old is not None:
            scope.roots[intent.tag].remove(old)
        primary = intent.tag.partition("-")[0]
        self._tags[primary] = tuple(sorted({*self._tags.get(primary, ()), intent.tag}))
        return skipped

    def _registered(self, data: Mapping[str, Any], session_id: str) -> D | None:
        """What a registration would replace."""
        label, lang = _target(data)
        return self.scope(session_id).intents.get(label, {}).get(lang.lower()) if lang is not None else None

    def _deregister(self, data: Mapping[str, Any], session_id: str) -> list[Skipped]:
        label, lang = _target(data)
        found = self.scope(session_id).intents.get(label, {}).values()
        self._drop(session_id, [intent for intent in found if lang in (None, intent.lang)])
        return []

    def _deregister_skill(self, data: Mapping[str, Any], session_id: str) -> list[Skipped]:
        skill_id = read_name(data, "skill_id")
        scope = self.scope(session_id)
        self._drop(
            session_id, [one for label in scope.labels.get(skill_id, ()) for one in scope.intents[label].values()]
        )
        return []

    def _enable(self, data: Mapping[str, Any], session_id: str) -> list[Skipped]:
        label, lang = _target(data)
        scope = self._scopes.get(session_id)
        if scope is not None:
            scope.disabled -= {key for key in scope.disabled if key[0] == label and _covers(lang, key[1])}
            self._forget_empty(session_id)
        return []

    def _disable(self, data: Mapping[str, Any], session_id: str) -> list[Skipped]:
        label, lang = _target(data)
        known = {
            intent.key
            for scope in self._reach(session_id)
            for intent in scope.intents.get(label, {}).values()
            if lang in (None, intent.lang)
        }
        if known:
            self._scopes.setdefault(session_id, SessionScope()).disabled |= known
        return []

    def _reach(self, session_id: str) -> list[SessionScope[D, X]]:
        """The scopes that disabling under `session_id` acts on: the device's own session acts on all of them."""
        if session_id == DEFAULT_SESSION_ID:
            return list(self._scopes.values())
        return [self.scope(DEFAULT_SESSION_ID), self.scope(session_id)]

    def _drop(self, session_id: str, gone: Collection[D]) -> None:
        scope = self.scope(session_id)
        for intent in gone:
            del scope.intents[intent.label][intent.tag]
            if not scope.intents[intent.label]:
                del scope.intents[intent.label], scope.labels[intent.skill_id][intent.label]
                if not scope.labels[intent.skill_id]:
                    del scope.labels[intent.skill_id]
            scope.roots[intent.tag].remove(intent)
            if scope.roots[intent.tag].is_empty:
                del scope.roots[intent.tag]
        if gone:
            self._forget_switches({intent.key for intent in gone})
        self._forget_empty(session_id)

    def _forget_switches(self, keys: set[Key]) -> None:
        """Forget that intents were disabled when they are gone: one that is registered again later is enabled."""
        for session_id, scope in list(self._scopes.items()):
            for key in scope.disabled & keys:
                if not any(other.holds(key) for other in self._reach(session_id)):
                    scope.disabled -= {key}
            self._forget_empty(session_id)

    def _forget_empty(self, session_id: str) -> None:
        if session_id != DEFAULT_SESSION_ID and session_id in self._scopes and self._scopes[session_id].is_empty:
            del self._scopes[session_id]


def _target(data: Mapping[str, Any]) -> tuple[str, str | None]:
    """The label and the language (None: all) that a message is about."""
    label = dispatch_topic(read_name(data, "skill_id"), read_name(data, "intent_name"))
    return label, read_lang(data, required=False)


def _covers(lang: str | None, tag: str) -> bool:
    return lang is None or lang.lower() == tag


Now = Callable[[], float]
"""Returns the wall time; called only where something can expire."""


AnyScope = SessionScope[Any, Any]


def is_denied(intent: IntentDefinition, session: Session) -> bool:
    """Whether the session denies an intent, or its skill: then it does not take part (ruling R25)."""
    return intent.skill_id in (session.blacklisted_skills or ()) or intent.label in (session.blacklisted_intents or ())


def refusal(intent: IntentDefinition, session: Session, shared: AnyScope, own: AnyScope, now: Now) -> str | None:
    """Why an intent that fits is refused in this session: disabled, denied, or not in this context."""
    if intent.key in shared.disabled or intent.key in own.disabled:
        return f"{intent.label} fits but is disabled"
    if is_denied(intent, session):
        return f"{intent.label} fits but the session denies it"
    if intent.requires_context or intent.excludes_context:
        return barred_by_context(intent, session.intent_context, now)
    return None


def fill(slots: dict[str, str], intent: IntentDefinition, context: IntentContext, now: float) -> None:
    """Fill slots that were not said from the context, the skill's own entries first (CONTEXT-1 §7)."""
    for name in intent.slots:
        if name in slots:
            continue
        for key in (private_key(intent.skill_id, name), name):
            entry: ContextEntry | None = context.get(key)
            if entry is None or entry.value is None or not is_live(entry, now):
                continue
            if not intent.bars(name, " ".join(words(entry.value, intent.lang))):
                slots[name] = entry.value
                break


def unfilled(intent: IntentDefinition, slots: dict[str, str]) -> str | None:
    """Why an intent that fits is refused with these slots: a required one is missing."""
    for name in intent.required_slots:
        if name not in slots:
            return f"{intent.label} fits but its slot {name!r} is not filled"
    return None


def barred_by_context(intent: IntentDefinition, context: IntentContext, now: Now) -> str | None:
    """Why an intent that fits does not count in this context; None if it does."""
    for gate in intent.requires_context:
        if not gate_is_open(context, intent.skill_id, gate, now()):
            return f"{intent.label} fits but needs the context {_gate(gate)!r}"
    for gate in intent.excludes_context:
        if gate_is_open(context, intent.skill_id, gate, now()):
            return f"{intent.label} fits but not in the context {_gate(gate)!r}"
    return None


def _gate(gate: object) -> object:
    return gate.get("key", gate) if isinstance(gate, dict) else gate
