"""An assistant in several processes, as one: seen from any place on the bus they share."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from typing import Final

from hark.app.doctor.report import Report
from hark.app.processes.claims import Members, ProcessInfo
from hark.app.processes.queries import ReportCollector, TraceCollector
from hark.app.processes.remote_talk import RemoteTalk
from hark.app.services.names import ServiceName
from hark.app.settings import Settings
from hark.app.talk import Talk
from hark.app.trouble import Trouble
from hark.bus import Bus
from hark.model import Clock
from hark.trace import TraceRecord

NEEDED: Final[tuple[ServiceName, ...]] = ("understand", "act", "speak")
"""The rooms without which nothing is answered; one that deals in text does not hear."""
REACH: Final = 3.0
"""Seconds in which those who are needed say that they are there."""
_LOOK: Final = 5.0
"""Seconds between two looks whether somebody still understands, while an answer is waited for."""
_MISSES: Final = 2
"""After so many without, nobody does."""


class RemoteView:
    """See `Assistant` for what it promises.

    Where nobody looks after the rooms, one that is missing may stay away: so whoever talks is told that it is. Who
    knows that they come back is `patient`, and waits for them.
    """

    def __init__(
        self,
        bus: Bus,
        clock: Clock,
        roster: Members,
        settings: Settings,
        settings_file: str = "no file",
        *,
        rooms: Collection[ServiceName] = NEEDED,
        patient: bool = False,
    ) -> None:
        self._bus = bus
        self._clock = clock
        self._settings = settings
        self._patient = patient
        self.roster = roster
        self.stories = TraceCollector(bus, roster)
        self.doctor = ReportCollector(bus, roster, settings, settings_file, rooms)
        self.visitors = f"say-{os.urandom(4).hex()}"
        """Others may talk to the same assistant from another process."""

    @asynccontextmanager
    async def talking(self) -> AsyncIterator[Talk]:
        """As promised by `Assistant`. It costs the bus something only while it is used."""
        if not self._patient:
            await self._reach()
        talk = RemoteTalk(self._bus, self._clock, _not_for_us)
        watching = None if self._patient else asyncio.ensure_future(self._watch(talk))
        try:
            yield talk
        finally:
            if watching is not None:
                watching.cancel()
            talk.close()

    async def story(self, prefix: str) -> TraceRecord | None:
        """As promised by `Assistant`."""
        return await self.stories.find(prefix)

    def langs(self) -> frozenset[str]:
        """As promised by `Assistant`."""
        return self._settings.understanding().langs

    async def examine(self) -> Report:
        """As promised by `Assistant`."""
        return await self.doctor.examine()

    async def _reach(self) -> None:
        """Raises `Trouble` that names the rooms which are missing."""
        there = await self._there(NEEDED)
        missing = [room for room in NEEDED if not any(room in one.rooms and one.is_ready for one in there)]
        if missing:
            held = {room for one in there for room in one.rooms}
            told = [f"{room} (not ready yet)" if room in held else room for room in missing]
            remedy = " ".join(f"--room {room}" for room in missing if room not in held)
            start = f"; start what is missing with: hark run {remedy}" if remedy else ""
            raise Trouble(f"nobody has the room {', '.join(told)} on this bus{start}")

    async def _there(self, rooms: Collection[str]) -> list[ProcessInfo]:
        """Who is there at this moment, and not only on a list, as soon as these rooms are ready."""
        roster = Members(self._bus)
        try:
            roster.ask()
            with suppress(TimeoutError):
                async with self._clock.timeout(REACH):
                    await roster.ready(rooms)
            return list(roster)
        finally:
            roster.close()

    async def _watch(self, talk: Talk) -> None:
        """Nobody waits for an answer of a process that is gone for good."""
        misses = 0
        while misses < _MISSES:
            await self._clock.sleep(_LOOK)
            there = await self._there(("understand",))
            misses = 0 if any("understand" in one.rooms for one in there) else misses + 1
        talk.give_up("nobody has the room understand on this bus any more")


def _not_for_us(_text: str) -> None:
    """What is said to nobody in particular is for the device."""
