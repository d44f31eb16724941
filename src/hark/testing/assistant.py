"""A whole assistant in a test."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from hark.app.client import OpenQuestions, is_question
from hark.app.runtime import Runtime
from hark.app.settings import Settings, settings_from
from hark.builtin import MATCHERS
from hark.bus import Carrier, LocalBus
from hark.model import Clock, Message, Session
from hark.plugins import PipelinePlugin, Plugin
from hark.speak import SpokenResponse
from hark.spec import is_pipeline_id, topics
from hark.testing.clock import FakeClock
from hark.testing.layouts import Layout, SplitHouse
from hark.trace import TurnTrace, render

_MARK: Final = "hark_heard"
_PATIENCE: Final = 30.0

_TELLING: Final = (topics.UTTERANCE_SPEAK, topics.UTTERANCE_HANDLED)
"""From these a client learns what has become of its session."""

_FIRST: Final = ("stop", "converse")

CLOSING: Final = "closing the assistant"
"""The name of the task that closes the house, for whoever looks at all of them."""


class Assistant:
    """An assistant with these plugins and skills, the matchers of the default pipeline, and nothing else.

    `async with Assistant(MySkill()) as assistant: await assistant.hears("...")`. Time stands still unless the test
    advances `assistant.clock`. `matchers` are the ones it has besides those it is given. Plugins keep
    their data under `data_root`; without it, nothing is kept on disk. In the layout "services" every service has a bus
    of its own, as if it were a process, and meets the others at a broker, to which `carrier` makes ways if it is not
    one in memory; at NATS there are two that understand.
    """

    def __init__(
        self,
        *plugins: Plugin,
        settings: Settings | Mapping[str, Any] | None = None,
        clock: Clock | None = None,
        bus: type[LocalBus] = LocalBus,
        layout: Layout = "one process",
        carrier: Callable[[], Carrier] | None = None,
        matchers: Sequence[type[PipelinePlugin]] = MATCHERS,
        data_root: Path | None = None,
    ) -> None:
        self.clock: Any = clock or FakeClock()
        self._plugins = _furnished(plugins, matchers)
        self._settings = self._filled(settings)
        self._bus_type = bus
        self._layout = layout
        self._carrier = carrier
        self._data_root = data_root
        self._marks = count(1)
        self._turns: dict[str, Hearing] = {}
        self._questions = OpenQuestions[Hearing]()
        self._sessions: dict[str, Session] = {}
        """Named sessions, each as it was last told: whoever speaks in one sends it along (SESSION-2)."""
        self.messages: list[Message] = []
        """Every Message on the bus, in order."""
        self.runtime: Runtime | SplitHouse

    @property
    def bus(self) -> LocalBus:
        """The bus everything runs on."""
        return self.runtime.bus

    async def __aenter__(self) -> Assistant:
        if self._layout != "one process":
            self.runtime = await SplitHouse.build(
                self._settings,
                self.clock,
                self._plugins,
                self._saw,
                self._rendered,
                self._data_root,
                self._carrier,
            )
        else:
            bus = self._bus_type()
            await bus.open()
            bus.tap(self._saw)
            self.runtime = Runtime(
                self._settings,
                bus,
                self.clock,
                self._plugins,
                render=self._rendered,
                serves=lambda _id: True,
                data_root=self._data_root,
            )
        await self.runtime.start()
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        closing = asyncio.create_task(self.runtime.stop(), name=CLOSING)
        while not closing.done():
            # Grace periods of the shutdown are time too.
            if isinstance(self.clock, FakeClock):
                await self.clock.advance(1.0)
            else:
                await asyncio.wait({closing}, timeout=0.05)
        await closing
        await self.bus.close()

    async def hears(
        self,
        text: str | list[str],
        *,
        lang: str | None = None,
        session: Session | str | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> list[str]:
        """Say something to the assistant; what it answered, once the turn ended and its speech was rendered.

        It also returns when the turn asked a question. What is said next in that session is the answer, and what the
        handler says to it is what comes back. A `session` named by a string goes on from turn to turn.
        """
        hearing = self.say(text, lang=lang, session=session, context=context)
        try:
            async with asyncio.timeout(_PATIENCE):
                await hearing.over.wait()
                for resumed in hearing.resumed:
                    await resumed.over.wait()
        except TimeoutError:
            raise AssertionError(f"the turn did not end within {_PATIENCE:g} s:\n{self.why()}") from None
        return list(hearing.spoken)

    def say(
        self,
        text: str | list[str],
        *,
        lang: str | None = None,
        session: Session | str | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Hearing:
        """As `hears`, without waiting: several turns can be under way."""
        mark = f"heard-{next(self._marks)}"
        utterances = [text] if isinstance(text, str) else text
        hearing = self._turns[mark] = Hearing(tuple(utterances))
        data: dict[str, Any] = {"utterances": utterances}
        if lang is not None:
            data["lang"] = lang
        if isinstance(session, str):
            session = self._sessions.get(session) or Session(session)
        self.bus.emit(Message(topics.UTTERANCE_HANDLE, data, {**(context or {}), _MARK: mark}, session))
        return hearing

    def topics(self) -> list[str]:
        """The topics of every Message on the bus, Hark's private ones apart."""
        return [message.type for message in self.messages if not message.type.startswith("hark.")]

    def of(self, topic: str) -> list[Message]:
        """The Messages on one topic."""
        return [message for message in self.messages if message.type == topic]

    def trace(self, utterance_id: str = "") -> TurnTrace:
        """The trace of the last turn, or of the one with this id."""
        trace = self.runtime.traces.find(utterance_id)
        if trace is None:
            raise LookupError("no turn has begun")
        return trace

    def why(self, utterance_id: str = "") -> str:
        """The last turn's trace, for people."""
        return render(self.trace(utterance_id).record())

    def _saw(self, message: Message) -> None:
        self.messages.append(message)
        if message.type in _TELLING and message.session is not None:
            self._sessions[message.session_id] = message.session
        hearing = self._turns.get(message.context.get(_MARK, ""))
        if hearing is not None:
            hearing.saw(message)
            asking = self._questions.saw(message, hearing)
            if asking is not None:
                asking.go_on(hearing)

    def _rendered(self, spoken: SpokenResponse) -> None:
        hearing = self._turns.get(spoken.message.context.get(_MARK, ""))
        if hearing is not None:
            hearing.hear(spoken.text)

    def _filled(self, settings: Settings | Mapping[str, Any] | None) -> Settings:
        """The settings, with the pipeline plugins in their order unless they say otherwise."""
        if isinstance(settings, Settings):
            return settings
        tree = {key: dict(value) for key, value in (settings or {}).items()}
        matchers = [plugin for plugin in self._plugins if isinstance(plugin, PipelinePlugin)]
        pipeline = [plugin.id for plugin in matchers if is_pipeline_id(getattr(plugin, "id", None))]
        tree.setdefault("assistant", {}).setdefault("pipeline", pipeline)
        return settings_from(tree)


def _furnished(plugins: tuple[Plugin, ...], matchers: Sequence[type[PipelinePlugin]]) -> tuple[Plugin, ...]:
    """The plugins with the usual matchers: those that have to be first, then the given ones, then the others."""
    given = {getattr(plugin, "id", None) for plugin in plugins}
    usual = [matcher() for matcher in matchers if matcher.id not in given]
    first = [matcher for matcher in usual if matcher.id in _FIRST]
    return (*first, *plugins, *(matcher for matcher in usual if matcher not in first))


class Hearing:
    """A turn under way in a test."""

    def __init__(self, utterances: tuple[str, ...] = ()) -> None:
        self.utterances = utterances
        """What was said to the assistant."""
        self.spoken: list[str] = []
        """What was answered so far. Who answers a question also hears what its handler says then."""
        self.over = asyncio.Event()
        """Set when the turn ended, with those that its handler began, and all speech was rendered; also set while
        its handler waits for an answer."""
        self.entries = 0
        """Utterances seen: the one that was said, and those its handler emitted."""
        self.markers = 0
        """End markers seen; more than utterances is a fault."""
        self.resumed: list[Hearing] = []
        """The turns that go on because this was the answer to their question."""
        self._asking = False
        self._unrendered = 0
        self._answered_by: Hearing | None = None

    def saw(self, message: Message) -> None:
        """Take note of a Message of this turn."""
        if message.type == topics.UTTERANCE_SPEAK:
            self._unrendered += 1
            self._asking = self._asking or is_question(message)
        elif message.type == topics.SPEECH_RENDERED:
            self._unrendered -= 1
        elif message.type == topics.UTTERANCE_HANDLE:
            self.entries += 1
        elif message.type == topics.UTTERANCE_HANDLED:
            self.markers += 1
        elif message.type == topics.HANDLER_WAITING and message.data.get("waits") is False:
            self._asking = False
        self._look()

    def hear(self, text: str) -> None:
        """Something was said in this turn."""
        self.spoken.append(text)
        if self._answered_by is not None:
            self._answered_by.hear(text)

    def go_on(self, answer: Hearing) -> None:
        """`answer` is what this turn has waited for."""
        self._asking = False
        self._answered_by = answer
        answer.resumed.append(self)
        self._look()

    def _look(self) -> None:
        if (self._asking or self.entries == self.markers) and not self._unrendered:
            self.over.set()
        else:
            self.over.clear()
