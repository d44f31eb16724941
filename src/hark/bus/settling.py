"""Knowing when listeners have dealt with what was emitted."""

from __future__ import annotations

import asyncio
import os

from hark.bus.base import Bus
from hark.model import Message


class Settling:
    """Who is at work on what came over one bus.

    In real time, whatever clock others go by: a listener that hangs keeps nobody here.
    """

    def __init__(self) -> None:
        self._at_work: dict[asyncio.Future[None], str] = {}
        self._fence = f"hark.fence.{os.urandom(8).hex()}"
        """A private topic, also between processes: nobody else emits there."""

    def begun(self, work: asyncio.Future[None], who: str) -> None:
        """A listener is at work until this is done."""
        self._at_work[work] = who
        work.add_done_callback(lambda done: self._at_work.pop(done, None))

    async def wait(self, bus: Bus, patience: float) -> list[str]:
        """Wait until all that was emitted on `bus` was dealt with; the names of those still at it then."""
        while await self._delivered(bus, patience):
            if not self._at_work:
                return []
            names = dict(self._at_work)
            _, late = await asyncio.wait(list(names), timeout=patience)
            if late:
                return sorted({names[work] for work in late})
        return ["the bus itself"]

    async def _delivered(self, bus: Bus, patience: float) -> bool:
        """Wait until what was emitted has reached its listeners; whether it has."""
        passed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        mark = f"{id(passed):x}"

        def seen(message: Message) -> None:
            if message.data.get("mark") == mark and not passed.done():
                passed.set_result(None)

        # Deliveries are in order of emission: when this one comes, all before it are under way or done.
        fence = bus.on(self._fence, seen, name="fence")
        try:
            bus.emit(Message(self._fence, {"mark": mark}))
            await asyncio.wait([passed], timeout=patience)
        finally:
            fence.close()
        return passed.done()
