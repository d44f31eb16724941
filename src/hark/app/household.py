"""A house that is lived in: with those who talk to it, what it remembers, and its door."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from types import TracebackType
from typing import TYPE_CHECKING

from hark.app.control.server import Control
from hark.app.doctor.examine import examine
from hark.app.doctor.report import Report
from hark.app.house import House
from hark.app.settings import Settings
from hark.app.state.keeping import State
from hark.app.talk import Talk
from hark.bus import LocalBus
from hark.hosting import Refusal
from hark.model import Clock
from hark.plugins import Plugin
from hark.trace import TraceRecord

if TYPE_CHECKING:  # who deals in text does not pay for it
    from hark.app.voice.engines import VoiceConfig


class Household:
    """An assistant as a process runs it: `async with Household(...) as household: await household.talk.ask(...)`."""

    house: House
    talk: Talk
    visitors = "say"

    def __init__(
        self,
        settings: Settings,
        plugins: Iterable[Plugin | Refusal],
        clock: Clock,
        aside: Callable[[str], None],
        *,
        state: State | None = None,
        door: socket.socket | None = None,
        settings_file: str = "no file",
        aloud: VoiceConfig | None = None,
    ) -> None:
        self._settings = settings
        self._plugins = plugins
        self._clock = clock
        self._aside = aside
        self._state = state
        self._door = door
        self._settings_file = settings_file
        self._aloud = aloud
        self._control: Control | None = None

    async def __aenter__(self) -> Household:
        bus = LocalBus()
        state = self._state
        self.talk = Talk(bus, self._clock, self._aside)
        self.house = House(
            self._settings,
            bus,
            self._clock,
            self._plugins,
            render=self.talk.render,
            serves=self.talk.serves,
            restored=state.restored if state is not None else None,
            save=state.save if state is not None else None,
            on_trace=state.writer.trace if state is not None else None,
            data_root=state.plugin_data if state is not None else None,
            aloud=self._aloud,
        )
        try:
            await self._open()
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self._close()

    async def _open(self) -> None:
        await self.house.start()
        if self._state is not None and self._door is not None:
            self._control = Control(self._door, self._state.directory, self)
            await self._control.start()

    def talking(self) -> AbstractAsyncContextManager[Talk]:
        """As promised by `Assistant`."""
        return nullcontext(self.talk)

    async def story(self, prefix: str) -> TraceRecord | None:
        """As promised by `Assistant`."""
        trace = self.house.traces.find(prefix)
        return trace.record() if trace is not None else None

    async def examine(self) -> Report:
        """As promised by `Assistant`."""
        return examine(self.house, self._settings_file)

    def langs(self) -> frozenset[str]:
        """As promised by `Assistant`."""
        return self.house.settings.understanding().langs

    async def _close(self) -> None:
        await self.talk.all_said(self.house.settings.limits.grace)
        # The door after the house: whoever waits there for an answer gets it within the grace.
        await self.house.stop()
        if self._control is not None:
            await self._control.close()
        await self.house.bus.close()
