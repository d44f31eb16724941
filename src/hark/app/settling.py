"""Ready means ready: what plugins announced when they started has reached everybody before the first utterance."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from hark.bus import Bus
from hark.model import Message

_FENCE: Final = "hark.house.fence"
"""A private topic. Deliveries are in order of emission: when this one comes, all before it are under way or done."""


async def settled(bus: Bus, patience: float = 5.0) -> list[str]:
    """Wait until listeners have dealt with all that was emitted; the names of those still at it after `patience`.

    Real time, whatever the clock of the house says: a listener that hangs must not keep a house from opening.
    """
    while True:
        passed = asyncio.Event()
        fence = bus.on(_FENCE, lambda _, passed=passed: passed.set(), name="house")  # type: ignore[misc]
        bus.emit(Message(_FENCE))
        await passed.wait()
        fence.close()
        busy = [task for task in asyncio.all_tasks() if _is_delivery(task)]
        if not busy:
            return []
        _, late = await asyncio.wait(busy, timeout=patience)
        if late:
            return sorted({task.get_name() for task in late})


def _is_delivery(task: asyncio.Task[Any]) -> bool:
    """Whether a task is a listener at work: one that may wait, or one that was moved to a worker."""
    work = getattr(task.get_coro(), "__qualname__", "")
    return work == "LocalBus._serve" or " on " in task.get_name()
