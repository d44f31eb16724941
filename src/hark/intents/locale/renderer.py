"""Rendering a dialog: one of its phrases with its slots filled (INTENT-2 §4.2); and filling prompts (§4.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from random import Random
from threading import Lock
from typing import Any, Final, NamedTuple

from hark.intents.grammar import Choice, Literal, Node, Sequence, Slot, Template, Vocabularies
from hark.intents.locale.files import MissingResource, Role, UnfilledSlot
from hark.intents.locale.locale import Language, Locale


def phrase(
    template: Template, vocabularies: Vocabularies, random: Random, left_out: Set[str] = frozenset()
) -> str | None:
    """A sentence of `template`, slots as `{name}`, each choice left to `random`.

    None of the slots in `left_out` is in it; None when there is no such sentence.
    """
    said: dict[Node, str | None] = {}
    for node in template.nodes:  # parts come ahead of the whole
        if isinstance(node, Literal):
            said[node] = node.text
        elif isinstance(node, Slot):
            said[node] = None if node.name in left_out else f"{{{node.name}}}"
        elif isinstance(node, Sequence):
            said[node] = _joined([said[part] for part in node.parts])
        elif isinstance(node, Choice):
            possible = [text for branch in node.branches if (text := said[branch]) is not None]
            said[node] = random.choice(possible) if possible else None
        else:
            said[node] = random.choice(vocabularies.members(node.name))
    text = said[template.root]
    return None if text is None else " ".join(text.split())


def _joined(parts: list[str | None]) -> str | None:
    texts = [part for part in parts if part is not None]
    return "".join(texts) if len(texts) == len(parts) else None


_SLOT: Final = re.compile(r"\{(\w+)\}")
_PROMPT_SLOT: Final = re.compile(r"\{\{([a-z_][a-z0-9_]*)\}\}")
_TRIES: Final = 4
_VARIETY: Final = Random()  # noqa: S311 - nothing but variety depends on it
_Key = tuple[str, str]
"""Language and dialog."""


class Rendered(NamedTuple):
    """Text to be spoken."""

    text: str
    lang: str
    """The language of the text, which may not be the requested one."""


class Renderer:
    """Renders the dialogs of a locale. The phrases of a dialog take turns in random order, none twice in a row."""

    def __init__(self, locale: Locale, fallback_lang: str = "", random: Random | None = None) -> None:
        """The order depends on `random` only. `fallback_lang` is used when a dialog is in no near language."""
        self.locale = locale
        self._fallback_lang = fallback_lang
        self._random = random or _VARIETY
        self._unsaid: dict[_Key, list[int]] = {}
        """The phrases that are left in this round, the next one first."""
        self._said: dict[_Key, tuple[int, str]] = {}
        """The phrase that was rendered last: its number and its text."""
        self._lock = Lock()  # handlers speak from several threads

    def render(self, name: str, lang: str, values: Mapping[str, Any] | None = None) -> Rendered:
        """A phrase of the dialog `name` with its slots filled from `values`, in `lang` or the nearest language that has
        it.

        Every slot needs a value; None leaves out the optional part the slot stands in. Raises `UnfilledSlot`,
        `MissingResource` or `MalformedResource`.
        """
        language = self._find(Role.DIALOG, name, lang)
        given = values or {}
        self._check_filled(language, name, given)
        with self._lock:
            text = self._choose(language, name, frozenset(slot for slot, value in given.items() if value is None))
        return Rendered(_SLOT.sub(lambda slot: str(given[slot[1]]), text), language.tag)

    def prompt(self, name: str, lang: str, values: Mapping[str, Any] | None = None) -> str:
        """The prompt `name` with each `{{slot}}` that has a value filled in; everything else stays as it is written."""
        return fill_prompt(self._find(Role.PROMPT, name, lang).prompt(name), values or {})

    def _find(self, role: Role, name: str, lang: str) -> Language:
        try:
            return self.locale.find(role, name, lang)
        except MissingResource:
            fallback = self.locale.language(self._fallback_lang) if self._fallback_lang else None
            if fallback is None or not fallback.has(role, name):
                raise
            return fallback

    def _check_filled(self, language: Language, name: str, values: Mapping[str, Any]) -> None:
        # All phrases of a dialog have the same slots, so this raises for all of them or for none.
        for slot in language.templates(Role.DIALOG, name)[0].slots:
            if slot not in values:
                raise self._unfilled(language, name, 0, slot)

    def _choose(self, language: Language, name: str, left_out: frozenset[str]) -> str:
        templates = language.templates(Role.DIALOG, name)
        key = language.tag, name
        for number in self._order(key, len(templates)):
            text = self._phrase(language, templates[number], left_out, self._said.get(key, (-1, ""))[1])
            if text is not None:
                self._said[key] = number, text
                if number in self._unsaid[key]:
                    self._unsaid[key].remove(number)
                return text
        slot = next(slot for slot in templates[0].slots if slot in left_out)
        raise self._unfilled(language, name, 0, slot)

    def _order(self, key: _Key, count: int) -> list[int]:
        """The phrases in the order to try them: those that are left in this round first."""
        if not self._unsaid.get(key):
            self._unsaid[key] = self._random.sample(range(count), count)
            if count > 1 and self._unsaid[key][0] == self._said.get(key, (-1, ""))[0]:
                self._unsaid[key].reverse()
        unsaid = self._unsaid[key]
        return unsaid + [number for number in range(count) if number not in unsaid]

    def _phrase(self, language: Language, template: Template, left_out: frozenset[str], last: str) -> str | None:
        text = phrase(template, language.vocabularies, self._random, left_out)
        for _ in range(_TRIES):
            if text != last:
                break
            text = phrase(template, language.vocabularies, self._random, left_out)
        return text

    def _unfilled(self, language: Language, name: str, number: int, slot: str) -> UnfilledSlot:
        line = language.lines(Role.DIALOG, name)[number]
        return UnfilledSlot(slot, name, language.path(Role.DIALOG, name), line.number)


def fill_prompt(text: str, values: Mapping[str, Any]) -> str:
    """`text` with `{{name}}` replaced where `values` has `name`. Nothing else is touched: not `{name}`, not JSON."""
    return _PROMPT_SLOT.sub(lambda slot: str(values[slot[1]]) if slot[1] in values else slot[0], text)
