"""The tools of a persona: toolboxes on the bus, the intents of skills, and what skills look things up in."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import count
from typing import Any, Final
from unicodedata import category

from hark.builtin.persona.intent_tools import FOLLOWED, IntentTool, IntentTools
from hark.builtin.persona.tools import ToolDefinition, ToolError, ToolLimits
from hark.intents.locale import Renderer
from hark.plugins import Host, Message, Session, Turn
from hark.spec import topics
from hark.spec.names import TOOL_TURN

_CALL: Final = "hark_tool_call"
"""Context key by which an answer is known: TOOLS-1 has none."""
_NOT_OF_A_TOOL: Final = ("skill_id", "pipeline_id", "utterance_id")
"""Context keys of the turn of the persona that are not of the turns it causes."""
_STALE: Final = 60.0
"""Seconds after which toolboxes are looked for again, at the next turn; changes here are known at once."""
_ANSWERED: Final = 1.0
"""Seconds after which a toolbox that has not answered is gone."""
_NAME: Final = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_NAME: Final = 64
_LONGEST_DESCRIPTION: Final = 1_024
"""Characters that endpoints accept."""
_LONGEST_SPOKEN: Final = 400
"""Characters of what is said about a dangerous call: a user has to understand it, so what needs more is not done."""
_LONGEST_VALUES: Final = 240
_LONGEST_VALUE: Final = 60
"""Characters of all its arguments, and of one of them: a long one does not hide the others."""
_LOOKED_UP: Final = 8.0
"""Seconds for the skills that know facts."""
_CLAIMED: Final = 0.5
"""Seconds in which they say whether they could know."""
_OF_SOURCES: Final = (topics.COMMON_QUERY_PONG, topics.COMMON_QUERY_RESPONSE)
_MOST_BOXES: Final = 100
_MOST_SAID: Final = 100
"""Sentences of one skill that are passed on to the model."""

LOOK_UP: Final = "look_up"


@dataclass(frozen=True)
class _Offer:
    """A tool that was offered: what the model sees, what it stands for, and how it is called."""

    definition: ToolDefinition
    full_name: str
    """As settings and traces name it."""
    asks: Callable[[Mapping[str, Any]], str] | None
    """What to ask the user about before it is called, for a dangerous one."""
    call: Callable[[Mapping[str, Any], Turn], Awaitable[str]]


class Toolset:
    """Everything a model may call. See `ToolSource`.

    Whether a call is dangerous, and what the user is asked about it, is decided here: no text that the model has read,
    from whichever tool, page or skill, has any part in it.
    """

    def __init__(self, host: Host, limits: ToolLimits, dialogs: Renderer, private: Sequence[str]) -> None:
        self._host = host
        self._limits = limits
        self._dialogs = dialogs
        self._private = frozenset(private)
        self._intents = IntentTools()
        self._boxes: dict[str, Sequence[Mapping[str, Any]]] = {}
        self._dangerous: set[str] = set()
        """Tools of boxes that were once said to be dangerous: no later answer on the bus makes them harmless."""
        self._silent: set[str] = set()
        """Toolboxes that have not answered since they were looked for."""
        self._looked = float("-inf")
        self._numbers = count(1)
        self._waiting: dict[str, asyncio.Future[Message]] = {}
        self._collecting: dict[str, list[Message]] = {}
        """Messages of a call that are several: sentences, claims, answers."""
        self._sources: set[str] = set()
        """Skills that answer questions of fact."""
        host.on(FOLLOWED, self._intents.follow)
        host.on((topics.SKILL_LOADED, topics.SKILL_DEREGISTER), self._note_source)
        host.on(topics.TOOLS_CHANGED, lambda _message: self._look())
        host.on(topics.response_topic(topics.PERSONA_TOOLS_DISCOVER), self._found)
        host.on((topics.response_topic(topics.PERSONA_TOOLS_CALL), topics.UTTERANCE_HANDLED), self._ended)
        host.on((topics.TOOL_SAID, topics.UTTERANCE_SPEAK, topics.HANDLER_ERROR), self._collect)
        host.on(_OF_SOURCES, self._collect)

    # What there is.

    def offered(self, session: Session, lang: str) -> Sequence[ToolDefinition]:
        """The tools of this moment, within the limits."""
        if self._host.clock.monotonic() - self._looked > _STALE:
            self._look()
        return [offer.definition for offer in self._offers(session, lang).values()]

    async def call(self, name: str, arguments: Mapping[str, Any], turn: Turn) -> str:
        """Call a tool, a dangerous one only after the user said yes."""
        offer = self._offers(turn.session, turn.lang).get(name)
        if offer is None:
            raise ToolError(f"there is no tool {name}")
        if offer.asks is not None and not await self._confirmed(offer.asks(arguments), offer.full_name, turn):
            raise ToolError("the user did not agree; it was not done. Do not try again.")
        return await offer.call(arguments, turn)

    def _offers(self, session: Session, lang: str) -> dict[str, _Offer]:
        """What is offered, by the name that the model uses."""
        found: list[_Offer] = []
        for box, tools in self._boxes.items():
            found += [self._box_offer(box, tool) for tool in tools]
        if self._limits.sources and (offer := self._sources_offer(session)) is not None:
            found.append(offer)
        if self._limits.intents:
            offered = self._intents.offered(session, lang)
            found += [self._intent_offer(one) for one in offered if one.skill_id not in self._private]
        named: dict[str, _Offer] = {}
        for offer in found:
            if len(named) >= self._limits.most:
                break
            if self._is_allowed(offer.full_name):
                name = _free_name(offer.definition.name, named)
                named[name] = replace(offer, definition=replace(offer.definition, name=name))
        return named

    def _is_allowed(self, full_name: str) -> bool:
        only, never = self._limits.only, self._limits.never
        return (not only or _is_one_of(full_name, only)) and not _is_one_of(full_name, never)

    def _asks(
        self, full_name: str, dangerous: bool, described: Callable[[Mapping[str, Any]], str]
    ) -> Callable[[Mapping[str, Any]], str] | None:
        return described if dangerous or _is_one_of(full_name, self._limits.confirm) else None

    async def _confirmed(self, what: str, full_name: str, turn: Turn) -> bool:
        if len(what) > _LONGEST_SPOKEN:
            raise ToolError("it needs the consent of the user, and has too many arguments to ask about")
        question = self._dialogs.render("confirm_tool", turn.lang, {"what": what}).text
        said_yes = await turn.ask_yes_no(question)
        turn.note(f"{full_name} is dangerous: {'the user agreed' if said_yes else 'the user did not agree'}")
        return said_yes is True

    # Toolboxes (TOOLS-1 §4).

    def _look(self) -> None:
        self._looked = self._host.clock.monotonic()
        self._silent = set(self._boxes)
        self._host.emit(topics.PERSONA_TOOLS_DISCOVER)
        self._host.after(_ANSWERED, self._drop_silent)

    def _drop_silent(self) -> None:
        for box in self._silent:
            self._boxes.pop(box, None)
        self._silent.clear()

    def _found(self, answer: Message) -> None:
        box, tools = answer.data.get("toolbox_id"), answer.data.get("tools")
        if not isinstance(box, str) or not isinstance(tools, tuple):
            return
        if box in self._boxes or len(self._boxes) < _MOST_BOXES:
            self._silent.discard(box)
            self._boxes[box] = found = [tool for tool in tools if _is_definition(tool)]
            self._dangerous.update(f"{box}/{tool['name']}" for tool in found if tool.get("dangerous") is True)

    def _box_offer(self, box: str, tool: Mapping[str, Any]) -> _Offer:
        name, full_name = tool["name"], f"{box}/{tool['name']}"
        # Endpoints refuse an object of which they are not told the properties.
        schema = {"type": "object", "properties": {}, **tool["argument_schema"]}
        definition = ToolDefinition(_accepted(f"{box}-{name}"), tool["description"][:_LONGEST_DESCRIPTION], schema)

        def described(arguments: Mapping[str, Any]) -> str:
            given = ", ".join(f"{_shown(key)} {value}" for key, value in _shortened(arguments).items())
            return f"{_words(box)}: {_words(name)}" + (f", {given}" if given else "")

        async def call(arguments: Mapping[str, Any], turn: Turn) -> str:
            data = {"toolbox_id": box, "name": name, "kwargs": dict(arguments)}
            async with self._awaited() as (mark, answer):
                self._host.send(turn.derive(topics.PERSONA_TOOLS_CALL, data).carrying(**{_CALL: mark}))
                outcome = (await answer).data
            if "error" in outcome:
                raise ToolError(str(outcome["error"]))
            self._note_use(turn, _words(box))
            result = outcome.get("result")
            return result if isinstance(result, str) else json.dumps(_thawed(result), ensure_ascii=False)

        return _Offer(definition, full_name, self._asks(full_name, full_name in self._dangerous, described), call)

    # Intents: a turn of its own, so that everything holds that holds for what a user says.

    def _intent_offer(self, tool: IntentTool) -> _Offer:
        parameters = tool.parameters()

        def slots(arguments: Mapping[str, Any]) -> dict[str, str]:
            if unknown := ", ".join(arguments.keys() - parameters["properties"].keys()):
                raise ToolError(f"there is no parameter {unknown[:100]}")
            return _slots(arguments)

        def spoken(arguments: Mapping[str, Any]) -> str:
            return tool.said_with(_shortened(slots(arguments)))

        async def call(arguments: Mapping[str, Any], turn: Turn) -> str:
            return await self._turn_of(tool, slots(arguments), turn)

        name = _accepted(f"{tool.skill_id.removesuffix('.skill')}-{tool.intent_name}")
        definition = ToolDefinition(name, tool.description()[:_LONGEST_DESCRIPTION], parameters)
        return _Offer(definition, tool.topic, self._asks(tool.topic, tool.dangerous, spoken), call)

    async def _turn_of(self, tool: IntentTool, slots: Mapping[str, str], turn: Turn) -> str:
        """Have an intent handled, and tell what was said."""
        named = {"skill_id": tool.skill_id, "intent_name": tool.intent_name, "slots": dict(slots)}
        data = {"utterances": [tool.said_with(slots)], "lang": turn.lang, "intent": named}
        async with self._awaited() as (mark, ended):
            said = self._collecting[mark] = []
            utterance = turn.derive(topics.UTTERANCE_HANDLE, data)
            marks = {_CALL: mark, TOOL_TURN: tool.topic, **dict.fromkeys(_NOT_OF_A_TOOL)}
            self._host.send(utterance.carrying(**marks))
            marker = await ended
        if marker.session is not None:
            turn.session = marker.session  # the next call goes on in the session as this one left it
        if "skill_id" not in marker.context:
            raise ToolError("it cannot be done now: a slot is missing, or the intent is switched off or denied")
        texts = [text for message in said if isinstance(text := message.data.get("utterance"), str)]
        answer = " ".join(texts[:_MOST_SAID])
        if any(message.type == topics.HANDLER_ERROR for message in said):
            raise ToolError(f"{answer} The skill failed; it was not done, or not all of it.".strip())
        return answer or "Done."

    # Sources (COMMON-QUERY-1).

    def _note_source(self, message: Message) -> None:
        skill_id, capabilities = message.data.get("skill_id"), message.data.get("capabilities")
        if not isinstance(skill_id, str):
            return
        self._sources.discard(skill_id)
        if message.type == topics.SKILL_LOADED and isinstance(capabilities, tuple) and "common_query" in capabilities:
            self._sources.add(skill_id)

    def _sources_offer(self, session: Session) -> _Offer | None:
        denied = {*self._private, *(session.blacklisted_skills or ())}
        sources = sorted(self._sources - denied)
        if not sources:
            return None
        names = ", ".join(map(_words, sources))
        about = f"Look up a fact where it is known ({names}). Use it before you answer a question of fact."
        question = {"type": "string", "description": "a whole question, in the language of the user"}
        schema = {"type": "object", "properties": {"question": question}, "required": ["question"]}
        full_name = f"sources/{LOOK_UP}"

        async def call(arguments: Mapping[str, Any], turn: Turn) -> str:
            asked = arguments.get("question")
            if not isinstance(asked, str) or not asked.strip():
                raise ToolError("question has to be a text")
            return await self._look_up(asked, sources, turn)

        asks = self._asks(full_name, False, lambda arguments: f"look up: {_shortened(arguments).get('question')}")
        return _Offer(ToolDefinition(LOOK_UP, about, schema), full_name, asks, call)

    async def _look_up(self, question: str, sources: Sequence[str], turn: Turn) -> str:
        asked = {"utterance": question, "lang": turn.lang}
        claims = await self._gathered(turn, topics.COMMON_QUERY_PING, asked, sources, _CLAIMED)
        able = [one for one, pong in claims.items() if pong.data.get("can_answer", pong.data.get("can_handle")) is True]
        answers: dict[str, Message] = {}
        if able:
            answers = await self._gathered(turn, topics.COMMON_QUERY_REQUEST, asked, able, _LOOKED_UP, each=True)
        known = [
            (_source(skill_id, one), text)
            for skill_id, one in answers.items()
            if isinstance(text := one.data.get("answer"), str)
        ]
        if not known:
            return "None of the sources knows."
        for source, _ in known:
            self._note_use(turn, source)
        return "\n".join(f"{source}: {text}" for source, text in known)

    async def _gathered(
        self,
        turn: Turn,
        topic: str,
        data: Mapping[str, Any],
        skills: Sequence[str],
        seconds: float,
        *,
        each: bool = False,
    ) -> dict[str, Message]:
        """The answers of these skills, as far as they come in time."""
        found: dict[str, Message] = {}
        async with self._awaited() as (mark, every):

            def take(message: Message) -> None:
                skill_id = message.data.get("skill_id")
                if message.type in _OF_SOURCES and skill_id in skills:
                    found[str(skill_id)] = message
                if len(found) == len(skills) and not every.done():
                    every.set_result(message)

            self._collecting[mark] = _Taken(take)
            for addressed in [{"skill_id": skill} for skill in skills] if each else [{}]:
                self._host.send(turn.derive(topic, {**data, **addressed}).carrying(**{_CALL: mark}))
            try:
                async with self._host.clock.timeout(seconds):
                    await every
            except TimeoutError:
                pass
        return found

    def _note_use(self, turn: Turn, source: str) -> None:
        """Say what an answer is taken from, for users who ask how the assistant knows."""
        turn.emit(topics.ANSWER_SOURCES, {"sources": [source], "more": True})

    # Waiting for answers.

    @asynccontextmanager
    async def _awaited(self) -> AsyncIterator[tuple[str, asyncio.Future[Message]]]:
        mark = f"{id(self):x}-{next(self._numbers)}"
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._waiting[mark] = answer
        try:
            yield mark, answer
        finally:
            del self._waiting[mark]
            self._collecting.pop(mark, None)

    def _ended(self, message: Message) -> None:
        waiting = self._waiting.get(_mark(message))
        if waiting is not None and not waiting.done():
            waiting.set_result(message)

    def _collect(self, message: Message) -> None:
        collected = self._collecting.get(_mark(message))
        if collected is not None:
            collected.append(message)


class _Taken(list[Message]):
    """A list that passes on what is added to it."""

    def __init__(self, take: Callable[[Message], None]) -> None:
        super().__init__()
        self._take = take

    def append(self, message: Message) -> None:
        self._take(message)


def _mark(message: Message) -> str:
    mark = message.context.get(_CALL)
    return mark if isinstance(mark, str) else ""


def _is_one_of(full_name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(full_name, pattern) for pattern in patterns)


def _is_definition(tool: Any) -> bool:
    if not isinstance(tool, Mapping) or not isinstance(tool.get("argument_schema"), Mapping):
        return False
    return all(isinstance(tool.get(name), str) for name in ("name", "description"))


def _accepted(name: str) -> str:
    """A name that endpoints accept."""
    return _NAME.sub("_", name)[:_LONGEST_NAME]


def _free_name(name: str, taken: Mapping[str, object]) -> str:
    """A name that no other tool has: two may be alike once they are cut."""
    names = (name, *(f"{name[: _LONGEST_NAME - 4]}_{number}" for number in range(2, 1_000)))
    return next(one for one in names if one not in taken)


def _words(name: str) -> str:
    return re.sub(r"[._-]+", " ", name.removesuffix(".skill"))


def _source(skill_id: str, answer: Message) -> str:
    source = answer.data.get("source")
    return source if isinstance(source, str) and source else _words(skill_id)


def _slots(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Arguments as slots, which are texts; what was left empty is not filled."""
    return {name: _plain(value) for name, value in arguments.items() if value not in (None, "")}


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(_thawed(value), ensure_ascii=False)


def _shortened(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Arguments as a user is asked about them: of a long one its beginning and its end."""
    longest = min(_LONGEST_VALUE, _LONGEST_VALUES // max(1, len(arguments)))
    shown = {name: _shown(_plain(value)) for name, value in arguments.items()}
    return {
        name: text if len(text) <= longest else f"{text[: longest * 2 // 3]} … {text[-longest // 3 :]}"
        for name, text in shown.items()
    }


def _shown(text: str) -> str:
    """A text on one line, without characters that are not seen, or change the order of those that are."""
    return " ".join("".join(" " if category(one)[0] in "CZ" else one for one in text).split())


def _thawed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _thawed(one) for key, one in value.items()}
    return [_thawed(one) for one in value] if isinstance(value, (tuple, list)) else value
