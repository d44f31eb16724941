"""Who is there: the processes of one assistant, as each of them sees the others."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator
from typing import Final

from hark.app.rooms.holder import Holder, holder_in
from hark.bus import Bus
from hark.model import Message
from hark.spec import topics

_MOST: Final = 1_000
"""Processes that are kept in mind."""


class Roster:
    """The processes that said they have rooms. One that was killed is struck off when another takes its rooms."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._present: dict[str, Holder] = {}
        self._changed = asyncio.Event()
        self._subscriptions = (
            bus.on(topics.ROLE_HELD, self._held, name="roster: held"),
            bus.on(topics.ROLE_LEFT, self._left, name="roster: left"),
        )

    def __iter__(self) -> Iterator[Holder]:
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
