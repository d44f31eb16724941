"""The processes of an assistant, as tasks of one test: each with a bus of its own at one broker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from hark.app.control.door import Door
from hark.app.processes.claims import WINDOW, ProcessInfo
from hark.app.processes.remote_front import RemoteFront
from hark.app.processes.service_process import ServiceProcess
from hark.app.services import ALL_SERVICES, ServiceName
from hark.app.settings import settings_from
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
        self.lodgings: list[ServiceProcess] = []
        self.fronts: list[RemoteFront] = []
        self.buses: list[RemoteBus] = []
        self.lost: list[ProcessInfo] = []
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
        *rooms: ServiceName,
        plugins: Sequence[Plugin] = (),
        state: State | None = None,
        is_worker: bool = False,
        door: Door | None = None,
    ) -> ServiceProcess:
        """Open rooms; raises `Taken`."""
        lodging = ServiceProcess(
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

    async def leave(self, lodging: ServiceProcess) -> None:
        """End a process in good order."""
        self.lodgings.remove(lodging)
        await self.meanwhile(lodging.__aexit__(None, None, None))

    async def die(self, lodging: ServiceProcess) -> None:
        """End a process as SIGKILL does: it says nothing more, and its connection is gone."""
        self.lodgings.remove(lodging)
        await lodging.house.bus.carrier.close()  # type: ignore[attr-defined]
        lodging.house.bus._deaf = True  # type: ignore[attr-defined]
        await self.meanwhile(lodging.house.stop())
        lodging.role.close()

    async def front(self, rooms: Sequence[ServiceName] = ALL_SERVICES) -> RemoteFront:
        front = RemoteFront(rooms, self.settings, self.clock, await self.bus(), self.aside.append)
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
