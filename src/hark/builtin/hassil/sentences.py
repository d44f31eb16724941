"""The sentences of one language, and recognising them with hassil."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from hark.builtin.hassil.answers import Answers
from hark.builtin.hassil.files import need


@dataclass(frozen=True, slots=True)
class Recognized:
    """What hassil makes of an utterance."""

    intent: str
    slots: Mapping[str, str]
    response: str
    """The key of the response that the sentences name for it."""


class Sentences:
    """Sentences, rules and lists of one language, compiled."""

    def __init__(self, lang: str, data: dict[str, Any]) -> None:
        intents = need("hassil.intents")
        self._recognize = need("hassil.recognize").recognize_best
        self._list_from = intents.TextSlotList.from_strings
        data.setdefault("intents", {})
        data["language"] = lang
        self._intents = intents.Intents.from_dict(data)
        self.answers = Answers(data.get("responses"))
        # Lists that Home Assistant fills when it runs (names, areas, floors) have to exist, or nothing is recognised.
        self._values: dict[str, Any] = {name: self._list_from([], name=name) for name in self._missing_lists()}
        # Hassil builds its indexes on first use, in two steps that others must not see the first of.
        self._using = Lock()

    @property
    def names(self) -> list[str]:
        """The intents."""
        return list(self._intents.intents)

    def set_values(self, list_name: str, values: Iterable[str]) -> None:
        """Let a list have these values instead of those it has."""
        made = self._list_from(values, allow_template=False, name=list_name)
        with self._using:
            self._values = {**self._values, list_name: made}

    def recognize(self, text: str, context: Mapping[str, str]) -> Recognized | None:
        """The best fit, or None."""
        with self._using:
            found = self._recognize(
                text, self._intents, slot_lists=self._values, intent_context=dict(context), best_slot_name="name"
            )
        if found is None:
            return None
        slots = {name: _text(entity.value, entity.text) for name, entity in found.entities.items()}
        return Recognized(found.intent.name, slots, str(found.response or ""))

    def _missing_lists(self) -> set[str]:
        rules, known = self._intents.expansion_rules, self._intents.slot_lists
        named: set[str] = set()
        for intent in self._intents.intents.values():
            for data in intent.data:
                own = {**rules, **data.expansion_rules}
                for sentence in data.sentences:
                    references = sentence.expression.list_references(own)
                    named |= {one.list_name for one in references if not one.is_inline_range} - set(data.slot_lists)
        return named - set(known)


def _text(value: Any, said: str) -> str:
    """A slot's value as text; of several values, each after a comma."""
    if value is None:
        return said.strip()
    if isinstance(value, (list, tuple, set)):
        return ",".join(str(part) for part in value)
    return str(value).strip()
