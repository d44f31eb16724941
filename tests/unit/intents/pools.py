"""Making and asking pools, for the tests of this room."""

from __future__ import annotations

from typing import Any

from hark.intents import NORMAL, Found, TemplatePool, lookup
from hark.model import Session
from hark.model.frozen import freeze_object
from hark.spec import topics

NOW = 1_000.0
HERE = Session()


def register(
    pool: TemplatePool, label: str, *samples: str, lang: str = "en-US", scope: str = "default", **riders: Any
) -> Any:
    """Register a template intent, as a message would."""
    skill_id, intent_name = label.split(":")
    data = {"skill_id": skill_id, "intent_name": intent_name, "lang": lang, "samples": list(samples), **riders}
    return pool.apply(topics.REGISTER_TEMPLATE, freeze_object(data), scope)


def send(pool: TemplatePool, topic: str, label: str, scope: str = "default", **fields: Any) -> None:
    """Deregister, enable or disable an intent."""
    skill_id, intent_name = label.split(":")
    pool.apply(topic, freeze_object({"skill_id": skill_id, "intent_name": intent_name, **fields}), scope)


def entity(
    pool: TemplatePool, skill_id: str, name: str, *samples: str, lang: str = "en-US", scope: str = "default"
) -> None:
    """Register values of a slot."""
    data = {"skill_id": skill_id, "entity_name": name, "lang": lang, "samples": list(samples)}
    pool.apply(topics.ENTITY_REGISTER, freeze_object(data), scope)


def ask(
    pool: TemplatePool, text: str, session: Session = HERE, lang: str = "en-US", floor: float = NORMAL
) -> Found | str:
    """Look an utterance up."""
    return lookup(pool, text, lang, session, lambda: NOW, floor)


def label(found: Found | str) -> str | None:
    """Whose intent was found, or None."""
    return None if isinstance(found, str) else found.intent.label


def slots(found: Found | str) -> dict[str, str]:
    """The slots of what was found."""
    assert not isinstance(found, str), found
    return found.slots
