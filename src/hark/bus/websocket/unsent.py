"""What a client of the bus cannot send yet."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator

from picows import WSMsgType

log = logging.getLogger("hark.bus.websocket")


class UnsentFrames:
    """Frames in order: Messages as text, commands as binary. Above a bound of bytes further Messages are dropped."""

    def __init__(self) -> None:
        self._frames: deque[tuple[float, WSMsgType, bytes]] = deque()
        self._bytes = 0
        self._is_full = False
        self._dropped = 0

    def __len__(self) -> int:
        return len(self._frames)

    def __iter__(self) -> Iterator[tuple[WSMsgType, bytes]]:
        for _, kind, frame in self._frames:
            yield kind, frame

    def put(self, kind: WSMsgType, frame: bytes, now: float, bound: int) -> None:
        """Add a frame, which came at the time `now`, unless it is a Message and more than `bound` bytes would wait."""
        if kind == WSMsgType.TEXT and self._bytes + len(frame) > bound:
            self._dropped += 1
            if not self._is_full:
                self._is_full = True
                log.error("bus: too much waits to be sent; further Messages are dropped")
            return
        self._frames.append((now, kind, frame))
        self._bytes += len(frame)

    def take(self) -> tuple[WSMsgType, bytes]:
        """Take out the first frame."""
        _, kind, frame = self._frames.popleft()
        self._bytes -= len(frame)
        return kind, frame

    def drop_before(self, time: float) -> None:
        """Drop what came before this time."""
        while self._frames and self._frames[0][0] < time:
            self.take()
            self._dropped += 1

    def report(self) -> None:
        """Log how many Messages were dropped, if any were."""
        if self._dropped:
            log.warning("bus: %d Messages could not be sent and were dropped", self._dropped)
        self._dropped = 0
        self._is_full = False

    def drop_commands(self) -> None:
        """Keep the Messages only: the next connection begins with what is followed then."""
        self._frames = deque(item for item in self._frames if item[1] == WSMsgType.TEXT)
        self._bytes = sum(len(frame) for _, _, frame in self._frames)

    def clear(self) -> int:
        """Drop everything; how many Messages that was."""
        self.drop_commands()
        left = len(self._frames)
        self._frames.clear()
        self._bytes = 0
        return left
