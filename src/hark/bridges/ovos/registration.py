"""Registrations as OVOS skills send them, piece by piece, put together as the specifications have them (INTENT-4)."""

from __future__ import annotations

import logging
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


@dataclass
class _Words:
    """A keyword of one skill in one language."""

    phrases: dict[str, None] = field(default_factory=dict)
    patterns: dict[str, None] = field(default_factory=dict)
    """Regular expressions; the group of the keyword's name is its value."""


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


class LegacyRegistrations:
    """What the skills of one connection registered in the older way.

    Words and intents come as single Messages, words first or last; `pending` says what is ready to be registered.
    What a skill also registers in the specification's way is left out.
    """

    def __init__(self) -> None:
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
        self._templates[topic, skill_id, name, canonical(str(lang))] = Message(
            topic, made, {SKILL_ID: skill_id}, Session()
        )
        return skill_id

    def seen(self, message: Message) -> None:
        """Take note of what the client registers in the specification's way itself."""
        data = message.data
        name = data.get("intent_name") or data.get("entity_name")
        self._in_spec_form.add((str(data.get("skill_id")), _bare(str(name)), str(data.get("lang")).casefold()))

    def pending(self) -> list[Message]:
        """The registrations that came together since the last call, without those that the client also sent itself."""
        made = [one for key, one in self._templates.items() if not self._is_known(key[1], key[2], key[3])]
        self._templates.clear()
        for skill_id in sorted(self._changed):
            for name, intent in self._intents.get(skill_id, {}).items():
                made += self._registrations(skill_id, name, intent)
        self._changed.clear()
        return made

    def detach(self, skill_id: str, name: str | None = None) -> None:
        """Forget an intent of a skill, or all of the skill."""
        if name is not None:
            self._intents.get(skill_id, {}).pop(name, None)
            return
        self._intents.pop(skill_id, None)
        self._words = {key: words for key, words in self._words.items() if key[0] != skill_id}
        self._in_spec_form = {one for one in self._in_spec_form if one[0] != skill_id}

    def _is_known(self, skill_id: str, name: str, lang: str) -> bool:
        return (skill_id, _bare(name), lang.casefold()) in self._in_spec_form

    def _add_words(self, message: Message) -> str | None:
        data, skill_id = message.data, _text(message.context.get(SKILL_ID))
        lang = data.get("lang")
        if not skill_id or not is_tag(lang):
            log.warning("register_vocab was dropped: its skill or language is missing: %.200r", dict(data))
            return None
        words = self._words.setdefault((skill_id, canonical(str(lang))), {})
        regex = data.get("regex")
        if isinstance(regex, str):
            for name in named_groups(regex):
                kept = words.setdefault(_folded(own_name(skill_id, name)), _Words())
                kept.patterns[own_groups(skill_id, regex)] = None
        else:
            name, phrase = _text(data.get("entity_type")), _text(data.get("entity_value"))
            if not name or not phrase:
                log.warning("register_vocab of %s was dropped: it holds no word: %.200r", skill_id, dict(data))
                return None
            words.setdefault(_folded(own_name(skill_id, name)), _Words()).phrases[phrase] = None
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
        self._intents.setdefault(skill_id, {})[name] = intent
        self._changed.add(skill_id)
        return skill_id

    def _registrations(self, skill_id: str, name: str, intent: _KeywordIntent) -> Iterable[Message]:
        for owner, lang in list(self._words):
            if owner != skill_id or self._is_known(skill_id, name, lang):
                continue
            words = self._words[owner, lang]
            if not any(_folded(one) in words for one in intent.names()):
                continue  # the skill does not speak this language
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


def named_groups(regex: str) -> list[str]:
    """The names of the groups of a regular expression, without compiling it."""
    return [part.partition(">")[0] for part in regex.split("(?P<")[1:]]


def own_groups(skill_id: str, regex: str) -> str:
    """The regular expression with the skill's own names for its groups."""
    for name in named_groups(regex):
        regex = regex.replace(f"(?P<{name}>", f"(?P<{own_name(skill_id, name)}>")
    return regex


def _folded(name: str) -> str:
    return name.casefold()


def _bare(name: str) -> str:
    return name.removesuffix(".intent")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
