"""An assistant in this process, with its client, its state and its control socket."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from types import TracebackType
from typing import TYPE_CHECKING

import msgspec

from hark.app.client import Client
from hark.app.control.protocol import Forget
from hark.app.control.server import ControlServer
from hark.app.diagnostics.examine import examine
from hark.app.diagnostics.report import DoctorReport
from hark.app.runtime import NOTHING_STORED, Runtime, makes_remarks
from hark.app.settings import Settings
from hark.app.state.store import State
from hark.app.stored_data import device_session, forget_turns
from hark.bus import LocalBus
from hark.hosting import Refusal
from hark.model import Clock, Session
from hark.plugins import Plugin
from hark.trace import TraceRecord

if TYPE_CHECKING:
    from hark.app.local_server import LocalServer
    from hark.app.voice.engines import VoiceConfig


class LocalAssistant:
    """`async with LocalAssistant(...) as assistant: await assistant.client.ask(...)`."""

    runtime: Runtime
    client: Client
    session_prefix = "say"

    def __init__(
        self,
        settings: Settings,
        plugins: Iterable[Plugin | Refusal],
        clock: Clock,
        aside: Callable[[str], None],
        *,
        state: State | None = None,
        control_socket: socket.socket | None = None,
        server: LocalServer | None = None,
        settings_file: str = "no file",
        voice: VoiceConfig | None = None,
    ) -> None:
        self._settings = settings
        self._plugins = plugins
        self._clock = clock
        self._aside = aside
        self._state = state
        self._control_socket = control_socket
        self._server = server
        self._settings_file = settings_file
        self._voice = voice
        self._control: ControlServer | None = None

    async def __aenter__(self) -> LocalAssistant:
        bus = LocalBus()
        state = self._state
        self.client = Client(bus, self._clock, self._aside, lambda: makes_remarks(self.runtime))
        self.runtime = Runtime(
            self._settings,
            bus,
            self._clock,
            self._plugins,
            render=lambda spoken: self.client.render(spoken),
            serves=self.client.serves,
            storage=state.storage if state is not None else NOTHING_STORED,
            voice=self._voice,
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
        await self.runtime.start()
        if self._state is not None and self._control_socket is not None:
            self._control = ControlServer(self._control_socket, self._state.directory, self)
            await self._control.start()
        if self._server is not None:
            self._server.start(self.runtime, self.examine)

    def open_client(self) -> AbstractAsyncContextManager[Client]:
        return nullcontext(self.client)

    async def find_trace(self, prefix: str) -> TraceRecord | None:
        trace = self.runtime.traces.find(prefix)
        return trace.record() if trace is not None else None

    async def examine(self) -> DoctorReport:
        report = await examine(self.runtime, self._settings_file)
        if self._server is None or not self._server.problem:
            return report
        return msgspec.structs.replace(report, advice=[*report.advice, self._server.problem])

    async def device_session(self, *, reset: bool) -> Session:
        return device_session(self.runtime, reset=reset)

    async def forget(self, what: Forget) -> int:
        return len(await forget_turns(what, self.runtime, self._state))

    def langs(self) -> frozenset[str]:
        return self.runtime.settings.understanding().langs

    async def _close(self) -> None:
        await self.client.all_rendered(self.runtime.settings.limits.grace)
        # The control socket is closed last: a client that waits for an answer gets it within the grace.
        await self.runtime.stop()
        if self._server is not None:
            await self._server.close()
        if self._control is not None:
            await self._control.close()
        await self.runtime.bus.close()
