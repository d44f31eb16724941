"""Personas (PERSONA-1): a language model that answers what the skills do not, for those who want one."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from hark.builtin.persona.chat import ChatClient, ChatError, Endpoint, ToolCall
from hark.builtin.persona.conversation import Memory, Said, SentenceCutter
from hark.intents import STRICT, Found, TemplatePool, lookup
from hark.intents.locale import Locale, MissingResource, Renderer, Role
from hark.plugins import Declined, Match, Message, PipelinePlugin, Round, Session, Turn, handles
from hark.plugins.handlers import ConversationPlugin
from hark.spec import topics

PRESETS: Final[Mapping[str, str]] = {
    "ollama": "http://127.0.0.1:11434/v1",
    "llama.cpp": "http://127.0.0.1:8080/v1",
    "vllm": "http://127.0.0.1:8000/v1",
    "lm-studio": "http://127.0.0.1:1234/v1",
}
"""Local servers by their name, at the address where each listens unless told otherwise."""

_COMMANDS: Final = ("summon", "release", "ask", "list", "check")
_WAIT_AT_MOST: Final = 5.0
"""Seconds that a busy server is waited for before another answer is given."""
_LISTENING: Final = 8
"""Recent personas that were deregistered while sessions used them."""


@dataclass(frozen=True)
class PersonaSettings:
    """One persona."""

    prompt: str = ""
    """What it is told about itself, after the general part."""
    model: str = ""
    """The model, if it is another one."""
    tags: tuple[str, ...] = ()
    """What it is for, for programs that choose one."""


class Persona(ConversationPlugin, PipelinePlugin):
    """Answers by a language model: when a persona was summoned, and in its fallback entry what nothing else claimed."""

    id = "persona"
    quick = True

    @dataclass(frozen=True)
    class Settings:
        endpoint: str = ""
        """Where the model is: "ollama", "llama.cpp", "vllm", "lm-studio", or the URL of an OpenAI-compatible server,
        such as "http://127.0.0.1:11434/v1".
        """
        model: str = ""
        """The name of the model; local servers with one model need none."""
        key_file: str = ""
        """A file with the key of a hosted model."""
        key_variable: str = ""
        """Or the environment variable that holds it."""
        second_endpoint: str = ""
        """Where a model is that stands in when the first cannot be reached."""
        second_model: str = ""
        """Its name."""
        default: str = "hark"
        """The persona that answers when none was summoned."""
        personas: dict[str, PersonaSettings] = field(default_factory=lambda: {"hark": PersonaSettings()})
        """The personas by name; each is a table."""
        prompt: str = (
            "You are {persona}, a voice assistant. Your answers are spoken, so keep them short: one to three "
            "sentences, no lists, no headings, no links. Answer in the language with the tag {lang}. It is {time}, {date}.{place} "
            "If you do not know something, say so."
        )
        """What every persona is told first; {persona}, {lang}, {time}, {date} and {place} are filled in."""
        memory_turns: int = 20
        """Exchanges that are remembered in a session."""
        memory_characters: int = 20_000
        """Characters of them."""
        longest_answer: int = 4_000
        """Characters of an answer; more is cut off."""
        connect_timeout: float = 5.0
        """Seconds in which the endpoint has to accept a connection."""
        stall_timeout: float = 30.0
        """Seconds within which the next piece of an answer has to come."""
        query_budget: float = 20.0
        """Seconds that an answer to ovos.persona.query may take."""

    settings: Settings

    def __init__(self) -> None:
        self._clients: list[ChatClient] = []
        self._memory = Memory(1, 1)
        self._commands: TemplatePool
        self._personas: dict[str, PersonaSettings] = {}
        self._retired: dict[str, set[str]] = {}
        """Personas that were deregistered, and the sessions that may go on using them."""
        self._used: dict[str, set[str]] = {}
        """Sessions that have used a persona."""
        self._awaiting: set[str] = set()
        """Sessions in which it has asked something."""

    @cached_property
    def locale(self) -> Locale:
        return Locale(Path(__file__).parent / "locale")

    async def start(self) -> None:
        given = self.settings
        self._personas = dict(given.personas)
        self._memory = Memory(given.memory_turns, given.memory_characters)
        self.dialogs = Renderer(self.locale)
        self._clients = [
            ChatClient(self._endpoint(url, model))
            for url, model in ((given.endpoint, given.model), (given.second_endpoint, given.second_model))
            if url
        ]
        for client in self._clients:
            if problem := client.endpoint.problem():
                self.host.log.warning("persona: %s", problem)
        self._commands = self._read_commands()
        self.host.on(topics.PERSONA_QUERY, self._query)
        self.host.on(topics.PERSONA_LIST, self._list_personas, shared=True)
        self.host.on((topics.PERSONA_REGISTER, topics.PERSONA_DEREGISTER), self._change_personas)

    async def stop(self) -> None:
        for client in self._clients:
            await client.close()

    def _endpoint(self, url: str, model: str) -> Endpoint:
        given = self.settings
        return Endpoint(
            PRESETS.get(url, url),
            model,
            self._key(),
            connect_timeout=given.connect_timeout,
            stall_timeout=given.stall_timeout,
            longest=given.longest_answer,
        )

    def _key(self) -> str:
        given = self.settings
        if given.key_variable:
            return os.environ.get(given.key_variable, "")
        return Path(given.key_file).expanduser().read_text().strip() if given.key_file else ""

    # Claiming (PERSONA-1 §7).

    def match(
        self, utterances: Sequence[str], lang: str, session: Session, round: Round | None = None
    ) -> Match | Declined | None:
        """A command to a persona; else everything while one is active, and in the fallback entry what is left."""
        if not self._clients:
            return None
        command = self._command(utterances, lang, session)
        if command is not None:
            return command
        active = session.persona_id or ""
        if active:
            if not self._serves(active, session.session_id):
                return Declined(f"the persona {active} is not here")
            return self.claim("chat", lang=lang, utterance=utterances[0], slots={"persona": active})
        if round is not None and round.config.get("fallback") is True:
            return self.claim("chat", lang=lang, utterance=utterances[0], slots={"persona": self.settings.default})
        return None

    def _command(self, utterances: Sequence[str], lang: str, session: Session) -> Match | None:
        for said in utterances:
            found = lookup(self._commands, said, lang, Session(), self.host.clock.wall, STRICT)
            if not isinstance(found, Found):
                continue
            slots = {name: value for name, value in found.slots.items() if isinstance(value, str)}
            named = self._named(slots.get("persona", ""))
            return self._claim_command(found.intent.intent_name, named, slots, said, lang, session)
        return None

    def _claim_command(
        self, name: str, persona: str | None, slots: Mapping[str, str], said: str, lang: str, session: Session
    ) -> Match | None:
        if name in ("summon", "ask") and persona is None:
            return None
        if name == "ask":
            slots = {"persona": str(persona), "query": slots.get("query", "")}
            return self.claim("ask", lang=lang, utterance=said, slots=slots)
        if name == "summon":
            updated = session.replace(persona_id=persona)
            return Match(self.id, name, lang, said, {"persona": str(persona)}, updated_session=updated)
        if name == "release":
            active = session.persona_id or ""
            if not active or not self._serves(active, session.session_id):
                return None
            updated = session.without("persona_id")
            return Match(self.id, name, lang, said, {"persona": active}, updated_session=updated)
        return self.claim(name, lang=lang, utterance=said)

    def _named(self, spoken: str) -> str | None:
        wanted = spoken.casefold()
        return next((name for name in self._personas if name.casefold() == wanted), None)

    def _serves(self, persona: str, session_id: str) -> bool:
        return persona in self._personas or session_id in self._retired.get(persona, ())

    def _read_commands(self) -> TemplatePool:
        pool = TemplatePool()
        names = [name.casefold() for name in self._personas]
        for lang in self.host.langs:
            for command in _COMMANDS:
                try:
                    samples = self.locale.find(Role.INTENT, command, lang).inlined(Role.INTENT, command)
                except MissingResource:
                    continue
                data = {"skill_id": self.id, "intent_name": command, "lang": lang, "samples": list(samples)}
                pool.apply(topics.REGISTER_TEMPLATE, data, "default")
            data = {"skill_id": self.id, "entity_name": "persona", "lang": lang, "samples": names}
            pool.apply(topics.ENTITY_REGISTER, data, "default")
        return pool

    # Answering.

    @handles("chat")
    async def chat(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Answer by the model, sentence by sentence."""
        persona = turn.slots["persona"]
        self._used.setdefault(persona, set()).add(turn.session.session_id)
        async with aclosing(self._answer(persona, turn.utterance, turn.lang, turn.session.session_id)) as answer:
            async for sentence in answer:
                yield sentence

    @handles("ask")
    async def ask(self, turn: Turn) -> AsyncGenerator[str, None]:
        """Pass one question on."""
        persona, query = turn.slots["persona"], turn.slots["query"]
        async with aclosing(self._answer(persona, query, turn.lang, turn.session.session_id)) as answer:
            async for sentence in answer:
                yield sentence

    @handles("summon")
    def summon(self, turn: Turn) -> str:
        persona = turn.slots["persona"]
        turn.emit(topics.PERSONA_ACTIVATED, {"persona_id": persona, "session_id": turn.session.session_id})
        return turn.render("here", persona=persona)

    @handles("release")
    def release(self, turn: Turn) -> str:
        persona = turn.slots["persona"]
        turn.emit(topics.PERSONA_DISMISSED, {"persona_id": persona, "session_id": turn.session.session_id})
        return turn.render("gone", persona=persona)

    @handles("list")
    def list(self, turn: Turn) -> str:
        return turn.render("these", personas=", ".join(self._personas))

    @handles("check")
    def check(self, turn: Turn) -> str:
        active = turn.session.persona_id
        return turn.render("active", persona=active) if active else turn.render("none")

    async def _answer(self, persona: str, said: str, lang: str, session_id: str) -> AsyncGenerator[str, None]:
        """The sentences of the answer; a sentence that says what is wrong, where the model cannot answer."""
        asked: Said = {"role": "user", "content": said}
        messages = [self._prompt(persona, lang), *self._memory.recall(persona, session_id), asked]
        spoken: list[str] = []
        try:
            async with aclosing(self._sentences(messages, lang)) as answer:
                async for sentence in answer:
                    spoken.append(sentence)
                    yield sentence
        except ChatError as error:
            self.host.log.warning("persona: %s", error)
            yield self._trouble(error, lang)
        finally:
            if spoken:
                reply: Said = {"role": "assistant", "content": " ".join(spoken)}
                self._memory.keep(persona, session_id, [asked, reply])

    async def _sentences(self, messages: Sequence[Said], lang: str) -> AsyncGenerator[str, None]:
        cutter = SentenceCutter(lang)
        async with aclosing(self._pieces(messages)) as pieces:
            async for piece in pieces:
                for sentence in cutter.add(piece):
                    yield sentence
        if rest := cutter.rest():
            yield rest

    async def _pieces(self, messages: Sequence[Said]) -> AsyncGenerator[str, None]:
        """The answer of the first endpoint that gives one. Once something was said, no other answer is begun."""
        last: ChatError | None = None
        for client in self._clients:
            for attempt in range(2):
                begun = False
                try:
                    async with aclosing(client.stream(messages)) as answer:
                        async for piece in answer:
                            if isinstance(piece, ToolCall):
                                continue
                            begun = True
                            yield piece
                    return
                except ChatError as error:
                    if begun or not error.may_pass:
                        raise
                    last = error
                wait = last.retry_after if last.retry_after is not None else 0.5
                if attempt or last.trouble not in ("busy", "server", "cut") or wait > _WAIT_AT_MOST:
                    break
                await self.host.clock.sleep(wait)
        raise last or ChatError("address", "no endpoint is configured")

    def _prompt(self, persona: str, lang: str) -> Said:
        own = self._personas.get(persona, PersonaSettings())
        now = self.host.clock.local() if hasattr(self.host.clock, "local") else None
        filled = self.settings.prompt.format(
            persona=persona,
            lang=lang,
            time=now.strftime("%H:%M") if now else "",
            date=now.strftime("%A, %d %B %Y") if now else "",
            place="",
        )
        return {"role": "system", "content": f"{filled} {own.prompt}".strip()}

    def _trouble(self, error: ChatError, lang: str) -> str:
        return Renderer(self.locale).render(f"trouble_{error.trouble}", lang).text

    # Side channels (PERSONA-1 §8.5, §8.7, §9).

    def _query(self, message: Message) -> None:
        self.host.task(self._answer_query(message), "persona query")

    async def _answer_query(self, message: Message) -> None:
        persona, said = message.data.get("persona_id"), message.data.get("utterance")
        echo: dict[str, Any] = {
            "persona_id": persona if isinstance(persona, str) else "",
            "utterance": said if isinstance(said, str) else "",
        }
        try:
            echo |= await self._outcome(persona, said, message)
        except ChatError as error:
            echo["error"] = str(error)
        except TimeoutError:
            echo["error"] = f"no answer within {self.settings.query_budget:g} s"
        self.host.send(message.reply(topics.PERSONA_ANSWER, echo))

    async def _outcome(self, persona: Any, said: Any, message: Message) -> dict[str, str]:
        if not isinstance(persona, str) or not isinstance(said, str) or not said.strip():
            return {"error": "malformed request: persona_id and utterance are text"}
        if persona not in self._personas:
            return {"error": f"unsupported persona_id {persona!r}"}
        lang = (message.session.lang if message.session is not None else None) or "en-US"
        messages = [self._prompt(persona, lang), {"role": "user", "content": said}]
        async with self.host.clock.timeout(self.settings.query_budget):
            pieces = [piece async for piece in self._pieces(messages)]
        text = "".join(pieces).strip()
        return {"response": text} if text else {"error": "the model had no answer"}

    def _list_personas(self, message: Message) -> None:
        personas = [{"persona_id": name, "name": name, "tags": list(one.tags)} for name, one in self._personas.items()]
        data = {"pipeline_id": self.id, "fallback_pipeline_id": "persona_fallback", "personas": personas}
        self.host.send(message.response(data))

    def _change_personas(self, message: Message) -> None:
        persona = message.data.get("persona_id")
        if not isinstance(persona, str) or not persona:
            self.host.log.warning("%s names no persona", message.type)
        elif message.type == topics.PERSONA_REGISTER:
            self._personas.setdefault(persona, PersonaSettings())
            self._retired.pop(persona, None)
        elif self._personas.pop(persona, None) is not None:
            self._retired[persona] = set(self._used.get(persona, ()))

    # Conversation and stop.

    def can_stop(self, session: Session) -> bool:
        """Whether a persona holds a conversation in this session."""
        return bool(session.persona_id) and self._serves(session.persona_id or "", session.session_id)

    def stopped(self, turn: Turn) -> None:
        """Nothing was being said: the user is done with the persona."""
        turn.session = turn.session.replace(persona_id="")
