"""Answering for plugins when candidates are asked: who converses, who can be stopped, who knows, who falls back.

The host answers for every plugin it has, also for those that decline: a candidate that keeps silent costs
every utterance the whole window.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

from hark.act.running_work import RunningWork
from hark.bus import Bus
from hark.hosting import Loaded, Outcome, Runner
from hark.model import Frozen, Message, Session
from hark.plugins import Plugin
from hark.plugins.handlers import (
    Answer,
    AnswerMethod,
    ConversationPlugin,
    FallbackMethod,
    answer_methods_of,
    converses,
    fallbacks_of,
)
from hark.spec import topics

_DECIDE: Final = 5.0
"""Seconds a plugin may take to decide; polls have windows of their own, most of them shorter."""
_ANSWER: Final = 10.0
"""Seconds a plugin may take to answer a question."""
_IN_MIND: Final = 1_000
"""Fallback methods that are remembered until they are called."""


class Polls:
    """Listens to the polls for all hosted plugins at once."""

    def __init__(self, bus: Bus, runner: Runner, work: RunningWork) -> None:
        self._bus = bus
        self._runner = runner
        self._work = work
        self._plugins: dict[str, Plugin] = {}
        self._fallbacks: dict[str, tuple[Plugin, tuple[FallbackMethod, ...]]] = {}
        self._answering: dict[str, tuple[Plugin, tuple[AnswerMethod, ...]]] = {}
        self._entries: dict[tuple[str, str], Loaded[Plugin]] = {}
        """How each deciding method is called, and how it behaves."""
        self._wanted: dict[tuple[str, str | None], str] = {}
        """The fallback methods that wanted an utterance, by plugin and utterance."""
        self._deciding: set[asyncio.Task[None]] = set()
        self.answers: Callable[[str, Message], bool] = lambda _plugin_id, _ping: True
        """Whether this process answers for a plugin, where several have it."""
        self._subscriptions = tuple(
            bus.on(topic, answer, name=f"act on {topic}")
            for topic, answer in (
                (topics.CONVERSE_PING, self._converse),
                (topics.STOP_PING, self._stop),
                (topics.FALLBACK_PING, self._fallback),
                (topics.COMMON_QUERY_PING, self._common_query),
                (topics.COMMON_QUERY_REQUEST, self._request),
            )
        )

    def attach(self, plugin: Plugin) -> None:
        """Answer for a plugin."""
        self._plugins[plugin.id] = plugin
        # Looked up once: a poll goes to every plugin, and most have neither.
        if fallbacks := fallbacks_of(plugin):
            self._fallbacks[plugin.id] = plugin, fallbacks
        if answering := answer_methods_of(plugin):
            self._answering[plugin.id] = plugin, answering

    def detach(self, plugin_id: str) -> None:
        """Answer for it no more."""
        for known in (self._plugins, self._fallbacks, self._answering):
            known.pop(plugin_id, None)
        self._entries = {key: entry for key, entry in self._entries.items() if key[0] != plugin_id}

    def close(self) -> None:
        """Listen no longer; a plugin that still decides is too late."""
        for subscription in self._subscriptions:
            subscription.close()
        for task in self._deciding:
            task.cancel()

    def _converse(self, ping: Message) -> None:
        session = ping.session or Session()
        for handler in session.converse_handlers:
            plugin = self._plugins.get(handler.skill_id)
            if plugin is None or not self.answers(plugin.id, ping):
                continue
            if not converses(plugin):
                self._pong(ping, topics.CONVERSE_PONG, plugin.id, can_handle=False, error_code="done")
            else:
                self._spawn(self._decide_converse(plugin, ping, session))

    async def _decide_converse(self, plugin: Any, ping: Message, session: Session) -> None:
        wants = await self._decide(plugin, "can_converse", plugin.can_converse, *_said(ping), session)
        failed = {} if wants is not None else {"error_code": "handler_error"}
        self._pong(ping, topics.CONVERSE_PONG, plugin.id, can_handle=wants is True, **failed)

    def _stop(self, ping: Message) -> None:
        session = ping.session or Session()
        for handler in session.active_handlers:
            plugin = self._plugins.get(handler.skill_id)
            if plugin is not None and self.answers(plugin.id, ping):
                self._spawn(self._decide_stop(plugin, ping, session))

    async def _decide_stop(self, plugin: Plugin, ping: Message, session: Session) -> None:
        busy = self._work.is_busy(plugin.id, session.session_id)
        if (
            not busy
            and isinstance(plugin, ConversationPlugin)
            and type(plugin).can_stop is not ConversationPlugin.can_stop
        ):
            busy = await self._decide(plugin, "can_stop", plugin.can_stop, session) is True
        self._pong(ping, topics.STOP_PONG, plugin.id, can_handle=busy)

    def _fallback(self, ping: Message) -> None:
        for plugin, _ in self._fallbacks.values():
            if self.answers(plugin.id, ping):
                self._spawn(self._decide_fallback(plugin, ping))

    async def _decide_fallback(self, plugin: Plugin, ping: Message) -> None:
        utterances, lang = _said(ping)
        method = await self._willing(plugin, utterances, lang, ping.session or Session())
        if method is not None:
            self._keep_in_mind(plugin.id, ping.utterance_id, method)
        first = utterances[0] if utterances else ""
        self._pong(ping, topics.FALLBACK_PONG, plugin.id, can_handle=method is not None, utterance=first)

    async def fallback_for(self, plugin: Plugin, dispatch: Message) -> str | None:
        """The name of the `@fallback` method of a plugin that is to handle a dispatch: the one that wanted it."""
        method = self._wanted.pop((plugin.id, dispatch.utterance_id), None)
        if method is not None:
            return method
        said, lang = (str(dispatch.data["utterance"]),), str(dispatch.data["lang"])
        return await self._willing(plugin, said, lang, dispatch.session or Session())

    async def _willing(self, plugin: Plugin, utterances: tuple[str, ...], lang: str, session: Session) -> str | None:
        for one in self._fallbacks.get(plugin.id, (plugin, ()))[1]:
            if one.when is None:
                return one.method
            name, when = f"when of {one.method}", partial(one.when, plugin)
            if await self._decide(plugin, name, when, utterances, lang, session):
                return one.method
        return None

    def _keep_in_mind(self, plugin_id: str, utterance_id: str | None, method: str) -> None:
        if len(self._wanted) >= _IN_MIND:  # another skill was called instead
            del self._wanted[next(iter(self._wanted))]
        self._wanted[plugin_id, utterance_id] = method

    def _common_query(self, ping: Message) -> None:
        for plugin, answering in self._answering.values():
            if self.answers(plugin.id, ping):
                self._spawn(self._decide_answer(plugin, answering, ping))

    async def _decide_answer(self, plugin: Plugin, answering: tuple[AnswerMethod, ...], ping: Message) -> None:
        question, lang = _asked(ping)
        wanted = False
        for one in answering:
            if one.wants is None:
                wanted = True
            elif not wanted:
                name, wants = f"wants of {one.method}", partial(one.wants, plugin)
                wanted = await self._decide(plugin, name, wants, question, lang, ping.session or Session()) is True
        self._pong(ping, topics.COMMON_QUERY_PONG, plugin.id, can_answer=wanted, utterance=question)

    def _request(self, request: Message) -> None:
        found = self._answering.get(str(request.data.get("skill_id")))
        if found is not None and self.answers(found[0].id, request):
            self._spawn(self._answer(*found, request))

    async def _answer(self, plugin: Plugin, answering: tuple[AnswerMethod, ...], request: Message) -> None:
        question, lang = _asked(request)
        best: Answer | None = None
        for one in answering:
            know, asked = getattr(plugin, one.method), (question, lang, request.session or Session())
            entry, outcome = await self._call(plugin, one.method, know, _ANSWER, *asked)
            if outcome.error is not None:
                continue
            try:
                given = _answer(outcome.value)
            except TypeError as error:
                self._runner.record_failure(entry, f"{one.method} returned {error}; it returns text, an Answer or None")
                continue
            entry.succeeded()
            if given is not None and (best is None or given.confidence > best.confidence):
                best = given
        known: dict[str, Any] = {} if best is None else {"answer": best.text, "conf": best.confidence}
        if best is not None and best.source:
            known["source"] = best.source
        self._pong(request, topics.COMMON_QUERY_RESPONSE, plugin.id, utterance=question, **known)

    async def _decide(self, plugin: Plugin, name: str, method: Callable[..., Any], *arguments: Any) -> bool | None:
        """What a plugin decides; None when it failed, or returned what is no decision."""
        entry, outcome = await self._call(plugin, name, method, _DECIDE, *arguments)
        decision = outcome.value
        if type(decision) is bool:
            entry.succeeded()
            return decision
        if outcome.error is None:
            kind = type(decision).__name__
            self._runner.record_failure(entry, f"{name} returned a {kind}; it returns True or False")
        return None

    async def _call(
        self, plugin: Plugin, name: str, method: Callable[..., Any], limit: float, *arguments: Any
    ) -> tuple[Loaded[Plugin], Outcome]:
        key = plugin.id, name
        entry = self._entries.get(key)
        if entry is None or entry.plugin is not plugin:
            entry = self._entries[key] = Loaded(plugin, method, limit=limit)
        if not entry.available(self._runner.clock.monotonic()):
            return entry, Outcome(None, LookupError(f"{plugin.id}.{name} is out of service"), 0.0)
        return entry, await self._runner.call(entry, *arguments)

    def _pong(self, ping: Message, topic: str, skill_id: str, **data: Any) -> None:
        self._bus.emit(ping.reply(topic, Frozen(data, skill_id=skill_id)))

    def _spawn(self, deciding: Awaitable[None]) -> None:
        task = asyncio.ensure_future(deciding)
        self._deciding.add(task)
        task.add_done_callback(self._deciding.discard)


def _said(ping: Message) -> tuple[tuple[str, ...], str]:
    utterances, lang = ping.data.get("utterances"), ping.data.get("lang")
    texts = tuple(text for text in utterances if isinstance(text, str)) if isinstance(utterances, tuple) else ()
    return texts, lang if isinstance(lang, str) else ""


def _asked(message: Message) -> tuple[str, str]:
    question, lang = message.data.get("utterance"), message.data.get("lang")
    return (question if isinstance(question, str) else ""), (lang if isinstance(lang, str) else "")


def _answer(given: Any) -> Answer | None:
    """What a plugin answered; raises for what is no answer. It may have returned anything, or put anything into one."""
    answer = Answer(given) if type(given) is str else given
    if answer is None or (type(given) is str and not given):
        return None
    if type(answer) is not Answer:
        raise TypeError(f"a {type(answer).__name__}")
    text, confidence = answer.text, answer.confidence
    if type(text) is not str or type(confidence) not in (int, float) or not 0 <= confidence <= 1:
        raise TypeError("an Answer whose text is no text, or whose confidence is not from 0 to 1")
    source = answer.source.encode(errors="replace").decode() if type(answer.source) is str else ""
    return Answer(text.encode(errors="replace").decode(), float(confidence), source) if text else None
