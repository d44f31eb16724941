"""Remembering and forgetting over the bus, as older skills do it (CONTEXT-1 version 1, ruling R6)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hark.bus import Bus
from hark.model import Clock, ContextEntry, Message, Session, intent_context
from hark.model.frozen import Sealed
from hark.spec import TransformerType, topics
from hark.spec.names import PIPELINE_ID, SKILL_ID, stamp_key
from hark.understand.lifecycle import Lifecycle
from hark.understand.store import DefaultSession

log = logging.getLogger("hark.understand")

_LATEST_FIRST: Final[tuple[TransformerType | None, ...]] = ("tts", "dialog", None, "intent")
_EARLIER: Final[tuple[TransformerType, ...]] = ("metadata", "utterance", "audio")


class ContextTopics:
    """Applies `ovos.context.set`, `.unset` and `.clear` to the turn they come from, or to the default session."""

    def __init__(self, bus: Bus, clock: Clock, turns: Mapping[str, Lifecycle], store: DefaultSession) -> None:
        self._clock = clock
        self._turns = turns
        self._store = store
        self.heeded = True
        """Whether they are; a deployment may do without them."""
        changes = (topics.CONTEXT_SET, topics.CONTEXT_UNSET, topics.CONTEXT_CLEAR)
        self._subscriptions = [bus.on(topic, self._change, name=f"understand on {topic}") for topic in changes]

    def close(self) -> None:
        """Listen no longer."""
        for subscription in self._subscriptions:
            subscription.close()

    def _change(self, message: Message) -> None:
        if not self.heeded:
            return
        life = self._turns.get(message.utterance_id or "")
        if life is None and not self._store.owned:  # of several workers, another sees to it
            return
        session = life.session if life is not None else self._store.current
        if message.session_id != session.session_id:
            log.info("%s is of session %s, which is not here: its client has to remember",
                     message.type, message.session_id)  # fmt: skip
            return
        changed = self._changed(session, message)
        if changed is None:
            return
        if life is not None:
            life.session = changed
        if session.is_default:
            now = self._store.bring(session, changed)
            if life is not None:
                life.session = life.synced = now

    def _changed(self, session: Session, message: Message) -> Session | None:
        """`session` as the Message wants it; None when it says nothing sensible."""
        entries = dict(session.intent_context)
        if message.type == topics.CONTEXT_CLEAR:
            return session.trusted(intent_context=Sealed({}))
        key = _stored_key(message)
        if key is None:
            log.warning("%s was ignored: its key, its scope or its sender cannot be told: %.100r",
                        message.type, dict(message.data))  # fmt: skip
            return None
        if message.type == topics.CONTEXT_UNSET:
            entries.pop(key, None)
        else:
            entry = self._entry(message.data)
            if entry is None:
                log.warning("%s was ignored: its value or its times are malformed: %.100r",
                            message.type, dict(message.data))  # fmt: skip
                return None
            entries[key] = entry
        return session.trusted(intent_context=intent_context.evict(Sealed(entries)))

    def _entry(self, data: Mapping[str, Any]) -> ContextEntry | None:
        ttl = data.get("ttl_seconds")
        if not (ttl is None or type(ttl) in (int, float)):
            return None
        try:
            expires_at = None if ttl is None else self._clock.wall() + ttl
            entry = {"value": data.get("value"), "expires_at": expires_at, "turns_remaining": data.get("turns")}
            return msgspec.convert(entry, ContextEntry)
        except (msgspec.ValidationError, OverflowError):
            return None


def _stored_key(message: Message) -> str | None:
    key, scope = message.data.get("key"), message.data.get("scope", "private")
    if not isinstance(key, str) or not key or ":" in key or scope not in ("private", "shared"):
        return None
    if scope == "shared":
        return key
    owner = _owner(message.context)
    return None if owner is None else intent_context.private_key(owner, key)


def _owner(context: Mapping[str, Any]) -> str | None:
    """Who sent it: the latest stage of the lifecycle that left its name."""
    for kind in _LATEST_FIRST:
        name = context.get(SKILL_ID) if kind is None else _last(context.get(stamp_key(kind)))
        if isinstance(name, str) and name:
            return name
    pipeline_id = context.get(PIPELINE_ID)
    if isinstance(pipeline_id, str) and pipeline_id:
        return pipeline_id
    for kind in _EARLIER:
        if name := _last(context.get(stamp_key(kind))):
            return name
    return None


def _last(stamps: Any) -> str | None:
    return stamps[-1] if isinstance(stamps, tuple) and stamps and isinstance(stamps[-1], str) else None
