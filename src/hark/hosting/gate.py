"""A moment in which nobody uses the plugins, so that some of them can be exchanged."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Gate:
    """A way that can be shut for a moment: who is on it gets to its end, who comes meanwhile waits before it."""

    __slots__ = ("_empty", "_inside", "_one_at_a_time", "_opened", "is_shut")

    def __init__(self) -> None:
        self._inside = 0
        self._opened = asyncio.Event()
        self._empty = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()
        self.is_shut = False
        """Whether whoever comes has to wait."""

    async def enter(self) -> None:
        """Step on the way, as soon as it is open."""
        while self.is_shut:
            await self._opened.wait()
        self._inside += 1

    def leave(self) -> None:
        """Be through."""
        self._inside -= 1
        if self.is_shut and not self._inside:
            self._empty.set()

    @asynccontextmanager
    async def shut(self) -> AsyncIterator[None]:
        """Let nobody in and wait until everybody is through; open again at the end."""
        async with self._one_at_a_time:
            self._opened.clear()
            self.is_shut = True
            try:
                if self._inside:
                    self._empty.clear()
                    await self._empty.wait()
                yield
            finally:
                self.is_shut = False
                self._opened.set()
