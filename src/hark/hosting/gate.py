"""A gate in front of the plugins: closed for a moment, so that some of them can be replaced."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Gate:
    """Turns enter and leave. While it is `closed()`, no turn is inside, and those that want to enter wait."""

    __slots__ = ("_closing", "_empty", "_inside", "_opened", "is_closed")

    def __init__(self) -> None:
        self._inside = 0
        self._opened = asyncio.Event()
        self._empty = asyncio.Event()
        self._closing = asyncio.Lock()
        self.is_closed = False
        """Whether `enter` waits."""

    async def enter(self) -> None:
        """Enter as soon as the gate is open."""
        while self.is_closed:
            await self._opened.wait()
        self._inside += 1

    def leave(self) -> None:
        """Leave; each `enter` has one `leave`."""
        self._inside -= 1
        if self.is_closed and not self._inside:
            self._empty.set()

    @asynccontextmanager
    async def closed(self) -> AsyncIterator[None]:
        """Close the gate and wait until it is empty; open it again at the end of the block."""
        async with self._closing:
            self._opened.clear()
            self.is_closed = True
            try:
                if self._inside:
                    self._empty.clear()
                    await self._empty.wait()
                yield
            finally:
                self.is_closed = False
                self._opened.set()
