"""What a client has to send and cannot send yet."""

from __future__ import annotations

import logging
from collections import deque
from typing import Final

log = logging.getLogger("hark.bus.websocket")

_SAY: Final = 1_000


class Outbox:
    """Messages and commands in order. When there is too much, the oldest Message goes, and the log says so."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[bytes, bool]] = deque()
        self._bytes = 0
        self._dropped = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, frame: bytes, bound: int) -> None:
        """Keep a Message for later; all of them have no more than so many bytes."""
        self._waiting.append((frame, False))
        self._bytes += len(frame)
        while self._bytes > bound:
            self._drop_oldest()

    def put_command(self, frame: bytes) -> None:
        """Keep a command for later."""
        self._waiting.append((frame, True))

    def take(self) -> tuple[bytes, bool]:
        """The oldest frame, and whether it is a command."""
        frame, is_command = self._waiting.popleft()
        self._bytes -= 0 if is_command else len(frame)
        if self._dropped and not self._waiting:
            log.warning("bus: %d Messages could not be sent and were dropped", self._dropped)
            self._dropped = 0
        return frame, is_command

    def forget_commands(self) -> None:
        """Keep the Messages only: who connects again says anew what it follows."""
        self._waiting = deque(item for item in self._waiting if not item[1])

    def clear(self) -> int:
        """Give up everything; how many Messages that was."""
        self.forget_commands()
        left = len(self._waiting)
        self._waiting.clear()
        self._bytes = 0
        return left

    def _drop_oldest(self) -> None:
        place = next(place for place, (_, is_command) in enumerate(self._waiting) if not is_command)
        self._bytes -= len(self._waiting[place][0])
        del self._waiting[place]
        self._dropped += 1
        if self._dropped % _SAY == 1:
            log.error("bus: too much waits to be sent; the oldest Messages are dropped, %d so far", self._dropped)
