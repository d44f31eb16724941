"""Which process has which service of an assistant, and that no second process takes the same one.

On NATS a claim is a key (see `service_keys`). On a plain websocket bus there is nothing to hold a key, so a process
asks the others over the bus before it starts.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Collection
from datetime import datetime
from pathlib import Path
from typing import Final, Protocol

import msgspec

from hark.app.processes.queries import EDGE, FROM, ask_all
from hark.bus import Bus
from hark.errors import UserError
from hark.model import Clock, Message
from hark.spec import topics

WINDOW: Final = 0.3
"""Seconds in which the processes on a plain bus answer a ping."""
_OBJECTION: Final = 1.0
"""Seconds in which a process that may be busy says that it has a service which another claims."""
_SETTLE: Final = 5.0
"""Seconds, of real time, in which other processes deal with what was announced."""


class ServiceTaken(UserError):
    """Another process has the service."""


class ProcessInfo(msgspec.Struct, frozen=True):
    """A process that has services of an assistant, as the others know it."""

    id: str
    services: tuple[str, ...]
    pid: int
    host: str
    since: float
    space: str = ""
    """What its id is valid in: a container has ids of its own, and perhaps the name of its host."""
    is_worker: bool = False
    """Whether it shares `understand` with other workers."""
    is_settled: bool = False
    """Whether its claim was met: it gives way only to a process that was there before."""
    is_ready: bool = False
    """Whether its plugins have started."""

    def __str__(self) -> str:
        began = datetime.fromtimestamp(self.since).astimezone().isoformat(" ", "seconds")
        return f"process {self.pid} on {self.host}, since {began}"

    @property
    def is_here(self) -> bool:
        """Whether it runs, or ran, where this process can see it."""
        return (self.host, self.space) == (machine(), _id_space())

    @property
    def is_gone(self) -> bool:
        """Whether it ran here and has ended; of other machines nothing is known."""
        if not self.is_here:
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        return False

    def conflicts(self, other: ProcessInfo) -> bool:
        """Whether the two cannot serve at the same time."""
        shares = self.is_worker and other.is_worker
        return self.id != other.id and not shares and not set(self.services).isdisjoint(other.services)

    def precedes(self, other: ProcessInfo) -> bool:
        """Whether this one stays, of two that conflict."""
        if self.is_settled != other.is_settled:
            return self.is_settled
        return (self.since, self.id) < (other.since, other.id)

    def refusal(self, other: ProcessInfo) -> ServiceTaken:
        """What to say to `other`, which wants a service that this one has."""
        shared = ", ".join(sorted(set(self.services) & set(other.services)))
        return ServiceTaken(f"the service {shared} already runs on this bus in {self}; stop that process first")


def this_process(services: Collection[str], since: float, *, is_worker: bool = False) -> ProcessInfo:
    """The process that calls it, before it has claimed anything."""
    own_id = os.urandom(8).hex()
    return ProcessInfo(own_id, tuple(services), os.getpid(), machine(), since, _id_space(), is_worker)


def machine() -> str:
    """The name under which processes of this machine know each other."""
    return socket.gethostname()


def _id_space() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


class Members(Protocol):
    """The processes of one assistant."""

    async def present(self) -> list[ProcessInfo]:
        """Those that have claimed their services and not ended."""


class ServiceClaim(Protocol):
    """A process's claim to its services, from `take` until `leave`."""

    @property
    def info(self) -> ProcessInfo:
        """The process, as the others see it now."""

    async def take(self) -> None:
        """Claim the services; raises `ServiceTaken`, which names the process that has one of them."""

    async def ready(self) -> None:
        """Let the others know that the plugins have started."""

    async def leave(self) -> None:
        """Give the services up."""


class BusMembers:
    """Asks over the bus; see `Members`."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def present(self) -> list[ProcessInfo]:
        answers = await ask_all(self._bus, None, topics.PROCESS_PING, {}, topics.PROCESS_PONG, WINDOW)
        found = (_info(answer) for answer in answers)
        return [info for info in found if info is not None and info.is_settled]


class BusClaim:
    """A claim where the bus keeps nothing: a process that starts asks whether another has the service.

    See `ServiceClaim`.
    """

    def __init__(self, bus: Bus, info: ProcessInfo) -> None:
        self._bus = bus
        self.info = info

    async def take(self) -> None:
        answers = await ask_all(self._bus, None, topics.PROCESS_PING, {}, topics.PROCESS_PONG, _OBJECTION)
        for other in map(_info, answers):
            if other is not None and other.conflicts(self.info) and other.precedes(self.info):
                raise other.refusal(self.info)
        self.info = msgspec.structs.replace(self.info, is_settled=True)

    async def ready(self) -> None:
        self.info = msgspec.structs.replace(self.info, is_ready=True)

    async def leave(self) -> None:
        """There is nothing to give up: the process answers no more."""


class PingResponder:
    """Answers which services this process has."""

    def __init__(self, bus: Bus, claim: ServiceClaim) -> None:
        self._bus = bus
        self._claim = claim
        self._subscription = bus.on(topics.PROCESS_PING, self._asked, name="ping responder")

    def close(self) -> None:
        self._subscription.close()

    def _asked(self, ping: Message) -> None:
        info = self._claim.info
        self._bus.emit(ping.reply(topics.PROCESS_PONG, {FROM: info.id, "process": msgspec.to_builtins(info)}))


class Settlement:
    """Waits until the other processes have dealt with everything that was said on the bus, and lets them wait so."""

    def __init__(self, bus: Bus, members: Members, own_id: str) -> None:
        self._bus = bus
        self._members = members
        self._id = own_id
        self._tasks: set[asyncio.Task[None]] = set()
        self._subscription = bus.on(topics.SETTLE, self._asked, name="settlement")

    async def reached(self) -> list[str]:
        """Wait for the others; the names of those that did not answer in time."""
        present = await self._members.present()
        others = {info.id: info for info in present if info.id != self._id and info.services != (EDGE,)}
        answers = await ask_all(self._bus, others, topics.SETTLE, {}, topics.SETTLED, _SETTLE)
        late = others.keys() - {str(answer.data.get(FROM)) for answer in answers}
        names = [f"{', '.join(others[one].services)} in {others[one]}" for one in sorted(late)]
        return names + await self._bus.settled()

    def close(self) -> None:
        self._subscription.close()
        for task in self._tasks:
            task.cancel()

    def _asked(self, question: Message) -> None:
        task = asyncio.ensure_future(self._answer(question))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, question: Message) -> None:
        await self._bus.settled()
        self._bus.emit(question.reply(topics.SETTLED, {FROM: self._id}))


async def until_ready(members: Members, services: Collection[str], clock: Clock) -> None:
    """Wait until each of these services is ready in some process."""
    while not set(services) <= {name for info in await members.present() if info.is_ready for name in info.services}:
        await clock.sleep(_POLL)


_POLL: Final = 0.1


def _info(answer: Message) -> ProcessInfo | None:
    try:
        return msgspec.convert(answer.data.get("process"), ProcessInfo)
    except msgspec.ValidationError:
        return None
