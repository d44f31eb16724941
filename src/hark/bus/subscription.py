"""One listener's queue on the local bus."""

from __future__ import annotations

import inspect
import logging
from collections import deque
from collections.abc import Callable
from typing import Final

from hark.bus.base import Listener
from hark.model import Message

log = logging.getLogger("hark.bus")

LONG: Final = 1_000
VERY_LONG: Final = 100_000


class LocalSubscription:
    """A listener and what waits for it."""

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
        self.queue: deque[Message] = deque()
        """What an async listener has before it; the others are called as the bus gets to them."""
        self.busy = False
        """Whether a task is emptying the queue."""
        self.closed = False

    def close(self) -> None:
        """As promised by `Subscription`."""
        if not self.closed:
            self.closed = True
            self.queue.clear()
            self._detach(self)

    def complain(self) -> None:
        """Say at every thousand that Messages are waiting; give up on a listener that is hopelessly behind."""
        if self.waiting % LONG:
            return
        topics = ", ".join(self.topics)
        # Memory is the limit of last resort: a listener that takes its time and is that far behind will not catch up.
        # The others are called as the bus gets to them: what waits for them is a flood, and not their fault.
        if self.waiting >= VERY_LONG and self.is_async and not self.concurrent:
            log.error("bus: %s has %d messages waiting on %s and was detached", self.name, self.waiting, topics)
            self.close()
        else:
            log.warning("bus: %s has %d messages waiting on %s", self.name, self.waiting, topics)


class Group:
    """Listeners that share the work of one topic: each Message goes to one of them, in turn."""

    __slots__ = ("_next", "members", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.members: list[LocalSubscription] = []
        self._next = 0

    def pick(self) -> LocalSubscription:
        """Whose turn it is."""
        self._next = (self._next + 1) % len(self.members)
        return self.members[self._next]
