"""What runs for whom: handlers and tasks, by skill and session."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from hark.hosting import cancel_all
from hark.model import Clock


class Work:
    """Everything under way, so that a stop finds what it is to stop and nothing else."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tasks: dict[asyncio.Task[Any], tuple[str, str]] = {}

    def add(self, task: asyncio.Task[Any], skill_id: str, session_id: str) -> None:
        """A task that works for a skill in a session; it leaves by itself when it is done."""
        self._tasks[task] = (skill_id, session_id)
        task.add_done_callback(lambda done: self._tasks.pop(done, None))

    def is_busy(self, skill_id: str, session_id: str) -> bool:
        """Whether anything runs for the skill in that session, the task that asks apart."""
        return next(self._of(skill_id, session_id), None) is not None

    async def cancel(self, skill_id: str, session_id: str) -> bool:
        """Cancel what runs for the skill in that session, the task that asks apart; whether there was anything."""
        found = set(self._of(skill_id, session_id))
        await cancel_all(found, self._clock)
        return bool(found)

    async def close(self) -> None:
        """Cancel everything."""
        await cancel_all(set(self._tasks), self._clock)

    def _of(self, skill_id: str, session_id: str) -> Iterator[asyncio.Task[Any]]:
        asking = asyncio.current_task()
        for task, whose in list(self._tasks.items()):
            if whose == (skill_id, session_id) and task is not asking:
                yield task
