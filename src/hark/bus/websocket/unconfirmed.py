"""What a client has sent and may have to send again."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator


class Unconfirmed:
    """Messages, counted from 1, from the moment they are sent until the server has had them for a while.

    A server that is killed takes with it what it had read and not handed on; then the next one is sent it. When there
    is more than `bound` bytes, the oldest are let go: they were sent, and most likely they arrived.
    """

    def __init__(self, bound: int) -> None:
        self.first = 1
        """The number of the oldest one."""
        self._frames: deque[bytes] = deque()
        self._bytes = 0
        self._bound = bound

    def __iter__(self) -> Iterator[bytes]:
        return iter(list(self._frames))

    @property
    def next(self) -> int:
        """The number of the Message that is sent next."""
        return self.first + len(self._frames)

    def sent(self, frame: bytes) -> None:
        """A Message was sent for the first time."""
        self._frames.append(frame)
        self._bytes += len(frame)
        while self._bytes > self._bound:
            self._forget()

    def confirmed(self, number: int) -> None:
        """All up to this one need not be sent again."""
        while self._frames and self.first <= number:
            self._forget()

    def forget_all(self) -> None:
        """None of them is to be sent again."""
        self.confirmed(self.next)

    def _forget(self) -> None:
        self._bytes -= len(self._frames.popleft())
        self.first += 1
