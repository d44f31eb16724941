"""Where people are: the conversation and the door of an assistant whose rooms are in other processes."""

from __future__ import annotations

import socket
from collections.abc import Callable, Collection
from pathlib import Path
from types import TracebackType

from hark.app.control.server import Control
from hark.app.rooms.examining import Doctor
from hark.app.rooms.names import RoomName
from hark.app.rooms.remote_talk import RemoteTalk
from hark.app.rooms.roster import Roster
from hark.app.rooms.stories import Stories
from hark.app.settings import Settings
from hark.bus import RemoteBus
from hark.model import Clock


class Front:
    """As `Household`, with nobody living in it: `async with Front(...) as front: await front.talk.ask(...)`."""

    def __init__(
        self,
        rooms: Collection[RoomName],
        settings: Settings,
        clock: Clock,
        bus: RemoteBus,
        aside: Callable[[str], None],
        *,
        directory: Path | None = None,
        door: socket.socket | None = None,
        settings_file: str = "no file",
    ) -> None:
        self._rooms = rooms
        self._settings = settings
        self._bus = bus
        self.roster = Roster(bus)
        self.talk = RemoteTalk(bus, clock, aside)
        self.stories = Stories(bus, self.roster)
        self.doctor = Doctor(bus, self.roster, settings, settings_file, rooms)
        self._control: Control | None = None
        if door is not None and directory is not None:
            self._control = Control(door, directory, self.talk, self.stories.find, self._langs, self.doctor.examine)

    async def __aenter__(self) -> Front:
        self.roster.ask()
        if self._control is not None:
            await self._control.start()
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.talk.all_said(self._settings.limits.grace)
        if self._control is not None:
            await self._control.close()
        self.roster.close()
        await self._bus.close()

    async def ready(self) -> None:
        """Wait until every room is ready."""
        await self.roster.ready(self._rooms)

    def _langs(self) -> frozenset[str]:
        return self._settings.understanding().langs
