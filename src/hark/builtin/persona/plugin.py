"""Personas (PERSONA-1): a language model that answers what the skills do not, where the user wants one."""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from hark.builtin.persona.chat import ChatClient
from hark.builtin.persona.commands import PersonaCommand, PersonaCommands
from hark.builtin.persona.conversation import Memory, Said
from hark.builtin.persona.errors import ChatError
from hark.builtin.persona.generation import Generation, Models
from hark.builtin.persona.settings import OnePersona, PersonaSettings
from hark.builtin.persona.tools import NO_TOOLS, ToolSource, readable
from hark.builtin.persona.toolset import Toolset
from hark.hints import install_extra
from hark.intents.answers import yes_or_no
from hark.intents.locale import Locale, Renderer
from hark.plugins import Declined, Home, Match, Message, PipelinePlugin, Round, Session, Turn, handles
from hark.plugins.engines import Unavailable
from hark.plugins.handlers import ConversationPlugin
from hark.skills.spoken import spoken_date, spoken_list, spoken_time
from hark.spec import topics
from hark.spec.names import TOOL_TURN

FALLBACK: Final = "persona_fallback"
"""The pipeline entry in which it claims what is left (PERSONA-1 §7.1)."""

_FIRST_LOOK: Final = 0.3
"""Seconds for which the start waits to hear from endpoints on this machine."""
_WAITS: Final = 30.0
"""Seconds after a question in which a yes or a no is the answer to it."""
_JUST_NOW: Final = 2.0
"""Seconds after speech has ended in which a "stop" meant the speech."""
_REMEMBERED: Final = 10_000
"""Sessions of which is known that they used a persona, that it waits for an answer there, that something was heard."""
_MOST_PERSONAS: Final = 200
_MOST_SKILLS: Final = 200
_MOST_QUERIES: Final = 16
"""Questions on ovos.persona.query that are answered at once."""
_FIELD: Final = re.compile(r"\{(persona|lang|time|date|place|skills)\}")


class Persona(ConversationPlugin, PipelinePlugin):
    """Answers by a language model: when a persona was summoned, and in its fallback entry what nothing else claimed."""

    id = "persona"
    quick = True
    Settings = PersonaSettings

    settings: PersonaSettings

    def __init__(self) -> None:
        self.tools: ToolSource = NO_TOOLS
        """What the models may have done for them while they answer."""
        self._personas: dict[str, OnePersona] = {}
        self._retired: dict[str, frozenset[str]] = {}
        """Personas that were deregistered, and the sessions that may go on using them."""
        self._used: OrderedDict[tuple[str, str], None] = OrderedDict()
        """The persona and the session of recent conversations."""
        self._asked: OrderedDict[str, tuple[str, float]] = OrderedDict()
        """Sessions in which a persona has asked something: which one, and until when it waits."""
        self._heard: OrderedDict[str, float] = OrderedDict()
        """Sessions in which something is heard, or was: until when."""
        self._answering: dict[asyncio.Task[Any], str] = {}
        """The handlers that run, with their session."""
        self._last_answers: dict[str, asyncio.Task[Any]] = {}
        """The latest of them in each session."""
        self._interrupted: set[str] = set()
        """Sessions in which an answer was stopped, until that is known to be what was to be stopped."""
        self._queries = 0
        self._skills: dict[str, None] = {}

    @cached_property
    def locale(self) -> Locale:
        return Locale(Path(__file__).parent / "locale")

    async def start(self) -> None:
        given = self.settings
        self._personas = dict(given.personas) or {given.default: OnePersona()}
        self._personas.setdefault(given.default, OnePersona())
        self._memory = Memory(given.memory_turns, given.memory_characters)
        self.dialogs = Renderer(self.locale, self.host.lang)
        endpoints = given.endpoints()
        if not endpoints:
            raise Unavailable("no endpoint is configured", 'set endpoint = "ollama" or a URL in [plugins.persona]')
        if find_spec("httpx") is None:
            raise Unavailable("httpx is not installed", install_extra("persona"))
        clients = await asyncio.to_thread(lambda: [ChatClient(endpoint) for endpoint in endpoints])
        self._models = Models(clients, self.host.clock)
        looked = asyncio.Event()
        self.host.task(self._look(looked), "look for models")
        if all(endpoint.is_here for endpoint in endpoints):
            with suppress(TimeoutError):
                async with asyncio.timeout(_FIRST_LOOK):
                    await looked.wait()
        if self.tools is NO_TOOLS:
            self.tools = Toolset(self.host, given.tools, self.dialogs, given.private_skills)
        self._commands = PersonaCommands(self.locale, self.host.langs, self.host.clock.wall)
        self._commands.know(self._personas)
        self.host.on(topics.PERSONA_QUERY, self._query, shared=True)
        self.host.on(topics.PERSONA_LIST, self._list_personas, shared=True)
        self.host.on((topics.PERSONA_REGISTER, topics.PERSONA_DEREGISTER), self._change_personas)
        self.host.on((topics.AUDIO_OUTPUT_STARTED, topics.AUDIO_OUTPUT_ENDED), self._note_sound)
        self.host.on(topics.AUDIO_STOP, self._barge_in)
        self.host.on((topics.REGISTER_TEMPLATE, topics.REGISTER_KEYWORD, topics.SKILL_DEREGISTER), self._note_skill)

    async def _look(self, looked: asyncio.Event) -> None:
        await self._models.look()
        looked.set()

    async def stop(self) -> None:
        await self._models.close()

    def problem(self) -> str:
        return self._models.failure

    # Claiming (PERSONA-1 §7).

    def match(
        self, utterances: Sequence[str], lang: str, session: Session, round: Round | None = None
    ) -> Match | Declined | None:
        """A command to a persona; else everything while one is active, and in the fallback entry what is left."""
        command = self._commands.find(utterances, lang)
        claimed = self._claim_command(command, lang, session) if command is not None else None
        if claimed is not None:
            return claimed
        active = session.persona_id or ""
        if active:
            if not self._serves(active, session.session_id):
                return Declined(f"there is no persona {active!r} here")
            return self.claim("chat", lang=lang, utterance=_as_said(utterances), slots={"persona": active})
        if round is not None and round.config.get("fallback") is True:
            slots = {"persona": self.settings.default}
            return self.claim("chat", lang=lang, utterance=_as_said(utterances), slots=slots)
        return None

    def _claim_command(self, command: PersonaCommand, lang: str, session: Session) -> Match | None:
        named, said = command.persona, command.said
        if command.name == "ask":
            slots = {"persona": named or "", "query": command.query}
            return self.claim("ask", lang=lang, utterance=said, slots=slots) if named is not None else None
        if command.name == "summon":
            if named is None:
                return None
            updated = session.replace(persona_id=named)
            return Match(self.id, "summon", lang, said, {"persona": named}, updated_session=updated)
        if command.name == "release":
            active = session.persona_id or ""
            if not active or not self._serves(active, session.session_id) or (command.spoken and named != active):
                return None
            updated = session.without("persona_id")
            return Match(self.id, "release", lang, said, {"persona": active}, updated_session=updated)
        return self.claim(command.name, lang=lang, utterance=said)

    def _serves(self, persona: str, session_id: str) -> bool:
        return persona in self._personas or session_id in self._retired.get(persona, ())

    # Answering.

    @handles("chat")
    async def chat(self, turn: Turn) -> None:
        """Answer by the model, sentence by sentence."""
        persona = turn.slots["persona"]
        _remember(self._used, (persona, turn.session.session_id), None)
        await self._answer(turn, persona, turn.utterance)

    @handles("ask")
    async def ask(self, turn: Turn) -> None:
        """Pass one question on."""
        await self._answer(turn, turn.slots["persona"], turn.slots["query"])

    @handles("summon")
    def summon(self, turn: Turn) -> str:
        """Confirm that the persona is there."""
        persona, session_id = turn.slots["persona"], turn.session.session_id
        _remember(self._used, (persona, session_id), None)
        turn.emit(topics.PERSONA_ACTIVATED, {"persona_id": persona, "session_id": session_id})
        return turn.render("here", persona=persona)

    @handles("release")
    def release(self, turn: Turn) -> str:
        """Confirm that it is gone. What was said is remembered for the next time."""
        persona = turn.slots["persona"]
        self._end_answers(turn.session.session_id)
        turn.emit(topics.PERSONA_DISMISSED, {"persona_id": persona, "session_id": turn.session.session_id})
        return turn.render("gone", persona=persona)

    @handles("list")
    def list(self, turn: Turn) -> str:
        """Name the personas."""
        return turn.render("these", personas=spoken_list(tuple(self._personas), turn.lang))

    @handles("check")
    def check(self, turn: Turn) -> str:
        """Name the one that is active."""
        active = turn.session.persona_id
        return turn.render("active", persona=active) if active else turn.render("none")

    async def _answer(self, turn: Turn, persona: str, said: str) -> None:
        """Say the answer; where the model cannot answer, a sentence that says what is wrong."""
        self._asked.pop(turn.session.session_id, None)
        if not _is_for_a_tool(turn):
            turn.emit(topics.ANSWER_SOURCES, {"sources": []})  # those of earlier answers are not its own
        async with self._under_way(turn):
            await self._say_answer(turn, persona, said)

    async def _say_answer(self, turn: Turn, persona: str, said: str) -> None:
        session_id = turn.session.session_id
        messages: list[Said] = [
            self._prompt(persona, turn.lang, turn.home, turn.session),
            *self._memory.recall(persona, session_id),
            {"role": "user", "content": said},
        ]
        answer = Generation(
            self._models,
            messages,
            turn.lang,
            model=self._personas.get(persona, OnePersona()).model,
            turn=turn,
            tools=NO_TOOLS if _is_for_a_tool(turn) else self.tools,
            limits=self.settings.tools,
            clock=self.host.clock,
        )
        try:
            async with aclosing(answer.sentences()) as sentences:
                async for sentence in sentences:
                    await turn.speak(sentence.text, listen=sentence.asks)
                    if sentence.asks:
                        until = self.host.clock.monotonic() + _WAITS
                        _remember(self._asked, session_id, (persona, until))
        except ChatError as error:
            self.host.log.warning("%s", str(error))  # the error itself would keep what was read
            await turn.say(f"trouble_{error.trouble}")
        finally:
            if answer.forgot:
                self._memory.forget(persona, session_id)
            self._memory.keep(persona, session_id, answer.exchange())

    @asynccontextmanager
    async def _under_way(self, turn: Turn) -> AsyncIterator[None]:
        """An answer that a stop or a wake word ends. In a session one comes after the other, as they were asked for."""
        session_id = turn.session.session_id
        before = self._last_answers.get(session_id)
        task: Any = asyncio.current_task()
        self._answering[task] = session_id
        self._last_answers[session_id] = task
        self._interrupted.discard(session_id)
        try:
            if before is not None and not _is_for_a_tool(turn):  # else it would wait for the answer it is a part of
                await asyncio.wait((before,))
            yield
        except asyncio.CancelledError:
            self._interrupted.add(session_id)
            raise
        finally:
            del self._answering[task]
            if self._last_answers.get(session_id) is task:
                del self._last_answers[session_id]

    def _prompt(self, persona: str, lang: str, home: Home, session: Session) -> Said:
        now = home.local(self.host.clock.wall())
        denied = {*self.settings.private_skills, *(session.blacklisted_skills or ())}
        skills = [readable(skill) for skill in self._skills if skill not in denied]
        fields = {
            "persona": persona,
            "lang": lang,
            "time": spoken_time(now, lang, home.clock),
            "date": spoken_date(now.date(), lang, year=True),
            "place": f" in {home.place}" if home.place else "",
            "skills": f" The user can also give commands about: {', '.join(skills)}." if skills else "",
        }
        general = _FIELD.sub(lambda found: fields[found[1]], self.settings.prompt)
        own = self._personas.get(persona, OnePersona()).prompt
        return {"role": "system", "content": f"{general} {own}".strip()}

    # Conversation and stop.

    def can_converse(self, utterances: Sequence[str], lang: str, session: Session) -> bool:
        """A yes or a no is for the persona that has just asked; all else goes through the pipeline, skills first."""
        _, until = self._asked.get(session.session_id, ("", 0.0))
        if self.host.clock.monotonic() >= until:
            return False
        return any(yes_or_no(said, lang) is not None for said in utterances)

    async def converse(self, turn: Turn) -> None:
        """The answer to its question."""
        persona, _ = self._asked.pop(turn.session.session_id, (self.settings.default, 0.0))
        await self._answer(turn, persona, turn.utterance)

    def can_stop(self, session: Session) -> bool:
        """Whether a persona holds a conversation in this session."""
        return bool(session.persona_id) and self._serves(session.persona_id or "", session.session_id)

    def stopped(self, turn: Turn) -> None:
        """An answer was stopped; or, where nothing was being said, the user is done with the persona."""
        session_id, persona = turn.session.session_id, turn.session.persona_id
        self._asked.pop(session_id, None)
        spoke = self._heard.get(session_id, 0.0) > self.host.clock.monotonic()
        if session_id in self._interrupted or spoke:
            self._interrupted.discard(session_id)
        elif persona and self._serves(persona, session_id):
            turn.session = turn.session.replace(persona_id="")
            turn.emit(topics.PERSONA_DISMISSED, {"persona_id": persona, "session_id": session_id})

    def _note_sound(self, message: Message) -> None:
        begins = message.type == topics.AUDIO_OUTPUT_STARTED
        until = float("inf") if begins else self.host.clock.monotonic() + _JUST_NOW
        _remember(self._heard, message.session_id, until)

    def _barge_in(self, message: Message) -> None:
        """What is being said is to end: so is what is still being written."""
        self._end_answers(message.session_id)

    def _end_answers(self, session_id: str) -> None:
        for task, answered in self._answering.items():
            if answered == session_id:
                task.cancel()

    # Side channels (PERSONA-1 §8.5, §8.7, §9).

    def _query(self, message: Message) -> None:
        self.host.task(self._answer_query(message), "query")

    async def _answer_query(self, message: Message) -> None:
        persona, said = message.data.get("persona_id"), message.data.get("utterance")
        answer: dict[str, Any] = {
            "persona_id": persona if isinstance(persona, str) else "",
            "utterance": said if isinstance(said, str) else "",
        }
        self._queries += 1
        try:
            answer |= await self._outcome(persona, said, message)
        except ChatError as error:
            answer["error"] = str(error)
        except TimeoutError:
            answer["error"] = f"no answer within {self.settings.query_budget:g} s"
        finally:
            self._queries -= 1
            if "response" not in answer:
                answer.setdefault("error", "the assistant is shutting down")
            self.host.send(message.reply(topics.PERSONA_ANSWER, answer))

    async def _outcome(self, persona: Any, said: Any, message: Message) -> dict[str, str]:
        if not isinstance(persona, str) or not isinstance(said, str) or not said.strip():
            return {"error": "malformed request: persona_id and utterance are text"}
        if persona not in self._personas:
            return {"error": f"unsupported persona_id {persona!r}"}
        session = message.session or Session()
        if self.id in (session.blacklisted_pipelines or ()):
            return {"error": "this session denies personas"}
        if self._queries > _MOST_QUERIES:
            return {"error": "too many questions at once"}
        lang = session.lang or self.host.lang
        home = self.host.home.for_session(session, lang)
        messages = [self._prompt(persona, lang, home, session), {"role": "user", "content": said}]
        model = self._personas[persona].model
        answer = Generation(self._models, messages, lang, model=model, clock=self.host.clock)
        async with self.host.clock.timeout(self.settings.query_budget):
            return {"response": " ".join([sentence.text async for sentence in answer.sentences()])}

    def _list_personas(self, message: Message) -> None:
        personas = [{"persona_id": name, "name": name, "tags": list(one.tags)} for name, one in self._personas.items()]
        data = {"pipeline_id": self.id, "fallback_pipeline_id": FALLBACK, "personas": personas}
        self.host.send(message.response(data))

    def _change_personas(self, message: Message) -> None:
        persona = message.data.get("persona_id")
        if not isinstance(persona, str) or not persona or len(persona) > 100:
            self.host.log.warning("%s names no persona", message.type)
            return
        if message.type == topics.PERSONA_REGISTER:
            if persona not in self._personas and len(self._personas) >= _MOST_PERSONAS:
                self.host.log.warning("%s: there are %d personas already", message.type, len(self._personas))
                return
            self._personas.setdefault(persona, self.settings.personas.get(persona, OnePersona()))
            self._retired.pop(persona, None)
        elif self._personas.pop(persona, None) is not None:
            self._retired[persona] = frozenset(session_id for name, session_id in self._used if name == persona)
        self._commands.know(self._personas)

    def _note_skill(self, message: Message) -> None:
        """Follow which skills there are; those of single sessions are no concern of the others."""
        skill_id = message.data.get("skill_id")
        if not isinstance(skill_id, str) or message.session_id != "default":
            return
        if message.type == topics.SKILL_DEREGISTER:
            self._skills.pop(skill_id, None)
        elif len(self._skills) < _MOST_SKILLS:
            self._skills[skill_id] = None


def _remember(kept: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    """Keep a value, and forget the oldest of too many."""
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > _REMEMBERED:
        kept.popitem(last=False)


def _as_said(utterances: Sequence[str]) -> str:
    """The first candidate with the courtesy and the greeting that it lacks for the matchers: a model can use them."""
    first = utterances[0]
    return max((said for said in utterances if first in said), key=len)


def _is_for_a_tool(turn: Turn) -> bool:
    """Whether a tool of a model brought this turn about: such an answer has no tools, or it might never end."""
    return TOOL_TURN in turn.message.context
