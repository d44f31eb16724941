"""The claim of a plugin on an utterance."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from hark.model.errors import MalformedMessage
from hark.model.frozen import EMPTY, Frozen, Sealed, check_text
from hark.model.lang import is_tag
from hark.model.session import Session
from hark.spec.topics import dispatch_topic, is_topic


class Match(msgspec.Struct, frozen=True):
    """Which skill handles this utterance, in which language, with which slots (PIPELINE-1 §4.1).

    The constructor checks nothing; `defect` does.
    """

    skill_id: str
    intent_name: str
    lang: str
    utterance: str
    slots: Mapping[str, str] = EMPTY
    updated_session: Session | None = None
    """The session to continue with, or None to leave it unchanged."""
    note: str = ""
    """Why the plugin claimed it, for the trace (`hark why`); it is not sent on the bus."""

    def __post_init__(self) -> None:
        slots = self.slots
        if type(slots) is dict:
            msgspec.structs.force_setattr(self, "slots", Sealed(slots))
        elif isinstance(slots, dict) and not isinstance(slots, Sealed):
            # `dict.items` reads the items although a subclass may have overridden access.
            msgspec.structs.force_setattr(self, "slots", Sealed(dict.items(slots)))

    @property
    def topic(self) -> str:
        """The dispatch topic of this claim."""
        return dispatch_topic(self.skill_id, self.intent_name)

    def replace(self, **changes: Any) -> Match:
        """A copy with some fields changed."""
        return msgspec.structs.replace(self, **changes)

    def with_slots(self, **slots: str) -> Match:
        """A copy with slots added or changed."""
        return msgspec.structs.replace(self, slots=Sealed({**self.slots, **slots}))

    def defect(self) -> str | None:
        """Why this claim is malformed, and so counts as a decline; None when it is well-formed."""
        skill_id, intent_name, lang, utterance = self.skill_id, self.intent_name, self.lang, self.utterance
        if not (type(skill_id) is type(intent_name) is type(lang) is type(utterance) is str):
            return _not_text(skill_id=skill_id, intent_name=intent_name, lang=lang, utterance=utterance)
        if not _dispatchable(skill_id, intent_name):
            return f"{self.topic[:80]!r} is no dispatch topic: ids hold letters, digits, '_', '-' and '.', no ':'"
        if not is_tag(lang):
            return f"lang {lang[:40]!r} is no BCP-47 tag"
        if not utterance:
            return "utterance must not be empty"
        if type(self.note) is not str:
            return f"note must be text, not {type(self.note).__name__}"
        in_parts = _slots_defect(self.slots) or _session_defect(self.updated_session)
        return in_parts or _text_defect("utterance", utterance)


@lru_cache(maxsize=4096)
def _dispatchable(skill_id: str, intent_name: str) -> bool:
    return ":" not in skill_id and ":" not in intent_name and is_topic(dispatch_topic(skill_id, intent_name))


# A plugin may put anything into a claim, so these functions name types, since a repr could raise, and accept no
# subclasses, which could run code of their own when they are read.


def _not_text(**fields: object) -> str:
    name, value = next((name, value) for name, value in fields.items() if type(value) is not str)
    return f"{name} must be text, not {type(value).__name__}"


def _text_defect(what: str, text: str) -> str | None:
    try:
        check_text(text)
    except MalformedMessage as error:
        return f"{what}: {error}"
    return None


def _slots_defect(slots: object) -> str | None:
    if type(slots) is not Sealed and type(slots) is not Frozen:
        return f"slots must be a dict of text to text, not {type(slots).__name__}"
    for key, value in slots.items():
        if type(key) is not str:
            return f"slots must be named by text, not {type(key).__name__}"
        if type(value) is not str:
            return f"slot {key[:40]!r} must be text, not {type(value).__name__}"
        if not (key.isascii() and value.isascii()):
            defect = _text_defect("the name of a slot", key) or _text_defect(f"slot {key[:40]!r}", value)
            if defect:
                return defect
    return None


def _session_defect(session: object) -> str | None:
    if session is None or type(session) is Session:
        return None
    return f"updated_session must be a Session, not {type(session).__name__}"
