"""The processes of an assistant, as tasks of one test: each with a bus of its own at one broker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from hark.app.control.server import ControlSocket
from hark.app.processes.claims import ProcessInfo, ServiceClaim
from hark.app.processes.connection import ProcessConnection
from hark.app.processes.remote_front import RemoteFront
from hark.app.processes.service_process import ServiceProcess
from hark.app.service_names import ALL_SERVICES, ServiceName
from hark.app.settings import settings_from
from hark.app.state.store import State
from hark.bus import RemoteBus
from hark.model import Clock, Message
from hark.plugins import Plugin
from hark.testing import FakeClock, settle
from hark.testing.memory_broker import MemoryBroker


class MemoryMembers:
    """Who is there, without a network."""

    def __init__(self) -> None:
        self.claims: list[MemoryClaim] = []

    async def present(self) -> list[ProcessInfo]:
        return [claim.info for claim in self.claims]


class MemoryClaim:
    """A claim that is met at once."""

    def __init__(self, members: MemoryMembers, info: ProcessInfo) -> None:
        self._members = members
        self.info = info

    async def take(self) -> None:
        self._members.claims.append(self)

    async def ready(self) -> None:
        self.info = msgspec.structs.replace(self.info, is_ready=True)

    async def leave(self) -> None:
        if self in self._members.claims:
            self._members.claims.remove(self)


class MemoryConnection(ProcessConnection):
    """A connection whose members are known to the test."""

    def __init__(self, bus: RemoteBus, members: MemoryMembers) -> None:
        super().__init__(bus)
        self.members = self._known = members

    def claim(
        self, info: ProcessInfo, clock: Clock, lost: Callable[[ProcessInfo], None], worker: str = ""
    ) -> ServiceClaim:
        return MemoryClaim(self._known, info)


class Deployment:
    """`await deployment.start("act", plugins=[MySkill()])`, ...; everything that was started is stopped at the end."""

    def __init__(self, **tables: Any) -> None:
        self.broker = MemoryBroker()
        self.members = MemoryMembers()
        self.clock = FakeClock()
        self.settings = settings_from({"assistant": {"pipeline": ["template"]}, **tables})
        self.processes: list[ServiceProcess] = []
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

    async def start(
        self,
        *services: ServiceName,
        plugins: Sequence[Plugin] = (),
        state: State | None = None,
        door: ControlSocket | None = None,
    ) -> ServiceProcess:
        """Start services in one process."""
        process = ServiceProcess(
            services,
            self.settings,
            plugins,
            self.clock,
            MemoryConnection(await self.bus(), self.members),
            self.lost.append,
            state=state,
            control_socket=door,
        )
        await self.meanwhile(process.__aenter__())
        self.processes.append(process)
        return process

    async def meanwhile(self, work: Any) -> Any:
        """Do something that waits for a grace."""
        task = asyncio.ensure_future(work)
        while not task.done():
            await self.clock.advance(0.3)
        return await task

    async def leave(self, process: ServiceProcess) -> None:
        """End a process in good order."""
        self.processes.remove(process)
        await self.meanwhile(process.__aexit__(None, None, None))

    async def die(self, process: ServiceProcess) -> None:
        """End a process as SIGKILL does: it says nothing more, and its connection is gone."""
        self.processes.remove(process)
        await process.claim.leave()
        bus = process.runtime.bus
        assert isinstance(bus, RemoteBus)
        await bus.carrier.close()
        await self.meanwhile(process.__aexit__(None, None, None))

    async def front(self, services: Sequence[ServiceName] = ALL_SERVICES) -> RemoteFront:
        connection = MemoryConnection(await self.bus(), self.members)
        front = RemoteFront(services, self.settings, self.clock, connection, self.aside.append)
        await front.__aenter__()
        self.fronts.append(front)
        await settle()
        return front

    async def close(self) -> None:
        for front in self.fronts:
            await self.meanwhile(front.__aexit__(None, None, None))
        for process in self.processes:
            await self.meanwhile(process.__aexit__(None, None, None))
        for bus in self.buses:
            await bus.close()


@asynccontextmanager
async def deployed(**tables: Any) -> AsyncIterator[Deployment]:
    deployment = Deployment(**tables)
    try:
        yield deployment
    finally:
        await deployment.close()
