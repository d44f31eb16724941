"""Answering for plugins when candidates are asked: who converses, who can be stopped, who knows, who falls back.

The frame answers for everybody it hosts, also for those who have nothing to say: a candidate that keeps silent costs
every utterance the whole window.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

from hark.act.work import Work
from hark.bus import Bus
from hark.hosting import Loaded, Outcome, Runner
from hark.model import Frozen, Message, Session
from hark.plugins import Plugin
from hark.plugins.conversing import Answer, Answering, Conversing, answering_of, converses, fallbacks_of
from hark.spec import topics

_DECIDE: Final = 5.0
"""Seconds a plugin may take to decide; polls have windows of their own, most of them shorter."""
_ANSWER: Final = 10.0
"""Seconds a plugin may take to answer a question."""


class Polls:
    """Listens to the polls for all hosted plugins at once."""

    def __init__(self, bus: Bus, runner: Runner, work: Work) -> None:
        self._bus = bus
        self._runner = runner
        self._work = work
        self._plugins: dict[str, Plugin] = {}
        self._entries: dict[tuple[str, str], Loaded[Plugin]] = {}
        """How each deciding method is called, and how it behaves."""
        self._deciding: set[asyncio.Task[None]] = set()
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

    def detach(self, plugin_id: str) -> None:
        """Answer for it no more."""
        self._plugins.pop(plugin_id, None)
        self._entries = {key: entry for key, entry in self._entries.items() if key[0] != plugin_id}

    def close(self) -> None:
        """Listen no longer; whoever still decides is too late."""
        for subscription in self._subscriptions:
            subscription.close()
        for task in self._deciding:
            task.cancel()

    def _converse(self, ping: Message) -> None:
        session = ping.session or Session()
        for handler in session.converse_handlers:
            plugin = self._plugins.get(handler.skill_id)
            if plugin is None:
                continue
            if not converses(plugin):
                self._pong(ping, topics.CONVERSE_PONG, plugin.id, can_handle=False, error_code="done")
            else:
                self._spawn(self._decide_converse(plugin, ping, session))

    async def _decide_converse(self, plugin: Any, ping: Message, session: Session) -> None:
        outcome = await self._call(plugin, "can_converse", plugin.can_converse, _DECIDE, *_said(ping), session)
        failed = {} if outcome.error is None else {"error_code": "handler_error"}
        self._pong(ping, topics.CONVERSE_PONG, plugin.id, can_handle=outcome.value is True, **failed)

    def _stop(self, ping: Message) -> None:
        session = ping.session or Session()
        for handler in session.active_handlers:
            plugin = self._plugins.get(handler.skill_id)
            if plugin is not None:
                self._spawn(self._decide_stop(plugin, ping, session))

    async def _decide_stop(self, plugin: Plugin, ping: Message, session: Session) -> None:
        busy = self._work.is_busy(plugin.id, session.session_id)
        if not busy and isinstance(plugin, Conversing) and type(plugin).can_stop is not Conversing.can_stop:
            busy = (await self._call(plugin, "can_stop", plugin.can_stop, _DECIDE, session)).value is True
        self._pong(ping, topics.STOP_PONG, plugin.id, can_handle=busy)

    def _fallback(self, ping: Message) -> None:
        for plugin in self._plugins.values():
            if fallbacks_of(plugin):
                self._spawn(self._decide_fallback(plugin, ping))

    async def _decide_fallback(self, plugin: Plugin, ping: Message) -> None:
        utterances, lang = _said(ping)
        wanted = await self.willing_fallback(plugin, utterances, lang, ping.session or Session()) is not None
        first = utterances[0] if utterances else ""
        self._pong(ping, topics.FALLBACK_PONG, plugin.id, can_handle=wanted, utterance=first)

    async def willing_fallback(
        self, plugin: Plugin, utterances: tuple[str, ...], lang: str, session: Session
    ) -> str | None:
        """The name of the first `@fallback` method of a plugin that wants what was said."""
        for one in fallbacks_of(plugin):
            if one.when is None:
                return one.method
            said = (utterances, lang, session)
            outcome = await self._call(plugin, f"when of {one.method}", partial(one.when, plugin), _DECIDE, *said)
            if outcome.value is True:
                return one.method
        return None

    def _common_query(self, ping: Message) -> None:
        for plugin in self._plugins.values():
            if answering := answering_of(plugin):
                self._spawn(self._decide_answer(plugin, answering, ping))

    async def _decide_answer(self, plugin: Plugin, answering: tuple[Answering, ...], ping: Message) -> None:
        question, lang = _asked(ping)
        wanted = False
        for one in answering:
            if one.wants is None:
                wanted = True
            elif not wanted:
                name, wants = f"wants of {one.method}", partial(one.wants, plugin)
                outcome = await self._call(plugin, name, wants, _DECIDE, question, lang, ping.session or Session())
                wanted = outcome.value is True
        self._pong(ping, topics.COMMON_QUERY_PONG, plugin.id, can_answer=wanted, utterance=question)

    def _request(self, request: Message) -> None:
        plugin = self._plugins.get(str(request.data.get("skill_id")))
        if plugin is not None and (answering := answering_of(plugin)):
            self._spawn(self._answer(plugin, answering, request))

    async def _answer(self, plugin: Plugin, answering: tuple[Answering, ...], request: Message) -> None:
        question, lang = _asked(request)
        best: Answer | None = None
        for one in answering:
            know, asked = getattr(plugin, one.method), (question, lang, request.session or Session())
            given = (await self._call(plugin, one.method, know, _ANSWER, *asked)).value
            if isinstance(given, str):
                given = Answer(given)
            if type(given) is Answer and given.text and (best is None or given.confidence > best.confidence):
                best = given
        known = {} if best is None else {"answer": best.text, "conf": max(0.0, min(1.0, float(best.confidence)))}
        self._pong(request, topics.COMMON_QUERY_RESPONSE, plugin.id, utterance=question, **known)

    async def _call(
        self, plugin: Plugin, name: str, method: Callable[..., Any], limit: float, *arguments: Any
    ) -> Outcome:
        key = plugin.id, name
        entry = self._entries.get(key)
        if entry is None or entry.plugin is not plugin:
            entry = self._entries[key] = Loaded(plugin, method, limit=limit)
        if not entry.available(self._runner.clock.monotonic()):
            return Outcome(None, LookupError(f"{plugin.id}.{name} is out of service"), 0.0)
        outcome = await self._runner.call(entry, *arguments)
        if outcome.error is None:
            entry.succeeded()
        return outcome

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
