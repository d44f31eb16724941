"""What is to be sent and cannot be yet."""

from __future__ import annotations

import logging
from collections import deque

log = logging.getLogger("hark.bus")


class Outbox:
    """Commands for the broker in their order, bounded in bytes and, while there is no connection, in age."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._waiting: deque[tuple[float, bytes]] = deque()
        self._size = 0
        self._dropped = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, command: bytes, now: float) -> None:
        """Put a command at the end; the oldest make room, and the log says so at the first and at every thousandth."""
        self._waiting.append((now, command))
        self._size += len(command)
        while self._size > self._limit and len(self._waiting) > 1:
            self._drop()
            if self._dropped % 1_000 == 1:
                log.error("nats: more than %d bytes wait to be sent; the oldest are dropped", self._limit)

    def take(self, most: int) -> list[bytes]:
        """The next commands, up to about `most` bytes; they are the caller's now."""
        taken: list[bytes] = []
        while self._waiting and most > 0:
            _, command = self._waiting.popleft()
            taken.append(command)
            most -= len(command)
            self._size -= len(command)
        return taken

    def drop_before(self, moment: float) -> None:
        """Forget what has waited since before `moment`."""
        while self._waiting and self._waiting[0][0] < moment:
            self._drop()

    def report(self) -> int:
        """How many commands were dropped since this was last asked."""
        dropped, self._dropped = self._dropped, 0
        return dropped

    def _drop(self) -> None:
        _, command = self._waiting.popleft()
        self._size -= len(command)
        self._dropped += 1
