"""A whole assistant in a test."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from hark.app.runtime import Runtime, Storage
from hark.app.settings import Settings, settings_from
from hark.app.turn_follower import FollowedTurns, TurnFollower
from hark.builtin import MATCHERS
from hark.bus import Carrier, LocalBus
from hark.model import Clock, Message, Session
from hark.plugins import PipelinePlugin, Plugin
from hark.schedule import FileStore
from hark.speak import SpokenResponse
from hark.spec import is_pipeline_id
from hark.testing.clock import FakeClock, also_wait_for
from hark.testing.layouts import Layout, SplitRuntime
from hark.trace import TurnTrace, render

PATIENCE: Final = 30.0

Hearing = TurnFollower
"""A turn under way in a test."""

_FIRST: Final = ("stop", "converse")

CLOSING: Final = "closing the assistant"
"""The name of the task that stops the assistant, for tests that look at all tasks."""


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
        self._plugins = _with_matchers(plugins, matchers)
        self._settings = self._filled(settings)
        self._bus_type = bus
        self._layout = layout
        self._carrier = carrier
        self._data_root = data_root
        self._end_waiting: Callable[[], None] | None = None
        made = any(getattr(plugin, "id", None) == "remarks" for plugin in self._plugins)
        self._turns = FollowedTurns("test", remembered=None, remarks=lambda: made)
        self.messages: list[Message] = []
        """Every Message on the bus, in order."""
        self.rendered: list[SpokenResponse] = []
        """Everything that was said, in order, with its language and the Message it came with."""
        self.runtime: Runtime | SplitRuntime

    @property
    def bus(self) -> LocalBus:
        """The bus of the assistant."""
        return self.runtime.bus

    async def __aenter__(self) -> Assistant:
        if self._layout != "one process":
            self.runtime = await SplitRuntime.build(
                self._settings,
                self.clock,
                self._plugins,
                self._saw,
                self.show,
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
                render=self.show,
                storage=Storage(data_root=self._data_root, schedules=self._schedules()),
            )
        await self.runtime.start()
        await self.runtime.prepared()  # which takes real time, whatever the clock says
        return self

    def _schedules(self) -> FileStore | None:
        """What keeps schedules on disk; it writes on a thread, for which a clock that stands still has to wait."""
        if self._data_root is None:
            return None
        store = FileStore(self._data_root / "schedules.jsonl")
        self._end_waiting = also_wait_for(store.quiet)
        return store

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        closing = asyncio.create_task(self.runtime.stop(), name=CLOSING)
        while not closing.done():
            # The grace period of the shutdown passes on the same clock.
            if isinstance(self.clock, FakeClock):
                await self.clock.advance(1.0)
            else:
                await asyncio.wait({closing}, timeout=0.05)
        await closing
        if self._end_waiting is not None:
            self._end_waiting()
        await self.bus.close()

    async def hears(
        self,
        text: str | list[str],
        *,
        lang: str | None = None,
        session: Session | str | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> list[str]:
        """Say something to the assistant and return its answers, once the turn ended and its speech was rendered.

        It also returns when the turn asked a question. The next utterance in that session is the answer to it, and
        returns what the handler then says. A `session` named by a string is continued from turn to turn.

        Raises `AssertionError` with the trace if the turn does not end within 30 s.
        """
        turn = self.say(text, lang=lang, session=session, context=context)
        try:
            async with asyncio.timeout(PATIENCE):
                await turn.over.wait()
                for resumed in turn.resumed:
                    await resumed.over.wait()
        except TimeoutError:
            raise AssertionError(f"the turn did not end within {PATIENCE:g} s:\n{self.why()}") from None
        return list(turn.spoken)

    def say(
        self,
        text: str | list[str],
        *,
        lang: str | None = None,
        session: Session | str | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Hearing:
        """As `hears`, without waiting: several turns can be open at once."""
        utterances = [text] if isinstance(text, str) else text
        message, turn = self._turns.begin(utterances, lang=lang, session=session, context=context)
        self.bus.emit(message)
        return turn

    def topics(self) -> list[str]:
        """The topics of all Messages on the bus, in order, without Hark's private ones."""
        return [message.type for message in self.messages if not message.type.startswith("hark.")]

    def of(self, topic: str) -> list[Message]:
        """The Messages on one topic."""
        return [message for message in self.messages if message.type == topic]

    def trace(self, utterance_id: str = "") -> TurnTrace:
        """The trace of the last turn, or of the one with this id; raises `LookupError` if there is none."""
        trace = self.runtime.traces.find(utterance_id)
        if trace is None:
            raise LookupError("no turn has begun")
        return trace

    def why(self, utterance_id: str = "") -> str:
        """The trace of the last turn, or of the one with this id, as text."""
        return render(self.trace(utterance_id).record())

    def _saw(self, message: Message) -> None:
        self.messages.append(message)
        self._turns.saw(message)

    def show(self, spoken: SpokenResponse) -> None:
        """Take a rendered response: it is added to `rendered`, and to what its turn answered."""
        self.rendered.append(spoken)
        turn = self._turns.of(spoken.message)
        if turn is not None:
            turn.hear(spoken.text)

    def _filled(self, settings: Settings | Mapping[str, Any] | None) -> Settings:
        """The settings, with all pipeline plugins in their order unless `settings` names a pipeline."""
        if isinstance(settings, Settings):
            return settings
        tree = {key: dict(value) for key, value in (settings or {}).items()}
        matchers = [plugin for plugin in self._plugins if isinstance(plugin, PipelinePlugin)]
        pipeline = [plugin.id for plugin in matchers if is_pipeline_id(getattr(plugin, "id", None))]
        tree.setdefault("assistant", {}).setdefault("pipeline", pipeline)
        return settings_from(tree)


def _with_matchers(plugins: tuple[Plugin, ...], matchers: Sequence[type[PipelinePlugin]]) -> tuple[Plugin, ...]:
    """The given plugins with the default matchers: stop and converse before them, the others after them."""
    given = {getattr(plugin, "id", None) for plugin in plugins}
    added = [matcher() for matcher in matchers if matcher.id not in given]
    first = [matcher for matcher in added if matcher.id in _FIRST]
    return (*first, *plugins, *(matcher for matcher in added if matcher not in first))
