"""How sessions are put together: at intake, after a claim, and when a handler is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hark.model import context as intent_context
from hark.model.session import Session
from hark.model.session_fields import Handler
from hark.spec.names import DENYLISTS, HANDLER_WRITES, PUSHING_RESERVED_NAMES, REIMPOSED, RESERVED_INTENT_NAMES

_SIGNALS: Final = ("stt_lang", "request_lang", "detected_lang")
_OWN_ENTRIES: Final = ("active_handlers", "converse_handlers")


def fold(store: Session, carrier: Session) -> Session:
    """The default session as an utterance finds it: what the carrier has replaces, what it omits stays (SESSION-2 §5.1).

    The three language signals speak of one utterance, so the stored ones never outlive theirs.
    """
    fields = {name: carrier.get(name) for name in carrier if name not in ("session_id", "intent_context")}
    folded = store.without(*(name for name in _SIGNALS if name not in carrier))
    if "intent_context" in carrier:
        fields["intent_context"] = intent_context.apply(store.intent_context, carrier.intent_context)
    return folded.trusted(**fields) if fields else folded


class Denials(msgspec.Struct, frozen=True):
    """The nine denylists of a round: they can only grow (ruling R3)."""

    lists: Mapping[str, tuple[str, ...]] = {}

    @classmethod
    def of(cls, session: Session) -> Denials:
        """The denylists a session carries."""
        return cls({name: session.get(name) for name in DENYLISTS if name in session})

    def grown(self, session: Session) -> Denials:
        """These and those of `session` together."""
        live = Denials.of(session)
        if live.lists == self.lists or not live.lists:
            return self
        merged = dict(self.lists)
        for name, denied in live.lists.items():
            merged[name] = tuple(dict.fromkeys((*merged.get(name, ()), *denied)))
        return Denials(merged)

    def imposed_on(self, session: Session) -> Session:
        """`session` with at least these denylists."""
        missing = {name: denied for name, denied in self.lists.items() if session.get(name) != denied}
        return session.trusted(**missing) if missing else session

    def deny(self, field: str, name: str) -> bool:
        """Whether the denylist `field` names `name`."""
        denied = self.lists.get(field)
        return denied is not None and name in denied


def commit(updated: Session, round_session: Session) -> Session:
    """`updated` as the session of the round, with the fifteen fields no plugin can change put back (ruling R5)."""
    imposed = {name: round_session.get(name) for name in REIMPOSED if name in round_session}
    return updated.without(*(name for name in REIMPOSED if name not in imposed)).trusted(**imposed)


def activate(session: Session, skill_id: str, intent_name: str, now: float) -> Session:
    """`session` with the skill at the head of `active_handlers`, unless the intent name says otherwise (PIPELINE-1 §7.1)."""
    if intent_name in RESERVED_INTENT_NAMES and intent_name not in PUSHING_RESERVED_NAMES:
        return session
    others = (handler for handler in session.active_handlers if handler.skill_id != skill_id)
    return session.trusted(active_handlers=(Handler(skill_id, now), *others))


class Writes(msgspec.Struct, frozen=True):
    """What a handler changed in its session, as far as it may: the difference, never the whole."""

    fields: Mapping[str, Any]
    removed: tuple[str, ...]
    context: Mapping[str, Any]
    own_entries: Mapping[str, tuple[Handler, ...]]
    skill_id: str

    @classmethod
    def between(cls, dispatched: Session, done: Session, skill_id: str) -> Writes | None:
        """The allowed differences between the dispatched session and the handler's, or None when there are none."""
        if dispatched is done:
            return None
        fields: dict[str, Any] = {}
        removed: list[str] = []
        own: dict[str, tuple[Handler, ...]] = {}
        for name in HANDLER_WRITES:
            before, after = dispatched.get(name), done.get(name)
            if before == after:
                continue
            if name in _OWN_ENTRIES:
                mine = tuple(handler for handler in after or () if handler.skill_id == skill_id)
                if mine != tuple(handler for handler in before or () if handler.skill_id == skill_id):
                    own[name] = mine
            elif after is None:
                removed.append(name)
            else:
                fields[name] = after
        context = intent_context.delta(dispatched.intent_context, done.intent_context)
        if not (fields or removed or own or context):
            return None
        return cls(fields, tuple(removed), context, own, skill_id)

    def onto(self, session: Session) -> Session:
        """`session`, which may have moved on meanwhile, with these changes applied."""
        changes = dict(self.fields)
        for name, mine in self.own_entries.items():
            others = tuple(handler for handler in session.get(name, ()) if handler.skill_id != self.skill_id)
            changes[name] = (*mine, *others)
        if self.context:
            merged = intent_context.apply(session.intent_context, self.context)
            changes["intent_context"] = intent_context.evict(merged)
        return session.without(*self.removed).trusted(**changes)
