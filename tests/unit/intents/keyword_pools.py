"""Making and asking pools of keyword intents, for the tests of this room."""

from __future__ import annotations

from typing import Any

from hark.intents.keyword import DEFAULT_FLOOR, KeywordPool, Spotted, lookup_keywords
from hark.model import Session
from hark.model.frozen import freeze_object
from hark.spec import topics

NOW = 1_000.0
HERE = Session()


def voc(name: str, *samples: Any) -> dict[str, Any]:
    """A vocabulary descriptor; without samples, its name is what can be said."""
    return {"name": name, "samples": list(samples or (name,))}


SEND_ROBOT: dict[str, Any] = {
    "required": [voc("move", "move", "send", "drive"), voc("robot", "robot", "vacuum cleaner")],
    "one_of": [[voc("kitchen"), voc("hall", "hall", "front hall")]],
    "optional": [voc("soon", "now", "right now")],
    "excluded": [voc("question", "where is", "did")],
}
"""The worked example of the catalogue."""


def register(pool: KeywordPool, label: str, *, lang: str = "en-US", scope: str = "default", **fields: Any) -> Any:
    """Register a keyword intent, as a message would."""
    skill_id, intent_name = label.split(":")
    data = {"skill_id": skill_id, "intent_name": intent_name, "lang": lang, **fields}
    return pool.apply(topics.REGISTER_KEYWORD, freeze_object(data), scope)


def send(pool: KeywordPool, topic: str, label: str, scope: str = "default", **fields: Any) -> None:
    """Deregister, enable or disable an intent."""
    skill_id, intent_name = label.split(":")
    pool.apply(topic, freeze_object({"skill_id": skill_id, "intent_name": intent_name, **fields}), scope)


def ask(
    pool: KeywordPool, text: str, session: Session = HERE, lang: str = "en-US", floor: float = DEFAULT_FLOOR
) -> Spotted | str:
    """Look an utterance up."""
    return lookup_keywords(pool, text, lang, session, lambda: NOW, floor)


def label(found: Spotted | str) -> str | None:
    """Whose intent was found, or None."""
    return None if isinstance(found, str) else found.intent.label


def slots(found: Spotted | str) -> dict[str, str]:
    """The slots of what was found."""
    assert not isinstance(found, str), found
    return found.slots
