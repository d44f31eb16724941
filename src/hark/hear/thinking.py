"""Commands that are being recognised, one after the other."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from hark.hear.capture import Capture
from hark.hear.recogniser import Recogniser
from hark.hosting import cancel_all
from hark.model import Clock, Message


class Thinking:
    """Sees each command to its one outcome, in the order in which they were spoken."""

    def __init__(self, recogniser: Recogniser, clock: Clock, told: Callable[[Capture, Message], None]) -> None:
        self._recogniser = recogniser
        self._clock = clock
        self._told = told
        self._waiting: deque[Capture] = deque()
        self._task: asyncio.Task[None] | None = None
        self._forgetting: set[asyncio.Task[None]] = set()
        self._closed = False
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def open(self) -> int:
        """How many commands have no outcome yet."""
        return len(self._waiting)

    def take(self, capture: Capture) -> None:
        """See a command through."""
        self._waiting.append(capture)
        self._idle.clear()
        if self._task is None:
            self._begin()

    def forget(self, capture: Capture) -> None:
        """Nobody wants to know what was said."""
        stream, capture.stream = capture.stream, None
        if stream is not None:
            task = asyncio.get_running_loop().create_task(stream.close(), name="forgetting a command")
            self._forgetting.add(task)
            task.add_done_callback(self._forgetting.discard)

    async def idle(self) -> None:
        """Wait until every command has its outcome."""
        await self._idle.wait()

    async def close(self) -> None:
        """Give up what is left: that is an outcome too."""
        self._closed = True
        if self._task is not None:
            await cancel_all([self._task], self._clock)
        while self._waiting:
            self._end(self._recogniser.given_up(self._waiting[0]))
        if self._forgetting:
            await asyncio.wait(self._forgetting)

    def _begin(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(), name="recognising commands")
        self._task.add_done_callback(self._ended)

    def _ended(self, _task: asyncio.Task[None]) -> None:
        self._task = None
        # Somebody may have cancelled the task, even before it began: what waits still needs its outcome.
        if self._waiting and not self._closed:
            self._begin()

    async def _run(self) -> None:
        while self._waiting:
            capture = self._waiting[0]
            try:
                outcome = await self._recogniser.outcome(capture)
            except asyncio.CancelledError:
                self._end(self._recogniser.given_up(capture))
                raise
            self._end(outcome)

    def _end(self, outcome: Message) -> None:
        capture = self._waiting.popleft()
        if not self._waiting:
            self._idle.set()
        self.forget(capture)
        self._told(capture, outcome)
