"""Looking after processes: started in order, restarted when they end or hang, stopped in order."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Sequence
from typing import Final

from hark.app.processes.managed_process import ManagedProcess
from hark.bus.backoff import Backoff
from hark.model import Clock

log = logging.getLogger("hark.processes")

MISTAKE: Final = 2
"""The exit status of a process that cannot run before the user has put something right."""
_LOOK: Final = 0.5
"""Seconds between two looks at a process."""
_SHORT: Final = 5.0
"""Seconds that a process which starts at all lives at least."""
_STEADY: Final = 10.0
"""Seconds of service after which the next pause before a restart is the shortest again."""
_TRIES: Final = 5
"""How often a process that never got going is tried."""


class Supervisor:
    """Keeps processes alive. One that shows no sign of life for `stalled` seconds is killed and restarted.

    `failed` is called with the reason when a process cannot be started.
    """

    def __init__(
        self,
        processes: Sequence[ManagedProcess],
        clock: Clock,
        *,
        stalled: float,
        grace: float,
        failed: Callable[[str], None],
    ) -> None:
        self.processes = processes
        """In the order in which they are started."""
        self._clock = clock
        self._stalled = stalled
        self._grace = grace
        self._failed = failed
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._stopping = asyncio.Event()

    def start(self) -> None:
        """Start all of them, and from then on keep them alive."""
        for process in self.processes:
            self._tasks[process.name] = asyncio.ensure_future(self._keep_alive(process))

    async def stop(self, order: Sequence[str]) -> None:
        """End them one after the other; none is left afterwards. Each has `grace` seconds, then it is killed."""
        self._stopping.set()  # from now on none is restarted
        by_name = {process.name: process for process in self.processes}
        try:
            for name in order:
                if name in by_name:
                    await self._end(by_name[name])
        finally:  # also where a second Ctrl-C cancels this
            for process in self.processes:
                process.kill()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)
            await asyncio.gather(*(process.reap() for process in self.processes))

    async def _end(self, process: ManagedProcess) -> None:
        task = self._tasks.get(process.name)
        if task is None:
            return
        process.terminate()
        if process.pid is None:  # it waits to be restarted
            task.cancel()
        _, late = await asyncio.wait([task], timeout=self._grace)
        if late:
            log.warning("%s did not end within %g s; it is killed", process.name, self._grace)
            process.kill()
            await asyncio.wait([task])

    async def _keep_alive(self, process: ManagedProcess) -> None:
        backoff = Backoff(steady=_STEADY)
        tries: int | None = 0  # None once it got going: from then on it is tried for ever
        while not self._stopping.is_set():
            await process.start()
            status = await self._watch(process)
            lived = self._clock.monotonic() - process.began
            if self._stopping.is_set():
                return
            tries = tries + 1 if lived < _SHORT and tries is not None else None
            if status == MISTAKE or tries == _TRIES:
                self._failed(f"{process.name} cannot be started; see above")
                return
            pause = backoff.after(lived)
            log.error("%s %s; it is restarted in %g s", process.name, _described(status), pause)
            await self._clock.sleep(pause)

    async def _watch(self, process: ManagedProcess) -> int:
        """Wait for the end of a process, and bring it about when the process hangs."""
        ending = asyncio.ensure_future(process.ended())
        while True:
            looked = self._clock.monotonic()
            done, _ = await asyncio.wait([ending], timeout=_LOOK)
            if done:
                return ending.result()
            if self._clock.monotonic() - looked > 2 * _LOOK:
                # This process was itself stopped (Ctrl-Z), or starved: it cannot judge others by what it did not read.
                process.last_sign = self._clock.monotonic()
            silent, allowed = await process.silence()
            if silent > max(self._stalled, allowed):
                log.error(
                    "%s has shown no sign of life for %.0f s and is killed; its own log says why", process.name, silent
                )
                process.kill()


def _described(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"
