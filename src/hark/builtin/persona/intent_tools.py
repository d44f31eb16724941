"""The intents of skills as tools of a model: described from what skills register, called as turns of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from hark.builtin.persona.answers import AwaitedAnswers
from hark.builtin.persona.tools import Arguments, ToolError, ToolOffer, as_text, defined, shortened
from hark.intents import TemplateError, expand
from hark.intents.locale import nearest
from hark.plugins import Host, Message, Session, Turn
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.spec.names import TOOL_TURN

_FOLLOWED: Final = (
    topics.REGISTER_TEMPLATE,
    topics.REGISTER_KEYWORD,
    topics.ENTITY_REGISTER,
    topics.INTENT_DEREGISTER,
    topics.SKILL_DEREGISTER,
    topics.INTENT_ENABLE,
    topics.INTENT_DISABLE,
)
"""The topics by which it is known what skills there are."""

_SAID: Final = (topics.TOOL_SAID, topics.UTTERANCE_SPEAK)
_NOT_OF_A_TOOL: Final = ("skill_id", "pipeline_id", "utterance_id")
"""Context keys of the turn of the persona that are not of the turns it causes."""
_MOST_SAID: Final = 100
"""Sentences of one skill that are passed on to the model."""
_SLOT: Final = re.compile(r"\{(?:\w+:)?(\w+)\}")
_MOST_REGISTERED: Final = 2_000
_MOST_VALUES: Final = 20
"""Values of a slot that are listed."""
_MOST_SENTENCES: Final = 200
"""Sentences of a template among which one is chosen."""


@dataclass(frozen=True)
class IntentTool:
    """An intent in one language."""

    skill_id: str
    intent_name: str
    payload: Mapping[str, Any]
    values: Mapping[str, Sequence[str]]
    """What the slots may hold, as far as the skill says so."""
    dangerous: bool
    """Whether its author marked it so."""

    @property
    def topic(self) -> str:
        return f"{self.skill_id}:{self.intent_name}"

    def description(self) -> str:
        """The docstring of the handler, and what the user would say."""
        said = self.payload.get("description")
        example = next(self._sentences(), "")
        shown = f'Like saying: "{example}"' if example else ""
        about = said if isinstance(said, str) else ""
        return f"{about} {shown}".strip() or f"{self.skill_id} {self.intent_name}"

    def parameters(self) -> dict[str, Any]:
        """The JSON Schema of its slots."""
        required = list(self._names("required_slots"))
        properties: dict[str, Any] = {}
        for slot in self._slots():
            properties[slot] = {"type": "string"}
            known = self.values.get(slot, ())
            if 0 < len(known) <= _MOST_VALUES:
                properties[slot]["description"] = f"for example: {', '.join(known)}"
        for vocabulary in _vocabularies(self.payload.get("required")):
            required.append(vocabulary["name"])
        schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
        needed = [slot for slot in dict.fromkeys(required) if slot in properties]
        return {**schema, "required": needed} if needed else schema

    def said_with(self, slots: Mapping[str, str]) -> str:
        """What the user would have said: a sentence of the intent with these slots; else its name."""
        for sentence in self._sentences():
            if set(_SLOT.findall(sentence)) == slots.keys():
                return _SLOT.sub(lambda found: slots[found[1]], sentence)
        words = re.sub(r"[._-]+", " ", self.intent_name)
        return " ".join([words, *slots.values()])

    def _slots(self) -> list[str]:
        found = [slot for sample in self._names("samples") for slot in _SLOT.findall(sample)]
        for key in ("required", "optional"):
            found += [one["name"] for one in _vocabularies(self.payload.get(key))]
        for group in self.payload.get("one_of") or ():
            found += [one["name"] for one in _vocabularies(group)]
        return list(dict.fromkeys(found))

    def _sentences(self) -> Iterator[str]:
        for sample in self._names("samples"):
            try:
                yield from islice(expand(sample), _MOST_SENTENCES)
            except (TemplateError, ValueError):  # it refers to words that are not known here
                continue

    def _names(self, key: str) -> Sequence[str]:
        found = self.payload.get(key)
        return [one for one in found if isinstance(one, str)] if isinstance(found, (tuple, list)) else ()


def _vocabularies(found: Any) -> list[Mapping[str, Any]]:
    """The vocabularies of a keyword intent, as far as they are what they should be."""
    if not isinstance(found, (tuple, list)):
        return []
    return [one for one in found if isinstance(one, Mapping) and isinstance(one.get("name"), str)]


class IntentTools:
    """Follows what skills register, and has intents handled. See `OfferedTools`."""

    def __init__(self, host: Host, answers: AwaitedAnswers, private: frozenset[str]) -> None:
        self._host = host
        self._answers = answers
        self._private = private
        self._registered: dict[tuple[str, str, str], dict[str, Mapping[str, Any]]] = {}
        """By session, skill and intent: the registration in each language."""
        self._values: dict[tuple[str, str, str], Sequence[str]] = {}
        """By skill, entity and language."""
        self._disabled: set[tuple[str, str, str]] = set()
        self._dangerous: set[tuple[str, str]] = set()
        """Skill and intent of those that were once said to be dangerous: no later registration makes them harmless."""
        self._made: dict[tuple[str, str, str, str], ToolOffer] = {}
        """The offers, by session, skill, intent and language: to make a hundred takes longer than a turn may wait."""
        host.on(_FOLLOWED, self._follow)

    def _follow(self, message: Message) -> None:
        """Take in a registration."""
        data, scope = message.data, message.session_id
        skill_id, name, lang = data.get("skill_id"), data.get("intent_name"), data.get("lang")
        if not isinstance(skill_id, str):
            return
        self._made.clear()
        if message.type == topics.SKILL_DEREGISTER:
            self._registered = {key: one for key, one in self._registered.items() if key[:2] != (scope, skill_id)}
            self._disabled = {key for key in self._disabled if key[:2] != (scope, skill_id)}
            self._values = {key: one for key, one in self._values.items() if key[0] != skill_id}
        elif message.type == topics.ENTITY_REGISTER:
            entity, samples = data.get("entity_name"), data.get("samples")
            if isinstance(entity, str) and isinstance(samples, tuple) and len(self._values) < _MOST_REGISTERED:
                self._values[skill_id, entity, str(lang)] = [one for one in samples if isinstance(one, str)]
        elif isinstance(name, str):
            self._follow_intent(message.type, (scope, skill_id, name), data)

    def _follow_intent(self, topic: str, key: tuple[str, str, str], data: Mapping[str, Any]) -> None:
        lang = data.get("lang")
        if topic == topics.INTENT_DISABLE:
            if len(self._disabled) < _MOST_REGISTERED:
                self._disabled.add(key)
        elif topic == topics.INTENT_ENABLE:
            self._disabled.discard(key)
        elif topic == topics.INTENT_DEREGISTER:
            langs = self._registered.get(key, {})
            langs.pop(str(lang), None) if lang is not None else langs.clear()
            if not langs:
                self._registered.pop(key, None)
        elif isinstance(lang, str) and (key in self._registered or len(self._registered) < _MOST_REGISTERED):
            self._registered.setdefault(key, {})[lang] = data
            if data.get("dangerous") is True:
                self._dangerous.add(key[1:])

    def offers(self, session: Session, lang: str) -> Iterator[ToolOffer]:
        """The intents that can be called in a session, in the language nearest to `lang`."""
        scopes = dict.fromkeys((DEFAULT_SESSION_ID, session.session_id))
        denied, intents = self._private.union(session.blacklisted_skills or ()), session.blacklisted_intents or ()
        for (scope, skill_id, name), langs in self._registered.items():
            if scope not in scopes or skill_id in denied or f"{skill_id}:{name}" in intents:
                continue
            if any((one, skill_id, name) in self._disabled for one in scopes):
                continue
            chosen = next(iter((*nearest(lang, langs), *langs)), None)
            if chosen is None or langs[chosen].get("requires_context"):
                continue  # what only makes sense after something else was said is no tool
            key = scope, skill_id, name, chosen
            if key not in self._made:
                self._made[key] = self._offer(self._tool(*key))
            yield self._made[key]

    def _tool(self, scope: str, skill_id: str, name: str, lang: str) -> IntentTool:
        values = {
            entity: samples
            for (owner, entity, tag), samples in self._values.items()
            if (owner, tag) == (skill_id, lang)
        }
        payload = self._registered[scope, skill_id, name][lang]
        return IntentTool(skill_id, name, payload, values, (skill_id, name) in self._dangerous)

    def _offer(self, tool: IntentTool) -> ToolOffer:
        parameters = tool.parameters()

        def slots(arguments: Arguments) -> dict[str, str]:
            if unknown := ", ".join(arguments.keys() - parameters["properties"].keys()):
                raise ToolError(f"there is no parameter {unknown[:100]}")
            return {name: as_text(value) for name, value in arguments.items() if value not in (None, "")}

        def described(arguments: Arguments) -> str:
            return tool.said_with(shortened(slots(arguments)))

        async def call(arguments: Arguments, turn: Turn) -> str:
            return await self._turn_of(tool, slots(arguments), turn)

        name = f"{tool.skill_id.removesuffix('.skill')}-{tool.intent_name}"
        definition = defined(name, tool.description(), parameters)
        return ToolOffer(definition, tool.topic, tool.dangerous, described, call)

    async def _turn_of(self, tool: IntentTool, slots: Mapping[str, str], turn: Turn) -> str:
        """Have an intent handled in a turn of its own, so that everything holds that holds for what a user says; what
        the skill said.
        """
        named = {"skill_id": tool.skill_id, "intent_name": tool.intent_name, "slots": dict(slots)}
        data = {"utterances": [tool.said_with(slots)], "lang": turn.lang, "intent": named}
        heard: list[Message] = []
        context = {TOOL_TURN: tool.topic, **dict.fromkeys(_NOT_OF_A_TOOL)}
        marker = await self._answers.end_of(turn.derive(topics.UTTERANCE_HANDLE, data), heard.append, **context)
        if marker.session is not None:
            turn.session = marker.session  # the next call goes on in the session as this one left it
        if "skill_id" not in marker.context:
            raise ToolError("it cannot be done now: a slot is missing, or the intent is switched off or denied")
        said = [message.data.get("utterance") for message in heard if message.type in _SAID]
        answer = " ".join([text for text in said if isinstance(text, str)][:_MOST_SAID])
        if any(message.type == topics.HANDLER_ERROR for message in heard):
            raise ToolError(f"{answer} The skill failed; it was not done, or not all of it.".strip())
        return answer or "Done."
