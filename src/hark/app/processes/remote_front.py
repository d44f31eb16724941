"""Where people are: the conversation and the door of an assistant whose rooms are in other processes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from types import TracebackType

from hark.app.control.door import Door
from hark.app.processes.claims import Members
from hark.app.processes.remote_talk import RemoteTalk
from hark.app.processes.remote_view import RemoteView
from hark.app.services.names import ServiceName
from hark.app.settings import Settings
from hark.bus import RemoteBus
from hark.model import Clock


class RemoteFront:
    """As `Household`, with nobody living in it: `async with Front(...) as front: await front.talk.ask(...)`.

    The door was taken before, and is served from now on.
    """

    def __init__(
        self,
        rooms: Collection[ServiceName],
        settings: Settings,
        clock: Clock,
        bus: RemoteBus,
        aside: Callable[[str], None],
        *,
        door: Door | None = None,
        settings_file: str = "no file",
    ) -> None:
        self._rooms = rooms
        self._settings = settings
        self._bus = bus
        self._door = door
        self.roster = Members(bus)
        self.talk = RemoteTalk(bus, clock, aside)
        # Whoever has this looks after the rooms.
        self.view = RemoteView(bus, clock, self.roster, settings, settings_file, rooms=rooms, patient=True)
        self.stories = self.view.stories
        self.doctor = self.view.doctor

    async def __aenter__(self) -> RemoteFront:
        self.roster.ask()
        if self._door is not None:
            await self._door.serve(self.view)
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.talk.all_said(self._settings.limits.grace)
        if self._door is not None:
            await self._door.close()
        self.roster.close()
        await self._bus.close()

    async def ready(self) -> None:
        """Wait until every room is ready."""
        await self.roster.ready(self._rooms)
