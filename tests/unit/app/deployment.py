"""The processes of an assistant, as tasks of one test: each with a bus of its own at one broker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from hark.app.control.door import Door
from hark.app.rooms import ALL_ROOMS, RoomName
from hark.app.rooms.holder import Holder
from hark.app.rooms.lodging import Lodging
from hark.app.rooms.role import WINDOW
from hark.app.settings import settings_from
from hark.app.split.front import Front
from hark.app.state.keeping import State
from hark.bus import RemoteBus
from hark.model import Message
from hark.plugins import Plugin
from hark.testing import FakeClock, settle
from hark.testing.memory_broker import MemoryBroker


class Deployment:
    """`await deployment.lodge("act", MySkill())`, ...; everything that was started is stopped at the end."""

    def __init__(self, **tables: Any) -> None:
        self.broker = MemoryBroker()
        self.clock = FakeClock()
        self.settings = settings_from({"assistant": {"pipeline": ["template"]}, **tables})
        self.lodgings: list[Lodging] = []
        self.fronts: list[Front] = []
        self.buses: list[RemoteBus] = []
        self.lost: list[Holder] = []
        self.aside: list[str] = []
        self.messages: list[Message] = []

    async def bus(self) -> RemoteBus:
        made = RemoteBus(self.broker.carrier())
        await made.open()
        self.buses.append(made)
        return made

    async def watch(self) -> None:
        (await self.bus()).tap(self.messages.append)

    def of(self, topic: str) -> list[Message]:
        return [message for message in self.messages if message.type == topic]

    async def lodge(
        self,
        *rooms: RoomName,
        plugins: Sequence[Plugin] = (),
        state: State | None = None,
        is_worker: bool = False,
        door: Door | None = None,
    ) -> Lodging:
        """Open rooms; raises `Taken`."""
        lodging = Lodging(
            rooms,
            self.settings,
            plugins,
            self.clock,
            await self.bus(),
            self.lost.append,
            state=state,
            is_worker=is_worker,
            door=door,
        )
        await self.meanwhile(lodging.__aenter__())
        self.lodgings.append(lodging)
        return lodging

    async def meanwhile(self, work: Any) -> Any:
        """Do something that waits for others to object, or for a grace."""
        task = asyncio.ensure_future(work)
        while not task.done():
            await self.clock.advance(WINDOW)
        return await task

    async def leave(self, lodging: Lodging) -> None:
        """End a process in good order."""
        self.lodgings.remove(lodging)
        await self.meanwhile(lodging.__aexit__(None, None, None))

    async def die(self, lodging: Lodging) -> None:
        """End a process as SIGKILL does: it says nothing more, and its connection is gone."""
        self.lodgings.remove(lodging)
        await lodging.house.bus.carrier.close()  # type: ignore[attr-defined]
        lodging.house.bus._deaf = True  # type: ignore[attr-defined]
        await self.meanwhile(lodging.house.stop())
        lodging.role.close()

    async def front(self, rooms: Sequence[RoomName] = ALL_ROOMS) -> Front:
        front = Front(rooms, self.settings, self.clock, await self.bus(), self.aside.append)
        await front.__aenter__()
        self.fronts.append(front)
        await settle()
        return front

    async def close(self) -> None:
        for front in self.fronts:
            await self.meanwhile(front.__aexit__(None, None, None))
        for lodging in self.lodgings:
            await self.meanwhile(lodging.__aexit__(None, None, None))
        for bus in self.buses:
            await bus.close()


@asynccontextmanager
async def deployed(**tables: Any) -> AsyncIterator[Deployment]:
    deployment = Deployment(**tables)
    try:
        yield deployment
    finally:
        await deployment.close()
