"""A process that has rooms of an assistant."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from datetime import datetime
from itertools import count
from typing import Final

import msgspec

from hark.app.services.names import ServiceName
from hark.app.trouble import Trouble
from hark.bus import Bus
from hark.model import Clock, Message
from hark.spec import topics


class ProcessInfo(msgspec.Struct, frozen=True):
    """Who has which rooms, since when. Sent with every word that processes of one assistant have with each other."""

    id: str
    rooms: tuple[str, ...]
    pid: int
    host: str
    since: float
    is_worker: bool = False
    """Whether it shares its rooms with other workers."""
    is_settled: bool = False
    """Whether its claim was met: it gives way only to somebody who was there before."""
    is_ready: bool = False
    """Whether its plugins have started."""

    def __str__(self) -> str:
        began = datetime.fromtimestamp(self.since).astimezone().isoformat(" ", "seconds")
        return f"process {self.pid} on {self.host}, since {began}"

    def rivals(self, other: ProcessInfo) -> bool:
        """Whether the two cannot both be there."""
        shares = self.is_worker and other.is_worker
        return self.id != other.id and not shares and not set(self.rooms).isdisjoint(other.rooms)

    def goes_before(self, other: ProcessInfo) -> bool:
        """Whether this one stays, of two rivals."""
        if self.is_settled != other.is_settled:
            return self.is_settled
        return (self.since, self.id) < (other.since, other.id)


def myself(rooms: Collection[ServiceName], since: float, *, is_worker: bool = False) -> ProcessInfo:
    """This process."""
    return ProcessInfo(os.urandom(8).hex(), tuple(rooms), os.getpid(), socket.gethostname(), since, is_worker)


def holder_in(message: Message) -> ProcessInfo | None:
    """Who speaks of himself in a Message; None for what makes no sense."""
    try:
        return msgspec.convert(message.data.get("holder"), ProcessInfo)
    except msgspec.ValidationError:
        return None


_MOST: Final = 1_000
"""Processes that are kept in mind."""


class Members:
    """The processes that said they have rooms. One that was killed is struck off when another takes its rooms."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._present: dict[str, ProcessInfo] = {}
        self._changed = asyncio.Event()
        self._subscriptions = (
            bus.on(topics.ROLE_HELD, self._held, name="roster: held"),
            bus.on(topics.ROLE_LEFT, self._left, name="roster: left"),
        )

    def __iter__(self) -> Iterator[ProcessInfo]:
        return iter(list(self._present.values()))

    def ask(self) -> None:
        """Have everybody say that they are there."""
        self._bus.emit(Message(topics.ROLE_CLAIM, {}))

    def strike(self, pid: int, host: str) -> None:
        """A process is known to be gone."""
        for holder in self:
            if (holder.pid, holder.host) == (pid, host):
                del self._present[holder.id]

    async def ready(self, rooms: Collection[str]) -> None:
        """Wait until each of these rooms is ready in some process."""
        while not set(rooms) <= {room for holder in self if holder.is_ready for room in holder.rooms}:
            self._changed.clear()
            await self._changed.wait()

    def close(self) -> None:
        """Look no longer."""
        for subscription in self._subscriptions:
            subscription.close()

    def _held(self, message: Message) -> None:
        holder = holder_in(message)
        if holder is None or not holder.is_settled:
            return
        for other in self:
            if other.rivals(holder):  # nobody was there to object, or he is about to go
                del self._present[other.id]
        if len(self._present) < _MOST:
            self._present[holder.id] = holder
        self._changed.set()

    def _left(self, message: Message) -> None:
        holder = holder_in(message)
        if holder is not None:
            self._present.pop(holder.id, None)
            self._changed.set()


log = logging.getLogger("hark.app")

WINDOW: Final = 0.3
"""Seconds in which whoever has a room objects to another claim. One that is too busy for that objects later."""
_PATIENCE: Final = 5.0
"""Seconds, of real time, in which others take in what was announced."""


class Taken(Trouble):
    """Somebody else has the room."""


class ServiceClaim:
    """A process's claim to its rooms, by word of mouth over the bus alone, so that it is the same on every bus.

    `await role.claim()`, then `ready()` once its plugins have started, and `leave()` at the end. When it turns out
    later that somebody had the rooms before, `lost` is called: then the process has to go.
    """

    def __init__(self, bus: Bus, clock: Clock, holder: ProcessInfo, lost: Callable[[ProcessInfo], None]) -> None:
        self._bus = bus
        self._clock = clock
        self.holder = holder
        self._lost = lost
        self._objections: list[ProcessInfo] = []
        self._marks = count(1)
        self._settling: dict[str, set[str]] = {}
        """Who has not yet taken in what was announced before each mark."""
        self._stirred = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self.roster = Members(bus)
        self._subscriptions = (
            bus.on(topics.ROLE_CLAIM, self._claimed, name="role: claim"),
            bus.on(topics.ROLE_HELD, self._held, name="role: held"),
            bus.on(topics.BUS_AGAIN, self._claimed, name="role: again"),
            bus.on(topics.SETTLE, self._settle, name="role: settle"),
            bus.on(topics.SETTLED, self._has_settled, name="role: settled"),
        )

    async def claim(self) -> None:
        """Take the rooms; raises `Taken`, which names whoever has one of them."""
        self._say(topics.ROLE_CLAIM)
        await self._clock.sleep(WINDOW)
        if self._objections:
            first = self._objections[0]
            shared = ", ".join(sorted(set(first.rooms) & set(self.holder.rooms)))
            raise Taken(f"the room {shared} is taken on this bus by {first}; stop that one first")
        self._become(is_settled=True)

    def ready(self) -> None:
        """Tell everybody that the plugins have started."""
        self._become(is_ready=True)

    def leave(self) -> None:
        """Give the rooms up."""
        self._say(topics.ROLE_LEFT)
        self.close()

    def close(self) -> None:
        """Say and hear nothing more."""
        for subscription in self._subscriptions:
            subscription.close()
        self.roster.close()
        for task in self._tasks:
            task.cancel()

    async def settled(self) -> list[str]:
        """Wait until everybody who is there has taken in what was said on the bus; the names of those who have not."""
        mark = f"{self.holder.id}-{next(self._marks)}"
        waiting = self._settling[mark] = {holder.id for holder in self.roster} - {self.holder.id}
        names = {holder.id: f"{', '.join(holder.rooms)} in {holder}" for holder in self.roster}
        self._bus.emit(Message(topics.SETTLE, {"mark": mark}))
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                while waiting:
                    self._stirred.clear()
                    await self._stirred.wait()
        del self._settling[mark]
        return [names[one] for one in sorted(waiting)] + await self._bus.settled()

    def _become(self, *, is_settled: bool = True, is_ready: bool = False) -> None:
        self.holder = msgspec.structs.replace(self.holder, is_settled=is_settled, is_ready=is_ready)
        self._say(topics.ROLE_HELD)

    def _say(self, topic: str) -> None:
        self._bus.emit(Message(topic, {"holder": msgspec.to_builtins(self.holder)}))

    def _claimed(self, message: Message) -> None:
        """Whoever asks gets to know everybody; it is for him to see that he comes too late."""
        asking = holder_in(message)
        if asking is None or asking.id != self.holder.id:
            self._say(topics.ROLE_HELD)

    def _held(self, message: Message) -> None:
        other = holder_in(message)
        if other is None or not other.rivals(self.holder) or not other.goes_before(self.holder):
            return
        if self.holder.is_settled:
            log.error("the rooms %s have belonged to %s all along", ", ".join(self.holder.rooms), other)
            self._lost(other)
        else:
            self._objections.append(other)

    def _settle(self, message: Message) -> None:
        task = asyncio.get_running_loop().create_task(self._answer(message), name="settling")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, asked: Message) -> None:
        await self._bus.settled()
        self._bus.emit(Message(topics.SETTLED, {"mark": asked.data.get("mark"), "id": self.holder.id}))

    def _has_settled(self, message: Message) -> None:
        waiting = self._settling.get(str(message.data.get("mark")))
        if waiting is not None:
            waiting.discard(str(message.data.get("id")))
            self._stirred.set()
