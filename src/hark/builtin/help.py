"""Telling what can be said."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from itertools import chain, zip_longest
from typing import Any, Final

from hark.builtin.asking import Asker
from hark.intents import TemplateError, expand
from hark.plugins import Turn
from hark.skills import Skill, intent
from hark.spec import topics

_EXAMPLES: Final = 5
_SLOT = re.compile(r"\{(\w+)\}")

Entry = Mapping[str, Any]
"""An intent as `ovos.intent.list` tells it."""


class HelpSkill(Skill):
    """Gives examples of what skills registered: one sentence for an intent, and something of every skill first."""

    id = "help.skill"
    quick = True

    async def start(self) -> None:
        """Get ready to ask what is registered (INTENT-4 §10)."""
        self._manifest = Asker(self.host, topics.INTENT_LIST, topics.INTENT_DESCRIBE)

    @intent("help [me]", "what can you do [for me]", "what can I (say|ask [you])", "what do you understand")
    async def what_can_you_do(self, turn: Turn) -> str:
        """A few sentences to try."""
        examples: dict[str, None] = {}
        async for example in self._examples(turn):
            examples[f'"{example}"'] = None
            if len(examples) == _EXAMPLES:
                break
        if not examples:
            return "I know of nothing that you could ask me."
        *others, last = examples
        return f"You can say {', '.join(others)} or {last}." if others else f"You can say {last}."

    async def _examples(self, turn: Turn) -> AsyncIterator[str]:
        """An example for each intent the session can reach."""
        query = turn.derive(topics.INTENT_LIST, {"session_id": turn.session.session_id})
        answer = await self._manifest.ask(query)
        if answer is None:
            return
        listed = answer.data.get("intents", ())
        reachable = [one for one in listed if one["enabled"] and one["skill_id"] != self.id]
        for one in _in_turn(_best(reachable, turn.lang)):
            wanted = {key: value for key, value in one.items() if key != "enabled"}
            described = await self._manifest.ask(turn.derive(topics.INTENT_DESCRIBE, wanted))
            for told in described.data.get("definitions", ()) if described is not None else ():
                if example := _example(told["definition"], told["method"]):
                    yield example


def _best(entries: Iterable[Entry], lang: str) -> Iterator[Entry]:
    """One entry for each intent in this language: of the very tag rather than of a near one, and sentences rather than
    keywords."""
    chosen: dict[tuple[str, str], tuple[tuple[bool, bool], Entry]] = {}
    for entry in entries:
        if _primary(entry["lang"]) == _primary(lang):
            worse = (entry["lang"] != lang, entry["method"] != "template")
            name = (entry["skill_id"], entry["intent_name"])
            if name not in chosen or worse < chosen[name][0]:
                chosen[name] = (worse, entry)
    return (entry for _, entry in chosen.values())


def _in_turn(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The first of every skill ahead of the second of any."""
    by_skill: dict[str, list[Entry]] = {}
    for entry in entries:
        by_skill.setdefault(entry["skill_id"], []).append(entry)
    return (entry for entry in chain.from_iterable(zip_longest(*by_skill.values())) if entry is not None)


def _example(definition: Mapping[str, Any], method: str) -> str:
    """Something that may be said for an intent; nothing when its definition cannot be read."""
    if method == "template":
        return _SLOT.sub(lambda slot: f"some {slot[1].replace('_', ' ')}", _shortest(definition.get("samples")))
    try:
        groups = [group[0] for group in definition.get("one_of", ())]
        said = [_shortest(vocabulary["samples"]) for vocabulary in (*definition.get("required", ()), *groups)]
    except (TypeError, LookupError):
        return ""
    return " ".join(said) if all(said) else ""


def _shortest(samples: Any) -> str:
    """The shortest sentence of the first sample that can be read; nothing when there is none."""
    for sample in samples if isinstance(samples, tuple) else ():
        try:
            return min(expand(sample), key=len)
        except (TemplateError, TypeError):
            continue
    return ""


def _primary(lang: str) -> str:
    return lang.partition("-")[0].lower()
