"""Who has the control socket of a state directory: one process at a time, and always one that lives."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from pathlib import Path
from typing import Final

from hark.app.control.address import NAME
from hark.app.control.server import Assistant, Control, listening
from hark.app.state.directory import Held, StateError, take_part
from hark.model import Clock

log = logging.getLogger("hark.app")

PART: Final = "front"
"""The part of the state directory that goes with it."""
LOOK: Final = 0.2
"""Seconds between two looks whether whoever has it is gone."""


class Door:
    """The control socket, once it is ours: `take()` it, `await serve(...)`, and `await close()` at the end.

    Several processes may want it. `serve_when_free` waits until the one that has it is gone, however it went.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lock: int | None = None
        self._channel: socket.socket | None = None
        self._control: Control | None = None
        self._waiting: asyncio.Task[None] | None = None

    @property
    def is_served(self) -> bool:
        """Whether those who come are answered by us."""
        return self._control is not None

    def take(self) -> None:
        """Have it; whoever connects waits until it is served. Raises `PostingList`, or `StateError` when it cannot be made."""
        lock = take_part(self._directory, PART)
        try:
            self._channel = listening(self._directory)
        except StateError:
            os.close(lock)
            raise
        self._lock = lock

    async def serve(self, assistant: Assistant) -> None:
        """Answer those who come; it was taken before."""
        if self._channel is not None:
            self._control = Control(self._channel, self._directory, assistant)
            await self._control.start()

    def serve_when_free(self, assistant: Assistant, clock: Clock) -> None:
        """Take it as soon as nobody else has it, and serve it."""
        self._waiting = asyncio.get_running_loop().create_task(self._wait(assistant, clock), name="door")

    async def close(self) -> None:
        """Serve it no longer, and let others have it."""
        if self._waiting is not None:
            self._waiting.cancel()
            await asyncio.gather(self._waiting, return_exceptions=True)
        if self._control is not None:
            await self._control.close()
        self.leave()

    def leave(self) -> None:
        """Let others have it, if it is ours: nobody is served."""
        if self._lock is None:
            return
        (self._directory / NAME).unlink(missing_ok=True)
        if self._channel is not None:
            self._channel.close()
        os.close(self._lock)  # last: whoever has it next makes a socket of the same name
        self._lock = self._channel = self._control = None

    async def _wait(self, assistant: Assistant, clock: Clock) -> None:
        while True:
            try:
                self.take()
            except Held:
                await clock.sleep(LOOK)
            except StateError as error:
                log.error("nobody can ask this process anything: %s", error)
                return
            else:
                await self.serve(assistant)
                return
