"""Waiting until the server has taken in what was sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from itertools import count

from hark.bus.websocket.protocol import FLUSH, command


class Flushes:
    """Those who wait, each with a number that the server says back."""

    def __init__(self) -> None:
        self._waiting: dict[int, asyncio.Future[None]] = {}
        self._numbers = count(1)

    async def wait(self, send: Callable[[bytes], None]) -> None:
        """Ask the server, and return when it has answered."""
        number = next(self._numbers)
        done = self._waiting[number] = asyncio.get_running_loop().create_future()
        send(command(FLUSH, number))
        try:
            await done
        finally:
            self._waiting.pop(number, None)

    def answered(self, number: int) -> None:
        """The server has taken in everything before this number."""
        done = self._waiting.get(number)
        if done is not None and not done.done():
            done.set_result(None)

    def again(self) -> Iterator[bytes]:
        """What another server has to be asked."""
        for number in self._waiting:
            yield command(FLUSH, number)

    def fail(self, error: Exception) -> None:
        """Nobody will answer."""
        for done in self._waiting.values():
            if not done.done():
                done.set_exception(error)
