"""Who may be offered the next utterance, and who waits for it (CONVERSE-1 §2, §3)."""

from __future__ import annotations

import logging
from typing import Final

from hark.model.session import Session
from hark.model.session_codec import Handler, Handlers

log = logging.getLogger("hark.model")

CAP: Final = 20
"""How many handlers a session keeps in mind, if the deployment says nothing else."""
TTL: Final = 300.0
"""Seconds for which a handler that was called may be offered what is said next."""


def waiting_skill(session: Session, now: float) -> str | None:
    """Who waits for the next utterance; None when nobody does, or not any more."""
    mode = session.response_mode
    return mode.skill_id if mode is not None and mode.expires_at > now else None


def by_recency(handlers: Handlers) -> Handlers:
    """The handlers, most recent first; the order of the list decides between equals."""
    if len(handlers) < 2:
        return handlers
    return tuple(sorted(handlers, key=lambda handler: -handler.activated_at))


def with_activated(session: Session, skill_id: str, now: float, cap: int = CAP) -> Handlers:
    """`converse_handlers` with the skill that is being called at the head, and no more than `cap` of them.

    Whoever waits for an answer is never the one that has to go.
    """
    handlers = (Handler(skill_id, now), *(other for other in session.converse_handlers if other.skill_id != skill_id))
    if len(handlers) <= cap:
        return handlers
    waits = waiting_skill(session, now)
    kept = list(handlers)
    for candidate in reversed(handlers):
        if len(kept) <= cap:
            break
        if candidate.skill_id not in (waits, skill_id):
            kept.remove(candidate)
            log.info("%s is removed from the converse handlers of session %s: %d others were called since",
                     candidate.skill_id, session.session_id, cap)  # fmt: skip
    return tuple(kept)


def pruned(session: Session, now: float, ttl: float | None = TTL) -> Session:
    """`session` without the handlers that were called too long ago; whoever waits for an answer stays."""
    handlers = session.converse_handlers
    if not handlers or ttl is None:
        return session
    waits = waiting_skill(session, now)
    kept = tuple(one for one in handlers if now - one.activated_at <= ttl or one.skill_id == waits)
    return session if len(kept) == len(handlers) else session.trusted(converse_handlers=kept)
