"""How sessions are merged: at intake, after a claim, when a handler is done, and between concurrent turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hark.model import converse, intent_context
from hark.model.frozen import EMPTY, Sealed
from hark.model.intent_context import IntentContext
from hark.model.session import Session, wire_form
from hark.model.session_codec import WIRE_TYPES, Handler, Handlers, ResponseMode
from hark.spec.names import (
    DENYLISTS,
    HANDLER_WRITES,
    PUSHING_RESERVED_NAMES,
    REIMPOSED,
    RESERVED_INTENT_NAMES,
    SESSION_ID,
)

_SIGNALS: Final = ("stt_lang", "request_lang", "detected_lang")
_OWN_ENTRIES: Final = ("active_handlers", "converse_handlers")

FOR_ONE_UTTERANCE: Final = ("pipeline", *REIMPOSED)
"""Routing and policy: on the default session they hold for the utterance that brings them (ruling R16)."""
_FOR_ONE_UTTERANCE: Final = frozenset(FOR_ONE_UTTERANCE)


def lasting(session: Session) -> Session:
    """`session` without what holds for one utterance only: what may be kept of the default session."""
    return session if _FOR_ONE_UTTERANCE.isdisjoint(session) else session.without(*FOR_ONE_UTTERANCE)


def joined(store: Session, working: Session) -> Session:
    """The default session as it is kept, with what holds in `working` for its utterance only."""
    if _FOR_ONE_UTTERANCE.isdisjoint(working):
        return store
    return store.taking(working, FOR_ONE_UTTERANCE)


_NOT_SENT: Final = frozenset({SESSION_ID, "intent_context", *FOR_ONE_UTTERANCE, *_SIGNALS})
"""Fields of a `SessionDifference` that are sent in another way, or not at all."""

LARGEST_SESSION: Final = 65_536
"""Bytes that a session may have on the wire: it is in every Message of its conversation."""


def size_of(session: Session) -> int:
    """The bytes that a session has on the wire."""
    return len(msgspec.json.encode(wire_form(session)))


def known_fields(session: Session) -> Session:
    """`session` without the fields that no specification defines."""
    return session.without(*(name for name in session if name not in WIRE_TYPES))


def bounded(carrier: Session, largest: int = LARGEST_SESSION) -> Session:
    """What counts of a carrier: all of it, or its known fields if it is too large, or its id if it still is."""
    if size_of(carrier) <= largest:
        return carrier
    known = known_fields(carrier)
    return known if size_of(known) <= largest else Session(carrier.session_id)


def of_ovos_client(carrier: Session) -> Session:
    """What counts of a carrier whose sender puts its own configuration into every Message: that of this utterance."""
    names = [name for name in (*FOR_ONE_UTTERANCE, *_SIGNALS) if name in carrier]
    return Session(carrier.session_id).taking(carrier, names)


def fold(store: Session, carrier: Session) -> Session:
    """The default session with the fields of an utterance's carrier; omitted fields keep their stored value.

    SESSION-2 §5.1. The three language signals belong to one utterance, so the stored ones are always dropped.
    """
    remembered = intent_context.apply(store.intent_context, carrier.intent_context)
    folded = store.taking(carrier, (*_SIGNALS, *carrier))
    return folded if remembered is folded.intent_context else folded.trusted(intent_context=remembered)


class Denials(msgspec.Struct, frozen=True):
    """The nine denylists of a match round: they can only grow (ruling R3)."""

    lists: Mapping[str, tuple[str, ...]] = EMPTY
    """What the session denies, by field."""
    deployed: Mapping[str, tuple[str, ...]] = EMPTY
    """What the settings deny, by field; in force, but never written into a session."""

    @classmethod
    def of(cls, session: Session) -> Denials:
        """The denylists a session carries."""
        return cls(Sealed(session.present(DENYLISTS)))

    def grown(self, session: Session) -> Denials:
        """These denylists joined with those of `session`."""
        live = session.present(DENYLISTS)
        if not live or live == self.lists:
            return self
        merged = {**self.lists, **{name: self._with(name, denied) for name, denied in live.items()}}
        return Denials(Sealed(merged), self.deployed)

    def imposed_on(self, session: Session) -> Session:
        """`session` with at least these denylists."""
        imposed: dict[str, tuple[str, ...]] = {}
        for name, denied in self.lists.items():
            live = session.get(name, ())
            if live != denied and not set(denied) <= set(live):
                imposed[name] = self._with(name, live)
        return session.trusted(**imposed) if imposed else session

    def deny(self, field: str, name: str) -> bool:
        """Whether the denylist `field` names `name`."""
        return name in self.denied(field)

    def denied(self, field: str) -> tuple[str, ...]:
        """Everything the denylist `field` names."""
        own = self.lists.get(field, ())
        return (*own, *self.deployed.get(field, ())) if self.deployed else own

    def __bool__(self) -> bool:
        return bool(self.lists or self.deployed)

    def _with(self, field: str, denied: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.lists.get(field, ()), *denied)))


def commit(updated: Session, round_session: Session) -> Session:
    """`updated` as the session of the round, with the fifteen fields that no plugin can change restored (ruling R5)."""
    return updated.taking(round_session, REIMPOSED)


def activate(session: Session, skill_id: str, intent_name: str, now: float, cap: int = converse.CAP) -> Session:
    """`session` with the called skill at the head of the two lists of handlers.

    `converse_handlers` by every call (CONVERSE-1 §3.1), `active_handlers` unless the intent name is reserved and does
    not push (PIPELINE-1 §7.1, §7.3).
    """
    conversing = converse.with_activated(session, skill_id, now, cap)
    if intent_name in RESERVED_INTENT_NAMES and intent_name not in PUSHING_RESERVED_NAMES:
        return session.trusted(converse_handlers=conversing)
    others = _entries_of_others(session.active_handlers, skill_id)
    return session.trusted(active_handlers=(Handler(skill_id, now), *others), converse_handlers=conversing)


def restored(session: Session, lasting: Mapping[str, Any]) -> Session:
    """`session` with the lasting values of what was set for one turn only; None stands for an omitted field."""
    if not lasting:
        return session
    kept = {name: value for name, value in lasting.items() if value is not None}
    return session.without(*(name for name in lasting if name not in kept)).trusted(**kept)


class SessionDifference(msgspec.Struct, frozen=True):
    """What changed in a session, field by field and, in its intent context, entry by entry."""

    changed: Session
    """A session that has nothing but the changed fields; None as a context entry removes it."""
    removed: tuple[str, ...] = ()

    @classmethod
    def between(cls, before: Session, after: Session) -> SessionDifference | None:
        """What changed from `before` to `after`; None when nothing that lasts did."""
        if before is after or before.session_id != after.session_id:
            return None
        names = [name for name in dict.fromkeys((*before, *after)) if name not in _NOT_SENT]
        differing = [name for name in names if before.get(name) != after.get(name)]
        changed = Session(after.session_id).taking(after, [name for name in differing if name in after])
        entries = intent_context.delta(before.intent_context, after.intent_context)
        if entries:
            changed = changed.trusted(intent_context=Sealed(entries))
        removed = tuple(name for name in differing if name not in after)
        return cls(changed, removed) if differing or entries else None

    def applied_to(self, session: Session) -> Session:
        """`session` with these changes, except for what may not last (ruling R16)."""
        changed = lasting(self.changed)
        names = [name for name in changed if name not in _NOT_SENT]
        gone = [name for name in self.removed if name not in _NOT_SENT]
        applied = session.taking(changed, names).without(*gone)
        entries = changed.intent_context
        if not entries:
            return applied
        merged = intent_context.evict(intent_context.apply(session.intent_context, entries))
        return applied.trusted(intent_context=merged)


class SessionChanges(msgspec.Struct, frozen=True):
    """What a handler changed in its session, as far as it is allowed to."""

    fields: Mapping[str, Any]
    removed: tuple[str, ...]
    context: IntentContext
    own_entries: Mapping[str, Handlers]
    skill_id: str
    question: ResponseMode | None = None
    """The question that was open at the dispatch; the handler cannot close another one."""

    @classmethod
    def between(cls, dispatched: Session, done: Session, skill_id: str) -> SessionChanges | None:
        """The allowed differences between the dispatched session and the handler's, or None when there are none."""
        if dispatched is done:
            return None
        fields: dict[str, Any] = {}
        removed: list[str] = []
        own: dict[str, Handlers] = {}
        for name in HANDLER_WRITES:
            before, after = dispatched.get(name), done.get(name)
            if before == after:
                continue
            if name in _OWN_ENTRIES:
                mine = _own_entries(after or (), skill_id)
                if mine != _own_entries(before or (), skill_id):
                    own[name] = mine
            elif after is None:
                removed.append(name)
            else:
                fields[name] = after
        context = intent_context.delta(dispatched.intent_context, done.intent_context)
        if not (fields or removed or own or context):
            return None
        return cls(fields, tuple(removed), context, own, skill_id, dispatched.response_mode)

    def applied_to(self, session: Session) -> Session:
        """`session`, which may have changed meanwhile, with these changes applied."""
        changes = dict(self.fields)
        for name, mine in self.own_entries.items():
            changes[name] = (*mine, *_entries_of_others(session.get(name, ()), self.skill_id))
        if self.context:
            merged = intent_context.apply(session.intent_context, self.context)
            changes["intent_context"] = intent_context.evict(merged)
        removed = self.removed
        if "response_mode" in removed and session.response_mode != self.question:
            removed = tuple(name for name in removed if name != "response_mode")
        return session.without(*removed).trusted(**changes)


def _own_entries(handlers: Handlers, skill_id: str) -> Handlers:
    return tuple(handler for handler in handlers if handler.skill_id == skill_id)


def _entries_of_others(handlers: Handlers, skill_id: str) -> Handlers:
    return tuple(handler for handler in handlers if handler.skill_id != skill_id)


def three_way_merge(current: Session, base: Session, now: Session) -> Session:
    """`current` with what changed from `base` to `now`; other fields stay as they are in `current`.

    The intent context is merged entry by entry, so that two turns on one session do not undo each other.
    """
    if base is now:
        return current
    if current is base:
        return now
    names = dict.fromkeys((*base, *now))
    changed = [name for name in names if name != "intent_context" and base.get(name) != now.get(name)]
    advanced = current.taking(now, changed) if changed else current
    entries = intent_context.delta(base.intent_context, now.intent_context)
    if not entries:
        return advanced
    return advanced.trusted(intent_context=intent_context.apply(current.intent_context, entries))
