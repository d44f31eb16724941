"""What a bus keeps of its listeners: their queues, their groups, and the tasks they have under way."""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from types import coroutine
from typing import Any, Final

from hark.bus.protocols import Bus, Listener
from hark.model import Message

log = logging.getLogger("hark.bus")

_NO_QUEUE: Final[deque[Message]] = deque(maxlen=0)
"""Stands for the queue of all listeners that need none: an empty one takes 760 bytes."""


class LocalSubscription:
    """A listener and the Messages that wait for it."""

    LONG = 1_000
    """So many waiting Messages are logged."""
    VERY_LONG = 100_000
    """So many detach a listener that waits between Messages."""

    __slots__ = (
        "_detach",
        "busy",
        "closed",
        "concurrent",
        "eager",
        "is_async",
        "listener",
        "name",
        "queue",
        "reported",
        "topics",
        "waiting",
    )

    def __init__(
        self,
        topics: tuple[str, ...],
        listener: Listener,
        name: str,
        concurrent: bool,
        eager: bool,
        detach: Callable[[LocalSubscription], None],
    ) -> None:
        self._detach = detach
        self.topics = topics
        self.listener = listener
        self.name = name or getattr(listener, "__qualname__", repr(listener))
        self.concurrent = concurrent
        self.eager = eager
        self.is_async = inspect.iscoroutinefunction(listener)
        if concurrent and not self.is_async:
            raise TypeError(f"{self.name}: concurrent=True needs an async def listener")
        self.waiting = 0
        """Messages on their way to the listener."""
        self.reported = 0
        """The longest queue that was logged since the queue was empty."""
        self.queue: deque[Message] = deque() if self.is_async and not concurrent else _NO_QUEUE
        """What an async listener has before it; the others are called as the bus gets to them."""
        self.busy = False
        """Whether a task is emptying the queue."""
        self.closed = False

    def close(self) -> None:
        """Receive nothing more; Messages that wait undelivered are dropped."""
        if not self.closed:
            self.closed = True
            self.queue.clear()
            self._detach(self)

    def report_long_queue(self) -> None:
        """Log each further thousand of waiting Messages once; detach a listener that is too far behind."""
        # A queue that hovers about a thousand would otherwise fill the log.
        if self.waiting < self.reported + self.LONG:
            return
        self.reported = self.waiting
        topics = ", ".join(self.topics)
        # Memory is the limit of last resort: a listener that waits between Messages and is that far behind will not
        # catch up. The others are called as the bus gets to them: what waits for them is a flood, not their fault.
        if self.waiting >= self.VERY_LONG and self.is_async and not self.concurrent:
            log.error("bus: %s has %d messages waiting on %s and was detached", self.name, self.waiting, topics)
            self.close()
        else:
            log.warning("bus: %s has %d messages waiting on %s", self.name, self.waiting, topics)


class ListenerGroup:
    """Listeners that share the work of one topic: each Message goes to one of them, in turn."""

    __slots__ = ("_next", "members", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.members: list[LocalSubscription] = []
        self._next = 0

    def pick(self) -> LocalSubscription:
        """The member that gets the next Message."""
        self._next = (self._next + 1) % len(self.members)
        return self.members[self._next]


class ActiveListeners:
    """The listeners that are at work on what came over one bus.

    Waits in real time, whatever clock the rest of the program uses: a listener that hangs delays nothing here.
    """

    def __init__(self) -> None:
        self._at_work: dict[asyncio.Future[None], str] = {}
        self._fence = f"hark.fence.{os.urandom(8).hex()}"
        """A topic that no other bus emits on, in whichever process."""

    def begun(self, work: asyncio.Future[None], name: str) -> None:
        """Count the listener `name` as at work until `work` is done."""
        self._at_work[work] = name
        work.add_done_callback(lambda done: self._at_work.pop(done, None))

    async def wait(self, bus: Bus, patience: float) -> list[str]:
        """Wait until all that was emitted on `bus` is handled; the names of listeners still at work after that."""
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


class NotBegun(asyncio.CancelledError):
    """The task that was to continue an eagerly started coroutine was cancelled before its first step."""


def start_eagerly(work: Coroutine[Any, Any, None], loop: asyncio.AbstractEventLoop) -> asyncio.Task[None] | None:
    """Run `work` up to its first wait, now; the task that continues it, or None when it is done already.

    Up to that wait it has no task of its own, so it must not ask for one (Python 3.12 can do this by itself).
    """
    try:
        waits_for = work.send(None)
    except (StopIteration, asyncio.CancelledError):
        return None
    task = loop.create_task(_rest_of(work, waits_for))
    task.add_done_callback(lambda _task: _end(work))
    return task


def _end(work: Coroutine[Any, Any, None]) -> None:
    """A task that is cancelled before its first step never enters `_continue`: end `work` here."""
    if inspect.getcoroutinestate(work) == inspect.CORO_SUSPENDED:
        with suppress(StopIteration, asyncio.CancelledError):
            work.throw(NotBegun())
        work.close()


async def _rest_of(work: Coroutine[Any, Any, None], waits_for: Any) -> None:
    await _continue(work, waits_for)  # a task takes nothing but a coroutine


@coroutine
def _continue(work: Coroutine[Any, Any, None], waits_for: Any) -> Generator[Any, Any, None]:
    """Pass what `work` waits for to the task, and the results back to `work`."""
    try:
        while True:
            try:
                result = yield waits_for
            except BaseException as error:  # noqa: BLE001 - handed on, not caught
                waits_for = work.throw(error)
            else:
                waits_for = work.send(result)
    except StopIteration:
        return
