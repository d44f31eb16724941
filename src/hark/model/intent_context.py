"""Intent context as pure functions: what is live, what decays, what a change amounts to (CONTEXT-1)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hark.model.frozen import EMPTY, Sealed
from hark.model.session_codec import ContextEntry
from hark.model.session_codec import IntentContext as IntentContext

log = logging.getLogger("hark.context")

MAX_ENTRIES: Final = 1024
"""How many entries a session keeps by default."""


def is_live(entry: ContextEntry | None, now: float, *, ticked: bool = False) -> bool:
    """Whether an entry still counts: neither its turns nor its time are used up.

    `ticked`: the present turn was counted already, and an entry whose last turn it is has none left.
    """
    return (
        entry is not None
        and (entry.turns_remaining is None or entry.turns_remaining >= (0 if ticked else 1))
        and (entry.expires_at is None or entry.expires_at > now)
    )


def is_key(key: str) -> bool:
    """Whether `key` is shared (no colon) or private to one owner (`<owner>:<key>`)."""
    owner, colon, rest = key.partition(":")
    return bool(owner) and (not colon or (bool(rest) and ":" not in rest))


def private_key(owner: str, key: str) -> str:
    """The key under which `owner` keeps `key` for itself."""
    return f"{owner}:{key}"


def prune(context: IntentContext, now: float) -> IntentContext:
    """`context` without entries that are expired, marked for removal or have a malformed key."""
    if not context or all(is_live(entry, now) and is_key(key) for key, entry in context.items()):
        return context
    for key in context:
        if not is_key(key):
            log.warning("intent context: dropped the malformed key %.80r", key)
    return Sealed({key: entry for key, entry in context.items() if is_live(entry, now) and is_key(key)})


def tick(context: IntentContext, before: IntentContext) -> IntentContext:
    """One turn has passed: entries that are the same as `before` the match round lose one turn."""
    ticked: dict[str, ContextEntry | None] = {}
    for key, entry in context.items():
        if entry is not None and entry.turns_remaining is not None and before.get(key) == entry:
            ticked[key] = msgspec.structs.replace(entry, turns_remaining=entry.turns_remaining - 1)
    return Sealed({**context, **ticked}) if ticked else context


def evict(context: IntentContext, limit: int = MAX_ENTRIES) -> IntentContext:
    """At most `limit` entries: those nearest to their expiry are evicted first, turns before time (CONTEXT-1 §2)."""
    excess = len(context) - limit
    if excess <= 0:
        return context
    evicted = sorted(context, key=lambda key: _remaining(context[key]))[:excess]
    for key in evicted:
        log.warning("intent context: more than %d entries, evicted %.80r", limit, key)
    gone = frozenset(evicted)
    return Sealed({key: entry for key, entry in context.items() if key not in gone})


def _remaining(entry: ContextEntry | None) -> tuple[int, float]:
    if entry is None:
        return (0, 0)
    if entry.turns_remaining is not None:
        return (1, entry.turns_remaining)
    if entry.expires_at is not None:
        return (2, entry.expires_at)
    return (3, 0)


def delta(base: IntentContext, now: IntentContext) -> IntentContext:
    """The difference from `base` to `now`: new and changed entries, and None for every removed key."""
    if base is now:
        return EMPTY
    changes = {key: entry for key, entry in now.items() if key not in base or base[key] != entry}
    changes.update({key: None for key in base if key not in now})
    return changes


def apply(context: IntentContext, changes: IntentContext) -> IntentContext:
    """`context` with `changes` on top; None removes a key, keys not named stay (CONTEXT-1 §5.3)."""
    if not changes:
        return context
    return Sealed({key: entry for key, entry in {**context, **changes}.items() if entry is not None})


def gate_is_open(context: IntentContext, owner: str, gate: Any, now: float) -> bool:
    """Whether the key a gate names is live, in the scope of `owner` unless the gate says it is shared."""
    key, scope = (gate, "private") if isinstance(gate, str) else _long_form(gate)
    if scope == "shared":
        # A private entry never opens a shared gate, however the gate spells its key.
        return ":" not in key and is_live(context.get(key), now)
    return scope == "private" and is_live(context.get(private_key(owner, key)), now)


def _long_form(gate: Any) -> tuple[str, str]:
    if isinstance(gate, Mapping):
        key, scope = gate.get("key"), gate.get("scope", "private")
        if isinstance(key, str) and scope in ("private", "shared"):
            return key, scope
    log.debug("intent context: a malformed gate never opens: %.80r", gate)
    return "", "malformed"
