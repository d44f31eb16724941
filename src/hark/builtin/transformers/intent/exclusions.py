"""Values that a slot may not take, as skills registered them (INTENT-2 §4.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hark.intents import TemplateError, phrases, words
from hark.plugins import Host, Match, Message, Session
from hark.spec import DEFAULT_SESSION_ID, dispatch_topic, topics

_Key = tuple[str, str, str]
"""`skill_id:intent_name`, the language in lower case, and the session it is registered for."""


class SlotExclusions:
    """The `slot_blacklist` of every registered intent, for transformers that fill slots after matching."""

    def __init__(self, host: Host) -> None:
        self._barred: dict[_Key, dict[str, frozenset[str]]] = {}
        host.on((topics.REGISTER_TEMPLATE, topics.REGISTER_KEYWORD), self._registered)
        host.on((topics.INTENT_DEREGISTER, topics.SKILL_DEREGISTER), self._removed)

    def bars(self, match: Match, session: Session, slot: str, value: str) -> bool:
        """Whether the intent of `match` refuses `value` in `slot`."""
        for session_id in (session.session_id, DEFAULT_SESSION_ID):
            barred = self._barred.get((match.topic, match.lang.lower(), session_id))
            if barred is not None:
                return " ".join(words(value)) in barred.get(slot, ())
        return False

    def _registered(self, message: Message) -> None:
        data = message.data
        key = (dispatch_topic(str(data.get("skill_id")), str(data.get("intent_name"))), str(data.get("lang")).lower())
        listed = data.get("slot_blacklist")
        barred = dict(_read(listed, key[1])) if isinstance(listed, Mapping) else {}
        if barred or message.session_id != DEFAULT_SESSION_ID:
            self._barred[(*key, message.session_id)] = barred
        else:
            self._barred.pop((*key, message.session_id), None)

    def _removed(self, message: Message) -> None:
        skill_id, intent_name = message.data.get("skill_id"), message.data.get("intent_name")
        for key in list(self._barred):
            skill, _, intent = key[0].partition(":")
            if skill == skill_id and (message.type == topics.SKILL_DEREGISTER or intent == intent_name):
                del self._barred[key]


def _read(listed: Mapping[str, Any], lang: str) -> Iterator[tuple[str, frozenset[str]]]:
    for slot, items in listed.items():
        yield slot, frozenset(text for item in items if isinstance(item, str) for text in _phrases(item, lang))


def _phrases(item: str, lang: str) -> tuple[str, ...]:
    try:
        return phrases(item, lang)
    except TemplateError:  # the matcher reports it
        return ()
