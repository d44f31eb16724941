"""What `ovos.context.set`, `.unset` and `.clear` make of a session (CONTEXT-1 version 1, ruling R6)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hark.model import intent_context
from hark.model.frozen import Sealed
from hark.model.message import Message
from hark.model.session import Session
from hark.model.session_codec import ContextEntry
from hark.spec import TransformerType, topics
from hark.spec.names import PIPELINE_ID, SKILL_ID, stamp_key

log = logging.getLogger("hark.context")

TOPICS: Final = (topics.CONTEXT_SET, topics.CONTEXT_UNSET, topics.CONTEXT_CLEAR)

_LATEST_FIRST: Final[tuple[TransformerType | None, ...]] = ("tts", "dialog", None, "intent")
_EARLIER: Final[tuple[TransformerType, ...]] = ("metadata", "utterance", "audio")


def applied(session: Session, message: Message, now: float) -> Session | None:
    """`session` as a Message on one of `TOPICS` wants it; None when the Message is malformed."""
    entries = dict(session.intent_context)
    if message.type == topics.CONTEXT_CLEAR:
        return session.trusted(intent_context=Sealed({}))
    key = _stored_key(message)
    if key is None:
        log.warning("%s was ignored: its key, its scope or its sender is missing or malformed: %.100r",
                    message.type, dict(message.data))  # fmt: skip
        return None
    if message.type == topics.CONTEXT_UNSET:
        entries.pop(key, None)
    else:
        entry = _entry(message.data, now)
        if entry is None:
            log.warning("%s was ignored: its value or its times are malformed: %.100r",
                        message.type, dict(message.data))  # fmt: skip
            return None
        entries[key] = entry
    return session.trusted(intent_context=intent_context.evict(Sealed(entries)))


def _entry(data: Mapping[str, Any], now: float) -> ContextEntry | None:
    ttl = data.get("ttl_seconds")
    if not (ttl is None or type(ttl) in (int, float)):
        return None
    try:
        expires_at = None if ttl is None else now + ttl
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
    """Who sent it: the latest stage of the turn that left its name."""
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
