"""A process that is looked after."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress

from hark.model import Clock


class ManagedProcess:
    """One process, started as often as it is needed. Each line it writes is told, with its name before it."""

    def __init__(self, name: str, command: Sequence[str], clock: Clock, tell: Callable[[str], None]) -> None:
        self.name = name
        self._command = command
        self._clock = clock
        self._tell = tell
        self._process: asyncio.subprocess.Process | None = None
        self._leash = -1
        self._pulse = -1
        self._telling: asyncio.Task[None] | None = None
        self.began = 0.0
        self.beat = 0.0
        """When its event loop last showed that it goes round."""

    @property
    def pid(self) -> int | None:
        """Its process id, while it is there."""
        process = self._process
        return process.pid if process is not None and process.returncode is None else None

    async def start(self) -> None:
        """Start it. It hears that we are gone, however we go, by the end of a pipe."""
        theirs, self._leash = os.pipe()
        self._pulse, pulse = os.pipe()
        os.set_blocking(self._pulse, False)
        self.began = self.beat = self._clock.monotonic()
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                "--leash",
                f"{theirs},{pulse}",
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                pass_fds=(theirs, pulse),
                start_new_session=True,  # Ctrl-C in the terminal is for us: we end them in their order
            )
        finally:
            os.close(theirs)
            os.close(pulse)
        loop = asyncio.get_running_loop()
        loop.add_reader(self._pulse, self._beats)
        self._telling = loop.create_task(self._tell_lines(self._process.stdout), name=f"log of {self.name}")

    async def ended(self) -> int:
        """Wait for its end; the exit status, negative for a signal. All it wrote has been told then."""
        if self._process is None:
            return 0
        status = await self._process.wait()
        asyncio.get_running_loop().remove_reader(self._pulse)
        if self._telling is not None:
            # What it has started itself may hold its output open: that is no reason to wait.
            with suppress(TimeoutError):
                await asyncio.wait_for(self._telling, 1.0)
        for descriptor in (self._leash, self._pulse):
            with suppress(OSError):
                os.close(descriptor)
        self._process = None
        return status

    def ask_to_end(self) -> None:
        """Have it come to an end in good order."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it, and whatever it has started, at once."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        pid = self.pid
        if pid is None:
            return
        with suppress(ProcessLookupError):
            if number == signal.SIGKILL:
                os.killpg(pid, number)
            else:
                os.kill(pid, number)

    def _beats(self) -> None:
        with suppress(BlockingIOError):
            if os.read(self._pulse, 4_096):
                self.beat = self._clock.monotonic()
            else:
                asyncio.get_running_loop().remove_reader(self._pulse)

    async def _tell_lines(self, stream: asyncio.StreamReader | None) -> None:
        rest = b""
        while stream is not None and (chunk := await stream.read(65_536)):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._tell(f"{self.name}: {line.decode(errors='replace')}")
        if rest:
            self._tell(f"{self.name}: {rest.decode(errors='replace')}")
