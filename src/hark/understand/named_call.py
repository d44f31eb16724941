"""Calling an intent by its name: the pipeline entry that stands first when an utterance names one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from hark.model import Match, Session
from hark.plugins import Declined
from hark.spec import DEFAULT_SESSION_ID, dispatch_topic
from hark.understand.intent_registry import IntentIndex

CALL: Final = "call"
"""The id of the entry, as traces, `pipeline_id` and `blacklisted_pipelines` name it."""


def named_intent(
    wanted: object, utterance: str, lang: str, session: Session, registered: IntentIndex, largest: int
) -> Match | Declined:
    """The claim for the intent that an utterance names, if there is one of that name in its session.

    Its slots may have `largest` bytes, as all that is said. Slots and context gates of its definition are checked as
    those of every other claim.
    """
    if not isinstance(wanted, Mapping):
        return Declined("intent is not an object with skill_id, intent_name and slots")
    skill_id, intent_name = wanted.get("skill_id"), wanted.get("intent_name")
    if not (isinstance(skill_id, str) and isinstance(intent_name, str) and skill_id and intent_name):
        return Declined("intent lacks its skill_id or its intent_name")
    slots = _slots(wanted.get("slots"))
    if slots is None:
        return Declined("the slots of intent are not an object of texts and numbers")
    if sum(len(text.encode("utf-8", "surrogatepass")) for slot in slots.items() for text in slot) > largest:
        return Declined(f"the slots of intent have more than {largest} bytes")
    topic = dispatch_topic(skill_id, intent_name)
    scopes = dict.fromkeys((DEFAULT_SESSION_ID, session.session_id))
    found = [definition for scope in scopes for definition in registered.of(topic, scope)]
    if not found:
        return Declined(f"no intent {topic[:200]} is registered")
    if not any(definition.enabled_for(session.session_id) for definition in found):
        return Declined(f"{topic} is switched off")
    return Match(skill_id, intent_name, lang, utterance, slots, note="by name")


def _slots(given: Any) -> dict[str, str] | None:
    """The slots as texts; None where they are anything else. Programs write numbers as numbers."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        return None
    slots: dict[str, str] = {}
    for name, value in given.items():
        if isinstance(value, str):
            slots[name] = value
        elif type(value) is int or (type(value) is float and math.isfinite(value)):
            slots[name] = str(value)
        else:
            return None
    return slots
