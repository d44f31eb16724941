"""Intent context as pure functions: what is live, what decays, what a change amounts to (CONTEXT-1)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hark.model.frozen import EMPTY, Frozen
from hark.model.session_fields import ContextEntry

log = logging.getLogger("hark.context")

IntentContext = Mapping[str, ContextEntry | None]

MAX_ENTRIES: Final = 1024


def is_live(entry: ContextEntry | None, now: float) -> bool:
    """Whether an entry still counts: neither its turns nor its time are used up."""
    return (
        entry is not None
        and (entry.turns_remaining is None or entry.turns_remaining > 0)
        and (entry.expires_at is None or entry.expires_at > now)
    )


def is_key(key: str) -> bool:
    """Whether `key` is shared (no colon) or private to one owner (`<owner>:<key>`)."""
    return bool(key) and (":" not in key or (key.count(":") == 1 and not key.startswith(":") and not key.endswith(":")))


def private_key(owner: str, key: str) -> str:
    """The key under which `owner` keeps `key` for itself."""
    return f"{owner}:{key}"


def prune(context: IntentContext, now: float) -> IntentContext:
    """`context` without what is dead, marked for removal or badly keyed."""
    if not context or all(is_live(entry, now) and is_key(key) for key, entry in context.items()):
        return context
    for key in context:
        if not is_key(key):
            log.warning("intent context: dropped the malformed key %r", key)
    return Frozen({key: entry for key, entry in context.items() if is_live(entry, now) and is_key(key)})


def tick(context: IntentContext, before: IntentContext) -> IntentContext:
    """One turn has passed: entries that stand as they stood `before` the match round lose one of their turns."""
    if not context:
        return context
    ticked: dict[str, ContextEntry | None] = {}
    changed = False
    for key, entry in context.items():
        if entry is not None and entry.turns_remaining is not None and before.get(key) == entry:
            entry = msgspec.structs.replace(entry, turns_remaining=entry.turns_remaining - 1)
            changed = True
        ticked[key] = entry
    return Frozen(ticked) if changed else context


def evict(context: IntentContext, limit: int = MAX_ENTRIES) -> IntentContext:
    """At most `limit` entries: those nearest to their end go first, turns before time (CONTEXT-1 §2)."""
    excess = len(context) - limit
    if excess <= 0:
        return context
    nearest = sorted(context, key=lambda key: _remaining(context[key]))
    for key in nearest[:excess]:
        log.warning("intent context: more than %d entries, evicted %r", limit, key)
    return Frozen({key: context[key] for key in context if key not in set(nearest[:excess])})


def _remaining(entry: ContextEntry | None) -> tuple[int, float]:
    if entry is None:
        return (0, 0.0)
    if entry.turns_remaining is not None:
        return (1, float(entry.turns_remaining))
    if entry.expires_at is not None:
        return (2, entry.expires_at)
    return (3, 0.0)


def delta(base: IntentContext, now: IntentContext) -> Mapping[str, ContextEntry | None]:
    """What changed from `base` to `now`: new and changed entries, and None for every key that is gone."""
    if base is now:
        return EMPTY
    changes: dict[str, Any] = {key: entry for key, entry in now.items() if base.get(key) != entry or key not in base}
    changes.update({key: None for key in base if key not in now})
    return changes


def apply(context: IntentContext, changes: Mapping[str, ContextEntry | None]) -> IntentContext:
    """`context` with `changes` on top; None removes a key, keys not named stay (CONTEXT-1 §5.3)."""
    if not changes:
        return context
    merged = {key: entry for key, entry in {**context, **changes}.items() if entry is not None}
    return Frozen(merged)


def gate_is_open(context: IntentContext, owner: str, gate: Any, now: float) -> bool:
    """Whether the key a gate names is live, in the scope of `owner` unless the gate says it is shared."""
    key, scope = (gate, "private") if isinstance(gate, str) else _long_form(gate)
    if scope == "shared":
        return is_live(context.get(key), now)
    return scope == "private" and is_live(context.get(private_key(owner, key)), now)


def _long_form(gate: Any) -> tuple[str, str]:
    if isinstance(gate, dict) and isinstance(gate.get("key"), str):
        return gate["key"], gate.get("scope", "private")
    return "", "malformed"
