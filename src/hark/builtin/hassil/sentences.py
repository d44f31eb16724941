"""Hassil's sentences of one language: where they come from, recognising them, and their plain answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, Final

from hark import hints

_KINDS: Final = (".yaml", ".yml", ".json")
_MOST_ALIASES: Final = 20
"""Nested aliases double with each level, or worse; Home Assistant's files have none."""


def import_extra(module: str) -> Any:
    """A module of the extra; raises `RuntimeError` that names it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise RuntimeError(f"{error.name} is not installed: {hints.install_extra('hassil')}") from error


def read(package: Iterable[str], paths: Iterable[str]) -> dict[str, dict[str, Any]]:
    """All sentences by language, merged as hassil merges them; files come after the package.

    Raises `ValueError` with the file that cannot be used, or `OSError`.
    """
    merge = import_extra("hassil.util").merge_dict
    found: dict[str, dict[str, Any]] = {}
    for tag in package:
        data = import_extra("home_assistant_intents").get_intents(tag)
        if data is None:
            raise ValueError(f"home-assistant-intents has no language {tag!r}")
        merge(found.setdefault(tag.lower(), {}), data)
    for path in (file for name in paths for file in _files(Path(name).expanduser())):
        data = _load(path)
        lang = data.get("language") if isinstance(data, dict) else None
        if not isinstance(lang, str):
            raise ValueError(f"{path} states no language; hassil's files begin with 'language: en'")
        try:
            merge(found.setdefault(lang.lower(), {}), data)
        except AssertionError as error:
            raise ValueError(f"{path} does not fit the other files: {error}") from error
    return found


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(file for file in path.rglob("*") if file.suffix in _KINDS)
    else:
        yield path


def _load(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    yaml = import_extra("yaml")
    try:
        if path.suffix == ".json":
            return json.loads(text)
        if sum(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text)) > _MOST_ALIASES:
            raise ValueError(f"{path} cannot be read: it has more than {_MOST_ALIASES} aliases")
        return yaml.safe_load(text)
    except RecursionError:
        raise ValueError(f"{path} cannot be read: it is nested too deep") from None
    except (json.JSONDecodeError, yaml.YAMLError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error


_FILLED: Final = re.compile(r"\{\{\s*slots\.(\w+)\s*\}\}")


class ResponseTexts:
    """The responses of one language."""

    def __init__(self, responses: Any) -> None:
        intents = responses.get("intents") if isinstance(responses, Mapping) else None
        self._texts: Mapping[str, Any] = intents if isinstance(intents, Mapping) else {}

    def text(self, intent: str, key: str, slots: Mapping[str, str]) -> str | None:
        """The answer to an intent, or None when there is none that is only text and slots that are filled."""
        own = self._texts.get(intent)
        text = own.get(key) if isinstance(own, Mapping) else None
        if not isinstance(text, str) or any(name not in slots for name in _FILLED.findall(text)):
            return None
        if "{{" in _FILLED.sub("", text) or "{%" in text:
            return None
        return _FILLED.sub(lambda found: slots[found[1]], text).strip() or None


@dataclass(frozen=True, slots=True)
class Recognized:
    """An utterance that hassil recognised."""

    intent: str
    slots: Mapping[str, str]
    response: str
    """The key of the response that the sentences name for it."""


class Sentences:
    """Sentences, rules and lists of one language, compiled."""

    def __init__(self, lang: str, data: dict[str, Any]) -> None:
        intents = import_extra("hassil.intents")
        self._recognize = import_extra("hassil.recognize").recognize_best
        self._list_from = intents.TextSlotList.from_strings
        data.setdefault("intents", {})
        data["language"] = lang
        self._intents = intents.Intents.from_dict(data)
        self.answers = ResponseTexts(data.get("responses"))
        # Lists that Home Assistant fills at runtime (names, areas, floors) have to exist, or nothing is recognised.
        self._values: dict[str, Any] = {name: self._list_from([], name=name) for name in self._missing_lists()}
        # Hassil builds its indexes on first use, in two steps between which other threads must not read them.
        self._using = Lock()

    @property
    def names(self) -> list[str]:
        """The intents."""
        return list(self._intents.intents)

    def set_values(self, list_name: str, values: Iterable[str]) -> None:
        """Replace the values of a list."""
        made = self._list_from(values, allow_template=False, name=list_name)
        with self._using:
            self._values = {**self._values, list_name: made}

    def recognize(self, text: str, context: Mapping[str, str]) -> Recognized | None:
        """What hassil recognises best, or None."""
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
