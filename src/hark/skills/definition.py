"""What a skill registers on the bus: one language of one intent, or of one entity (INTENT-4 §§5 to 7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from hark.spec import topics

Method = Literal["template", "keyword", "entity"]

_TOPICS: Final = {
    "template": topics.REGISTER_TEMPLATE,
    "keyword": topics.REGISTER_KEYWORD,
    "entity": topics.ENTITY_REGISTER,
}


@dataclass(frozen=True)
class Definition:
    """One registration. The same name, language and method again replaces it."""

    method: Method
    name: str
    """Of the intent, or of the entity."""
    lang: str
    """The tag in its usual case."""
    fields: Mapping[str, Any]
    """The payload, without what identifies it."""

    @property
    def topic(self) -> str:
        """The topic it is registered on."""
        return _TOPICS[self.method]

    def payload(self, skill_id: str) -> dict[str, Any]:
        """What is sent."""
        name = "entity_name" if self.method == "entity" else "intent_name"
        return {"skill_id": skill_id, name: self.name, "lang": self.lang, **self.fields}
