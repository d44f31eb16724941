"""A process that has services of an assistant, and shares a bus with the processes of the others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Final

from hark.app.control.server import ControlSocket
from hark.app.diagnostics.examine import examine
from hark.app.processes.claims import PingResponder, ProcessInfo, Settlement, this_process, until_ready
from hark.app.processes.connection import ProcessConnection
from hark.app.processes.queries import PluginsResponder, ReportResponder, TraceResponder
from hark.app.processes.remote_view import RemoteView
from hark.app.processes.stored_data import StoredDataResponder
from hark.app.runtime import NOTHING_STORED, Runtime
from hark.app.service_names import ServiceName
from hark.app.settings import Settings
from hark.app.state.store import State
from hark.hosting import Refusal
from hark.model import Clock
from hark.plugins import Plugin
from hark.spec import DEFAULT_SESSION_ID
from hark.understand import end_lost

if TYPE_CHECKING:  # a process that deals in text does not import engines
    from hark.app.voice.engines import VoiceConfig

_STARTING: Final = 20.0
"""Seconds for which turns wait for a process of the skills that is starting."""
_POLL: Final = 0.1
_SKILLS: Final = 60.0
"""Seconds for which the scheduler waits at its start for the process that has the skills."""


class ServiceProcess:
    """`async with ServiceProcess(...) as process: ...`: the services are claimed, then ready. Raises `ServiceTaken`.

    `lost` is called when another process turns out to have a service: this one must end then.
    """

    runtime: Runtime

    def __init__(
        self,
        services: Collection[ServiceName],
        settings: Settings,
        plugins: Iterable[Plugin | Refusal],
        clock: Clock,
        connection: ProcessConnection,
        lost: Callable[[ProcessInfo], None],
        *,
        state: State | None = None,
        worker: str | None = None,
        settings_file: str = "no file",
        voice: VoiceConfig | None = None,
        control_socket: ControlSocket | None = None,
    ) -> None:
        self._services = services
        self._settings = settings
        self._plugins = plugins
        self._clock = clock
        self._connection = connection
        self._bus = connection.bus
        self._state = state
        self._worker = worker
        """Its name among the workers that share `understand`, if it does."""
        self._settings_file = settings_file
        self._voice = voice
        self._control_socket = control_socket
        """The control socket, which the processes that share a state directory serve in turns."""
        info = this_process(services, clock.wall(), is_worker=worker is not None)
        self.claim = connection.claim(info, clock, lost, worker or "")
        self._settlement = Settlement(self._bus, connection.members, info.id)
        self._responders: list[
            PingResponder | PluginsResponder | TraceResponder | ReportResponder | StoredDataResponder
        ] = [PingResponder(self._bus, self.claim)]

    async def __aenter__(self) -> ServiceProcess:
        try:
            await self.claim.take()
            self._build()
        except BaseException:
            await self._disconnect()
            raise
        try:
            self._end_lost()
            await self.runtime.start()
            own_id = self.claim.info.id
            self._responders += [
                PluginsResponder(self._bus, self.runtime.ids, own_id),
                TraceResponder(self._bus, self.runtime.traces, own_id),
                ReportResponder(self._bus, partial(examine, self.runtime, self._settings_file), own_id),
                StoredDataResponder(self._bus, self.runtime, self._state, own_id),
            ]
            await self.claim.ready()
        except BaseException:
            await self._close()
            raise
        if self._control_socket is not None:
            view = RemoteView(self._bus, self._clock, self._connection.members, self._settings, self._settings_file)
            self._control_socket.serve_when_free(view, self._clock)
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self._close()

    def _build(self) -> None:
        self.runtime = Runtime(
            self._settings,
            self._bus,
            self._clock,
            self._plugins,
            services=self._services,
            settled=self._settlement.reached,
            serves=_no_listener_here,
            streams=self._connection.streams,
            storage=self._state.storage if self._state is not None else NOTHING_STORED,
            voice=self._voice,
            skills_ready=self._skills_ready if "act" not in self._services else None,
            handlers_ready=self._act_started if self._is_understand_alone else None,
        )
        if "speak" in self._services:  # at the device itself a client always listens, in whatever process
            self.runtime.speaker.remote.include(DEFAULT_SESSION_ID)

    @property
    def _is_understand_alone(self) -> bool:
        return "understand" in self._services and "act" not in self._services

    async def _act_started(self) -> None:
        """Wait while the process of the skills is starting: what is said meanwhile would not be understood.

        One that nobody has started yet is not waited for: there may be none.
        """
        with suppress(TimeoutError):
            async with self._clock.timeout(_STARTING):
                while any(
                    "act" in one.services and not one.is_ready for one in await self._connection.members.present()
                ):
                    await self._clock.sleep(_POLL)

    async def _skills_ready(self) -> None:
        """Wait until there are skills to hear what the scheduler has to catch up on, though not for ever."""
        with suppress(TimeoutError):
            async with self._clock.timeout(_SKILLS):
                await until_ready(self._connection.members, ("act",), self._clock)

    def _end_lost(self) -> None:
        """End the turns that the last process of this service had open when it died: no other process knows them."""
        if self._state is not None and self._state.turns is not None and self._worker is None:
            end_lost(self._bus, self._state.turns.lost)
            self._state.turns.forget_lost()

    async def _close(self) -> None:
        if self._connection.streams is not None and not await self._has_colleague():
            self.runtime.keep_turns()
        await self.runtime.stop()
        if self._state is not None and self._connection.streams is not None and "understand" in self._services:
            # For an assistant in one process, and for a broker whose store is gone by then.
            self._state.writer.session(self.runtime.store.current)
        # The control socket after the services: a client that waits there for an answer gets it within the grace.
        if self._control_socket is not None:
            await self._control_socket.close()
        await self.claim.leave()
        await self._disconnect()

    async def _has_colleague(self) -> bool:
        """Whether another worker can see to their end the turns that are open here."""
        present = await self._connection.members.present()
        return any("understand" in one.services and one.is_ready for one in present if one.id != self.claim.info.id)

    async def _disconnect(self) -> None:
        self._settlement.close()
        for responder in self._responders:
            responder.close()
        await self._connection.close()


def _no_listener_here(_session_id: str) -> bool:
    return False
