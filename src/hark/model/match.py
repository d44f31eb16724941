"""A claim on an utterance."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from hark.model.errors import MalformedMessage
from hark.model.frozen import EMPTY, Frozen, check_text
from hark.model.lang import is_tag
from hark.model.session import Session
from hark.spec.topics import dispatch_topic, is_topic


class Match(msgspec.Struct, frozen=True):
    """Who handles this utterance, in which language, with which slots (PIPELINE-1 §4.1)."""

    skill_id: str
    intent_name: str
    lang: str
    utterance: str
    slots: Mapping[str, str] = EMPTY
    updated_session: Session | None = None
    """The whole session as it shall be from here on, or None to leave it alone."""

    def __post_init__(self) -> None:
        if type(self.slots) is not Frozen and isinstance(self.slots, dict):
            msgspec.structs.force_setattr(self, "slots", Frozen(self.slots))

    @property
    def topic(self) -> str:
        """The dispatch topic of this claim."""
        return dispatch_topic(self.skill_id, self.intent_name)

    def replace(self, **changes: Any) -> Match:
        """A copy with some fields changed."""
        return msgspec.structs.replace(self, **changes)

    def with_slots(self, **slots: str) -> Match:
        """A copy with slots added or changed."""
        return msgspec.structs.replace(self, slots=Frozen({**self.slots, **slots}))

    def defect(self) -> str | None:
        """Why this claim is malformed and counts as a decline, or None when it is well-formed."""
        for name in ("skill_id", "intent_name", "lang", "utterance"):
            value = getattr(self, name)
            if type(value) is not str or not value:
                return f"{name} must be non-empty text, not {value!r:.40}"
        if not _dispatchable(self.skill_id, self.intent_name):
            return f"{self.topic!r} is no dispatch topic: ids hold letters, digits, '_', '-' and '.', no ':'"
        if not is_tag(self.lang):
            return f"lang {self.lang!r} is no BCP-47 tag"
        if not isinstance(self.slots, dict):
            return f"slots must be a dict of text to text, not {type(self.slots).__name__}"
        for key, value in self.slots.items():
            if type(key) is not str or type(value) is not str:
                return f"slot {key!r:.40} must be text, not {type(value).__name__}"
        if self.updated_session is not None and not isinstance(self.updated_session, Session):
            return f"updated_session must be a Session, not {type(self.updated_session).__name__}"
        return self._unsayable()

    def _unsayable(self) -> str | None:
        try:
            check_text(self.utterance)
            for key, value in self.slots.items():
                check_text(key)
                check_text(value)
        except MalformedMessage as error:
            return str(error)
        return None


@lru_cache(maxsize=4096)
def _dispatchable(skill_id: str, intent_name: str) -> bool:
    return ":" not in skill_id and ":" not in intent_name and is_topic(dispatch_topic(skill_id, intent_name))
