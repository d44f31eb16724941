"""Registrations as OVOS skills send them, piece by piece, put together as the specifications have them (INTENT-4)."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hark.bridges.ovos.names import entity_name, own_name, split_name
from hark.model import Message, Session
from hark.model.lang import canonical, is_tag
from hark.spec import topics
from hark.spec.names import SKILL_ID

log = logging.getLogger("hark.bridges.ovos")

KEYWORD_PIECES: Final = frozenset({"register_vocab", "register_intent"})
TEMPLATES: Final = frozenset({"padatious:register_intent", "padatious:register_entity"})
PIECES: Final = KEYWORD_PIECES | TEMPLATES
SPEC_FORMS: Final = frozenset({topics.REGISTER_KEYWORD, topics.REGISTER_TEMPLATE, topics.ENTITY_REGISTER})

MOST_OF_ONE: Final = 4_194_304
"""Bytes that one client can make its translator keep, and that are registered for it at once."""
MOST_OF_ALL: Final = 33_554_432
"""Bytes that all clients together can make theirs keep."""
OVERHEAD: Final = 300
"""Bytes that anything costs that is kept, besides its text."""
_LONGEST_EXPRESSION: Final = 2_000
"""Characters of a regular expression; no matcher takes longer ones."""
_GROUP: Final = re.compile(r"\(\?P<([^>]*)>")


class MemoryBudget:
    """How much may still be kept: by one client, and by all that share a budget with it."""

    def __init__(self, most: int = MOST_OF_ONE, shared: MemoryBudget | None = None) -> None:
        self._left = most
        self._shared = shared

    def take(self, size: int) -> bool:
        """Take so many bytes; false, with nothing taken, when there are not enough left."""
        if size > self._left or (self._shared is not None and not self._shared.take(size)):
            return False
        self._left -= size
        return True

    def give_back(self, size: int) -> None:
        self._left += size
        if self._shared is not None:
            self._shared.give_back(size)


@dataclass
class _Words:
    """A keyword of one skill in one language."""

    phrases: dict[str, None] = field(default_factory=dict)
    patterns: dict[str, None] = field(default_factory=dict)
    """Regular expressions; the group of the keyword's name is its value."""
    size: int = 0
    """Characters of both."""


@dataclass
class _KeywordIntent:
    required: tuple[str, ...]
    one_of: tuple[tuple[str, ...], ...]
    optional: tuple[str, ...]
    excluded: tuple[str, ...]

    def names(self) -> Iterable[str]:
        yield from self.required
        for group in self.one_of:
            yield from group
        yield from self.optional
        yield from self.excluded

    def size(self, name: str) -> int:
        """About the bytes it takes to keep, under this name."""
        return OVERHEAD + len(name) + sum(OVERHEAD // 4 + len(one) for one in self.names())


class LegacyRegistrations:
    """What the skills of one connection registered in the older way.

    Words and intents come as single Messages, words first or last; `pending` says what is ready to be registered.
    What a skill also registers in the specification's way is left out. What is beyond `budget` is dropped.
    """

    def __init__(self, budget: MemoryBudget | None = None) -> None:
        self._budget = budget or MemoryBudget()
        self._kept: dict[str, int] = {}
        """The bytes that are kept of each skill."""
        self._words: dict[tuple[str, str], dict[str, _Words]] = {}
        """By skill and language; the names of keywords are folded: skills write them in different ways."""
        self._intents: dict[str, dict[str, _KeywordIntent]] = {}
        self._templates: dict[tuple[str, str, str, str], Message] = {}
        """Template intents and entities that are to be registered, by topic, skill, name and language."""
        self._in_spec_form: set[tuple[str, str, str]] = set()
        """Skill, name without its ending, and folded language."""
        self._changed: set[str] = set()
        """Skills whose keyword intents are to be registered."""

    def add(self, message: Message) -> str | None:
        """Take a piece; the skill it is of."""
        data = message.data
        if message.type == "register_vocab":
            return self._add_words(message)
        if message.type == "register_intent":
            return self._add_intent(data)
        skill_id, name = split_name(str(data.get("name", "")))
        skill_id = skill_id or _text(message.context.get(SKILL_ID))
        lang, samples = data.get("lang"), data.get("samples")
        if not skill_id or not name or not isinstance(samples, tuple) or not is_tag(lang):
            log.warning("%s was dropped: its name, language or samples are missing: %.200r", message.type, dict(data))
            return None
        made: dict[str, Any] = {"skill_id": skill_id, "lang": canonical(str(lang)), "samples": list(samples)}
        if message.type == "padatious:register_intent":
            topic, made["intent_name"] = topics.REGISTER_TEMPLATE, name
            if isinstance(blacklist := data.get("blacklisted_words"), tuple) and blacklist:
                made["blacklist"] = list(blacklist)
        else:
            topic, name = topics.ENTITY_REGISTER, entity_name(name)
            made["entity_name"] = name
        key = (topic, skill_id, name, canonical(str(lang)))
        # Kept until they are registered: sent again meanwhile, they count again.
        size = OVERHEAD + sum(OVERHEAD // 4 + len(one) for one in samples if isinstance(one, str))
        if not self._keep("", size):
            return None
        self._templates[key] = Message(topic, made, {SKILL_ID: skill_id}, Session())
        return skill_id

    def seen(self, message: Message) -> None:
        """Take note of what the client registers in the specification's way itself."""
        data = message.data
        name = data.get("intent_name") or data.get("entity_name")
        one = (str(data.get("skill_id")), _bare(str(name)), str(data.get("lang")).casefold())
        if one not in self._in_spec_form and self._keep(one[0], OVERHEAD + sum(map(len, one))):
            self._in_spec_form.add(one)

    def pending(self) -> list[Message]:
        """The registrations that came together since the last call, without those that the client also sent itself."""
        made = [one for key, one in self._templates.items() if not self._is_known(key[1], key[2], key[3])]
        self._templates.clear()
        self._release("")
        # Each intent carries its words, so that a few words in many intents are many bytes.
        budget = MemoryBudget()
        for skill_id in sorted(self._changed):
            for name, intent in self._intents.get(skill_id, {}).items():
                made += self._registrations(skill_id, name, intent, budget)
        self._changed.clear()
        return made

    def close(self) -> None:
        """Give back what was kept."""
        for skill_id in list(self._kept):
            self._release(skill_id)

    def _keep(self, skill_id: str, size: int) -> bool:
        if not self._budget.take(size):
            log.warning("a registration was dropped: the client, or all together, registered as much as they may")
            return False
        self._kept[skill_id] = self._kept.get(skill_id, 0) + size
        return True

    def _release(self, skill_id: str) -> None:
        self._budget.give_back(self._kept.pop(skill_id, 0))

    def detach(self, skill_id: str, name: str | None = None) -> None:
        """Forget an intent of a skill, or all of the skill."""
        if name is not None:
            intent = self._intents.get(skill_id, {}).pop(name, None)
            if intent is not None:
                self._kept[skill_id] -= intent.size(name)
                self._budget.give_back(intent.size(name))
            return
        self._intents.pop(skill_id, None)
        self._words = {key: words for key, words in self._words.items() if key[0] != skill_id}
        self._in_spec_form = {one for one in self._in_spec_form if one[0] != skill_id}
        self._release(skill_id)

    def _is_known(self, skill_id: str, name: str, lang: str) -> bool:
        return (skill_id, _bare(name), lang.casefold()) in self._in_spec_form

    def _add_words(self, message: Message) -> str | None:
        data, skill_id = message.data, _text(message.context.get(SKILL_ID))
        lang = data.get("lang")
        if not skill_id or not is_tag(lang):
            log.warning("register_vocab was dropped: its skill or language is missing: %.200r", dict(data))
            return None
        regex, words = data.get("regex"), self._words.get((skill_id, canonical(str(lang))), {})
        if isinstance(regex, str):
            names, text = (_GROUP.findall(regex) if len(regex) <= _LONGEST_EXPRESSION else []), regex
        else:
            name, text = _text(data.get("entity_type")), _text(data.get("entity_value"))
            names = [name] if name and text else []
        if not names:
            log.warning("register_vocab of %s was dropped: it holds no word: %.200r", skill_id, dict(data))
            return None
        if isinstance(regex, str):
            text = own_groups(skill_id, regex)
        for name in names:
            folded = _folded(own_name(skill_id, name))
            kept = words.get(folded) or _Words()
            texts = kept.patterns if isinstance(regex, str) else kept.phrases
            if text not in texts:
                if not self._keep(skill_id, OVERHEAD + len(folded) + len(text)):
                    return None
                texts[text] = None
                kept.size += len(text)
                words[folded] = kept
        self._words[skill_id, canonical(str(lang))] = words
        self._changed.add(skill_id)
        return skill_id

    def _add_intent(self, data: Mapping[str, Any]) -> str | None:
        skill_id, name = split_name(_text(data.get("name")))
        if not skill_id or not name:
            log.warning("register_intent was dropped: it has no name: %.200r", dict(data))
            return None

        def names(field: str) -> tuple[str, ...]:
            return tuple(own_name(skill_id, one) for one in _entities(data.get(field)))

        groups = data.get("at_least_one")
        one_of = tuple(
            tuple(own_name(skill_id, one) for one in _entities(group))
            for group in (groups if isinstance(groups, tuple) else ())
        )
        intent = _KeywordIntent(names("requires"), one_of, names("optional"), names("excludes"))
        self.detach(skill_id, name)
        if not self._keep(skill_id, intent.size(name)):
            return None
        self._intents.setdefault(skill_id, {})[name] = intent
        self._changed.add(skill_id)
        return skill_id

    def _registrations(
        self, skill_id: str, name: str, intent: _KeywordIntent, budget: MemoryBudget
    ) -> Iterable[Message]:
        for owner, lang in list(self._words):
            if owner != skill_id or self._is_known(skill_id, name, lang):
                continue
            words = self._words[owner, lang]
            used = [words[_folded(one)] for one in intent.names() if _folded(one) in words]
            if not used:
                continue  # the skill does not speak this language
            if not budget.take(sum(one.size for one in used)):
                log.warning("intents of %s were dropped: with their words they are too large", skill_id)
                return
            payload = _payload(intent, words)
            if payload is not None:
                made = {"skill_id": skill_id, "intent_name": name, "lang": lang, **payload}
                yield Message(topics.REGISTER_KEYWORD, made, {SKILL_ID: skill_id}, Session())


def _payload(intent: _KeywordIntent, words: Mapping[str, _Words]) -> dict[str, Any] | None:
    """The vocabularies of an intent in one language; a required name without words is a context to wait for."""

    def vocabularies(named: Iterable[str]) -> list[dict[str, Any]]:
        return [_vocabulary(name, words[_folded(name)]) for name in named if _folded(name) in words]

    required, one_of = vocabularies(intent.required), [vocabularies(group) for group in intent.one_of]
    if not all(one_of) or not (required or one_of):
        return None
    waits_for = [name for name in intent.required if _folded(name) not in words]
    made = {
        "required": required,
        "one_of": one_of,
        "optional": vocabularies(intent.optional),
        "excluded": vocabularies(intent.excluded),
        "requires_context": waits_for,
    }
    return {role: value for role, value in made.items() if value}


def _vocabulary(name: str, words: _Words) -> dict[str, Any]:
    made: dict[str, Any] = {"name": name, "samples": list(words.phrases)}
    if words.patterns:
        made["patterns"] = list(words.patterns)
    return made


def _entities(value: object) -> Iterable[str]:
    """Names of keywords, each alone or with the name it is kept under."""
    for one in value if isinstance(value, tuple) else ():
        name = one[0] if isinstance(one, tuple) and one else one
        if isinstance(name, str) and name:
            yield name


def own_groups(skill_id: str, regex: str) -> str:
    """The regular expression with the skill's own names for its groups."""
    return _GROUP.sub(lambda found: f"(?P<{own_name(skill_id, found[1])}>", regex)


def _folded(name: str) -> str:
    return name.casefold()


def _bare(name: str) -> str:
    return name.removesuffix(".intent")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
