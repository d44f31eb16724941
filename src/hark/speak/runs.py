"""The queues of all sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from hark.bus import Bus
from hark.hosting import cancel_all
from hark.model import Clock
from hark.speak.item import Item
from hark.speak.run import Run

if TYPE_CHECKING:  # who shows text only has none
    from hark.speak.loudspeaker import Loudspeaker


class Runs:
    """A run for each session that has something to say; none for those that have not."""

    def __init__(self, bus: Bus, loudspeaker: Loudspeaker | None = None, ahead: int = 1) -> None:
        self.tasks: set[asyncio.Task[Any]] = set()
        self._bus = bus
        self._loudspeaker = loudspeaker
        self._ahead = ahead
        self._runs: dict[str, Run] = {}

    def __len__(self) -> int:
        return len(self._runs)

    def queue(self, item: Item) -> None:
        """Reserve the next place in the session of an item."""
        session_id = item.origin.session_id
        run = self._runs.get(session_id)
        if run is None:
            run = Run(session_id, self._bus, self.spawn, self._is_over, self._loudspeaker, self._ahead)
            self._runs[session_id] = run
        run.add(item)

    def stop(self, session_id: str) -> None:
        """End what is heard in a session and drop what waits there."""
        run = self._runs.get(session_id)
        if run is not None:
            run.stop()

    def is_heard(self, session_id: str) -> bool:
        """Whether something is heard in a session now."""
        run = self._runs.get(session_id)
        return run is not None and run.active

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Start a task that ends with the room."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def close(self, clock: Clock) -> None:
        """Stop all of them, and end what they have begun."""
        for session_id in list(self._runs):
            self.stop(session_id)
        await cancel_all(self.tasks, clock)

    def _is_over(self, run: Run) -> None:
        if self._runs.get(run.session_id) is run:
            del self._runs[run.session_id]
