"""Which skills may be offered the next utterance, and which one waits for it (CONVERSE-1 §2, §3)."""

from __future__ import annotations

import logging
from typing import Final

from hark.model.session import Session
from hark.model.session_codec import Handler, Handlers

log = logging.getLogger("hark.model")

CAP: Final = 20
"""How many converse handlers a session keeps by default."""
TTL: Final = 300.0
"""Seconds after its last call for which a handler is offered the next utterance, by default."""


def waiting_skill(session: Session, now: float) -> str | None:
    """The skill that waits for the next utterance, or None."""
    mode = session.response_mode
    return mode.skill_id if mode is not None and mode.expires_at > now else None


def by_recency(handlers: Handlers) -> Handlers:
    """The handlers, most recent first; equal ones keep their order."""
    if len(handlers) < 2:
        return handlers
    return tuple(sorted(handlers, key=lambda handler: -handler.activated_at))


def with_activated(session: Session, skill_id: str, now: float, cap: int = CAP) -> Handlers:
    """`converse_handlers` with the called skill at the head, and at most `cap` of them.

    A skill that waits for an answer is never removed.
    """
    handlers = (Handler(skill_id, now), *(other for other in session.converse_handlers if other.skill_id != skill_id))
    if len(handlers) <= cap:
        return handlers
    waiting = waiting_skill(session, now)
    kept = list(handlers)
    for candidate in reversed(handlers):
        if len(kept) <= cap:
            break
        if candidate.skill_id not in (waiting, skill_id):
            kept.remove(candidate)
            log.info("%s is removed from the converse handlers of session %s: %d others were called since",
                     candidate.skill_id, session.session_id, cap)  # fmt: skip
    return tuple(kept)


def pruned(session: Session, now: float, ttl: float | None = TTL) -> Session:
    """`session` without the handlers that were called too long ago; a skill that waits for an answer stays."""
    handlers = session.converse_handlers
    if not handlers or ttl is None:
        return session
    waiting = waiting_skill(session, now)
    kept = tuple(one for one in handlers if now - one.activated_at <= ttl or one.skill_id == waiting)
    return session if len(kept) == len(handlers) else session.trusted(converse_handlers=kept)
