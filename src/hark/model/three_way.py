"""Bringing a change to a session that has moved on meanwhile."""

from __future__ import annotations

from hark.model import context as intent_context
from hark.model.session import Session


def advance(current: Session, base: Session, now: Session) -> Session:
    """`current` with what changed from `base` to `now`; fields that did not change keep what they are in `current`.

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
