"""Commands to personas, in the sentences of the locale folder: summon, release, ask, list, check (PERSONA-1 §5)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from hark.intents import STRICT, Found, TemplatePool, lookup, words
from hark.intents.locale import Locale, MissingResource, Role
from hark.plugins import Session
from hark.spec import topics

_COMMANDS: Final = ("summon", "release", "ask", "list", "check")
_OWNER: Final = "persona"
_NOT_SAID: Final = re.compile(r"[^\w'’-]+")  # noqa: RUF001 - as people write names


@dataclass(frozen=True)
class PersonaCommand:
    """A command as it was understood."""

    name: str
    said: str
    """The candidate of the utterance that it is."""
    spoken: str = ""
    """The persona as it was called; empty where none was."""
    persona: str | None = None
    """The persona that is meant, if there is one of that name."""
    query: str = ""
    """What is to be asked."""


class PersonaCommands:
    """Understands commands, as they are written and in no other words."""

    def __init__(self, locale: Locale, langs: Collection[str], wall: Callable[[], float]) -> None:
        self._langs = langs
        self._wall = wall
        self._names: dict[str, str] = {}
        """The personas by their names as they are said."""
        self._pool = TemplatePool()
        for lang in langs:
            for command in _COMMANDS:
                try:
                    samples = locale.find(Role.INTENT, command, lang).inlined(Role.INTENT, command)
                except MissingResource:
                    continue
                data = {"skill_id": _OWNER, "intent_name": command, "lang": lang, "samples": list(samples)}
                self._pool.apply(topics.REGISTER_TEMPLATE, data, "default")

    def know(self, personas: Iterable[str]) -> None:
        """These are the personas that can be named."""
        self._names = {}
        for persona in personas:
            if spoken := _words(persona):
                self._names.setdefault(spoken, persona)
        for lang in self._langs:
            data = {"skill_id": _OWNER, "entity_name": "persona", "lang": lang, "samples": list(self._names)}
            self._pool.apply(topics.ENTITY_REGISTER, data, "default")

    def find(self, utterances: Sequence[str], lang: str) -> PersonaCommand | None:
        """The command in the first candidate that is one."""
        for said in utterances:
            found = lookup(self._pool, said, lang, Session(), self._wall, STRICT)
            if isinstance(found, Found):
                slots = {name: value for name, value in found.slots.items() if isinstance(value, str)}
                spoken, query = slots.get("persona", ""), slots.get("query", "")
                if query:
                    query = _after(spoken, said) or query
                return PersonaCommand(found.intent.intent_name, said, spoken, self._names.get(_words(spoken)), query)
        return None


def _after(spoken: str, said: str) -> str:
    """What follows a name: the word between name and question belongs to the question, "what" or "why"."""
    found = re.search(r"\W+".join(map(re.escape, spoken.split())), said, re.IGNORECASE)
    return said[found.end() :].strip(" ,:") if found is not None else ""


def _words(name: str) -> str:
    """A name as it is said: "Dr. Who" without its full stop."""
    return " ".join(words(_NOT_SAID.sub(" ", name)))
