"""Rooms of an assistant as a process runs them: over a bus it shares with the processes of the other rooms."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING

from hark.app.control.door import Door
from hark.app.doctor.examine import examine
from hark.app.house import House
from hark.app.processes.claims import ProcessInfo, ServiceClaim, myself
from hark.app.processes.queries import ReportResponder, TraceResponder
from hark.app.processes.remote_listeners import RemoteListeners
from hark.app.processes.remote_view import RemoteView
from hark.app.services.names import ServiceName
from hark.app.settings import Settings
from hark.app.state.keeping import State
from hark.bus import RemoteBus
from hark.hosting import Refusal
from hark.model import Clock
from hark.plugins import Plugin
from hark.speak import Spoken
from hark.understand import Worker, end_lost

if TYPE_CHECKING:
    from hark.app.voice.aloud import Aloud


class ServiceProcess:
    """`async with Lodging(...) as lodging: ...`: the rooms are claimed, then ready. Raises `Taken`."""

    house: House

    def __init__(
        self,
        rooms: Collection[ServiceName],
        settings: Settings,
        plugins: Iterable[Plugin | Refusal],
        clock: Clock,
        bus: RemoteBus,
        lost: Callable[[ProcessInfo], None],
        *,
        state: State | None = None,
        is_worker: bool = False,
        settings_file: str = "no file",
        aloud: Aloud | None = None,
        door: Door | None = None,
    ) -> None:
        self._rooms = rooms
        self._settings = settings
        self._plugins = plugins
        self._clock = clock
        self._bus = bus
        self._state = state
        self._is_worker = is_worker
        self._settings_file = settings_file
        self._aloud = aloud
        self._door = door
        """The control socket, which the processes that share a state directory have in turns."""
        self.role = ServiceClaim(bus, clock, myself(rooms, clock.wall(), is_worker=is_worker), lost)
        # From the first moment on: those who are here say so when somebody claims the room that speaks.
        self._audience = RemoteListeners(bus) if "speak" in rooms else None
        self._view: RemoteView | None = None
        self._listeners: list[TraceResponder | ReportResponder] = []

    async def __aenter__(self) -> ServiceProcess:
        try:
            await self.role.claim()
        except BaseException:
            self.role.close()
            await self._bus.close()
            raise
        state = self._state
        restored = state.restored if state is not None else None
        turns = state.turns if state is not None else None
        save = None
        if state is not None:  # what workers know, they know of each other: what one has noted may be old
            save = state.writer.session if self._is_worker else state.save
        worker = None
        if self._is_worker:
            worker = Worker(self._bus, self._clock, restored=restored, save=save, journal=turns)
        self.house = House(
            self._settings,
            self._bus,
            self._clock,
            self._plugins,
            rooms=self._rooms,
            settled=self.role.settled,
            render=self._audience.render if self._audience is not None else _nobody_hears,
            serves=self._audience.serves if self._audience is not None else _is_nobody_here,
            restored=restored,
            save=save,
            journal=turns,
            worker=worker,
            on_trace=state.writer.trace if state is not None else None,
            data_root=state.plugin_data if state is not None else None,
            aloud=self._aloud,
        )
        try:
            self._end_lost()
            await self.house.start()
        except BaseException:
            await self._close()
            raise
        look = partial(examine, self.house, self._settings_file)
        self._listeners = [
            TraceResponder(self._bus, self.house.traces, self.role.holder.id),
            ReportResponder(self._bus, look, self.role.holder.id),
        ]
        self.role.ready()
        if self._door is not None:
            self._view = RemoteView(self._bus, self._clock, self.role.roster, self._settings, self._settings_file)
            self._door.serve_when_free(self._view, self._clock)
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self._close()

    def _end_lost(self) -> None:
        """The process that had this room before may have died in the middle of turns: nobody else can end them."""
        # Those of a worker may have been ended by others: it asks first.
        if self._state is not None and self._state.turns is not None and not self._is_worker:
            end_lost(self._bus, self._state.turns.lost)
            self._state.turns.forget_lost()

    async def _close(self) -> None:
        await self.house.stop()
        # The door after the house: whoever waits there for an answer gets it within the grace.
        if self._door is not None:
            await self._door.close()
        self.role.leave()
        for listener in self._listeners:
            listener.close()
        if self._audience is not None:
            self._audience.close()
        await self._bus.close()


def _nobody_hears(_spoken: Spoken) -> None:
    """Nobody speaks here."""


def _is_nobody_here(_session_id: str) -> bool:
    return False
