"""Conditions on an intent that fits, of either method: enabled, allowed, in context, required slots filled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hark.intents.pool import SessionScope
from hark.intents.registration import IntentDefinition
from hark.intents.text import words
from hark.model import ContextEntry, Session
from hark.model.intent_context import IntentContext, gate_is_open, is_live, private_key

Now = Callable[[], float]
"""Returns the wall time; called only where something can expire."""


AnyScope = SessionScope[Any, Any]


def refusal(intent: IntentDefinition, session: Session, shared: AnyScope, own: AnyScope, now: Now) -> str | None:
    """Why an intent that fits is refused in this session: disabled, denied, or not in this context."""
    if intent.key in shared.disabled or intent.key in own.disabled:
        return f"{intent.label} fits but is disabled"
    if intent.skill_id in (session.blacklisted_skills or ()) or intent.label in (session.blacklisted_intents or ()):
        return f"{intent.label} fits but the session denies it"
    if intent.requires_context or intent.excludes_context:
        return _barred_by_context(intent, session.intent_context, now)
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


def _barred_by_context(intent: IntentDefinition, context: IntentContext, now: Now) -> str | None:
    for gate in intent.requires_context:
        if not gate_is_open(context, intent.skill_id, gate, now()):
            return f"{intent.label} fits but needs the context {_gate(gate)!r}"
    for gate in intent.excludes_context:
        if gate_is_open(context, intent.skill_id, gate, now()):
            return f"{intent.label} fits but not in the context {_gate(gate)!r}"
    return None


def _gate(gate: object) -> object:
    return gate.get("key", gate) if isinstance(gate, dict) else gate
