"""A process that a supervisor starts, watches and stops."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final

from hark.app.processes.parent_watch import RUNNING
from hark.model import Clock

START_LIMIT: Final = 60.0
"""Seconds without a sign of life that a process may take to start: imports of plugins block its event loop."""
_LAST_LINES: Final = 1.0
"""Seconds to wait for the end of the output of a process that has ended; a process of its own may hold it open."""


class ManagedProcess:
    """One process, started as often as it is needed. Each line it writes is handed to `report`.

    A process of Hark sends pulses (see `ParentWatch`) and ends with its supervisor. One of others has a `probe`
    instead, which says whether it answers.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        clock: Clock,
        report: Callable[[str], None],
        *,
        probe: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        self.name = name
        self._command = command
        self._clock = clock
        self._report = report
        self._probe = probe
        self._process: asyncio.subprocess.Process | None = None
        self._lifeline = self._pulses = -1
        self._output: asyncio.Task[None] | None = None
        self._running = False
        """Whether it has got as far as to serve, since it was last started."""
        self.began = 0.0
        self.last_sign = 0.0
        """When it last showed that it is alive."""

    @property
    def pid(self) -> int | None:
        """Its process id while it exists."""
        process = self._process
        return process.pid if process is not None and process.returncode is None else None

    async def start(self) -> None:
        """Start it, in a session of its own: Ctrl-C in the terminal is for the supervisor, which stops all in order."""
        self._running = False
        self.began = self.last_sign = self._clock.monotonic()
        if self._probe is not None:
            self._process = await self._execute(self._command)
        else:
            theirs, self._lifeline = os.pipe()
            self._pulses, pulses = os.pipe()
            os.set_blocking(self._pulses, False)
            try:
                command = [*self._command, "--parent-watch", f"{theirs},{pulses}"]
                self._process = await self._execute(command, theirs, pulses)
            finally:
                os.close(theirs)
                os.close(pulses)
        self._output = asyncio.ensure_future(self._report_lines(self._process.stdout))

    async def silence(self) -> tuple[float, float]:
        """For how many seconds it has shown no sign of life, and how many it may."""
        if self._probe is None:
            self._read_pulses()
        elif await self._probe():
            self._sign(running=True)
        return self._clock.monotonic() - self.last_sign, 0.0 if self._running else START_LIMIT

    async def ended(self) -> int:
        """Wait for its end; the exit status, negative for a signal. Everything it wrote has been reported then."""
        if self._process is None:
            return 0
        status = await self._process.wait()
        if self._output is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._output, _LAST_LINES)
        self.let_go()
        self._process = None
        return status

    async def reap(self) -> None:
        """Wait for the end of a process that was killed, where what waited for it was cancelled."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(process.communicate(), _LAST_LINES)
            self.let_go()

    def let_go(self) -> None:
        """Close the pipes, as the death of the supervisor does: the process comes to its end."""
        for descriptor in (self._lifeline, self._pulses):
            if descriptor >= 0:
                os.close(descriptor)
        self._lifeline = self._pulses = -1

    def terminate(self) -> None:
        """Ask it to end in good order."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once, with every process it has started."""
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

    async def _execute(self, command: Sequence[str], *descriptors: int) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            pass_fds=descriptors,
            start_new_session=True,
        )

    def _read_pulses(self) -> None:
        with suppress(OSError):  # there is none
            pulses = os.read(self._pulses, 65_536)
            if pulses:
                self._sign(running=pulses.endswith(RUNNING))

    def _sign(self, *, running: bool) -> None:
        self._running = self._running or running
        self.last_sign = self._clock.monotonic()

    async def _report_lines(self, stream: asyncio.StreamReader | None) -> None:
        rest = b""
        while stream is not None and (chunk := await stream.read(65_536)):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._report(f"{self.name}: {line.decode(errors='replace')}")
        if rest:
            self._report(f"{self.name}: {rest.decode(errors='replace')}")
