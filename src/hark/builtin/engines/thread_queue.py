"""Sound from a driver's thread, for an async reader."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from threading import Lock
from typing import Final

MOST: Final = 256
"""Pieces that wait for a slow reader before the oldest are lost."""


class ThreadQueue:
    """`put` from any thread, `async for` on the loop it was created on."""

    def __init__(self, most: int = MOST) -> None:
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._lock = Lock()
        self._waiting: deque[bytes] = deque(maxlen=most)
        self._ended = False
        self._error: BaseException | None = None
        self.lost = 0
        """Pieces that were not taken in time."""
        self.taken: Callable[[], object] = lambda: None
        """Called, on the loop, for each piece that was taken."""

    def put(self, piece: bytes) -> None:
        """Add a piece; the oldest is dropped when there are too many."""
        with self._lock:
            self.lost += len(self._waiting) == self._waiting.maxlen
            self._waiting.append(piece)
        self._wake_reader()

    def end(self, error: BaseException | None = None) -> None:
        """There is no more, because of an error if there is one."""
        self._ended, self._error = True, error
        self._wake_reader()

    def _wake_reader(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._changed.set)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            with self._lock:
                piece = self._waiting.popleft() if self._waiting else None
            if piece is not None:
                self.taken()
                yield piece
            elif self._ended:
                if self._error is not None:
                    raise self._error
                return
            else:
                await self._changed.wait()
                self._changed.clear()
