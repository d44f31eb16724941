"""Looking after processes: started in order, restarted when they end or hang, stopped in order."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Sequence
from typing import Final

from hark.app.processes.managed_process import ManagedProcess
from hark.model import Clock

FIRST: Final = 0.1
LONGEST: Final = 30.0
STEADY: Final = 60.0
"""Seconds of good service after which what failed before is forgotten."""


class Backoff:
    """Each pause twice the last, up to the longest. A life of `STEADY` seconds begins anew with the first."""

    def __init__(self) -> None:
        self._next = FIRST

    def after(self, lived: float) -> float:
        """The pause after a life of this many seconds."""
        if lived >= STEADY:
            self._next = FIRST
        pause = self._next
        self._next = min(self._next * 2, LONGEST)
        return pause


log = logging.getLogger("hark.split")

MISTAKE: Final = 2
"""The exit status of a child for which there is something to be put right first."""
_LOOK: Final = 1.0
_SHORT: Final = 5.0
"""Seconds a child lives at least once it has got going."""
_TRIES: Final = 5
"""How often one that never got going is tried."""


class Supervisor:
    """Keeps children alive. One whose event loop stands still for `stalled` seconds is ended and started again.

    `gone` is told the process id of one that has ended; `failed` is called for one that cannot be started.
    """

    def __init__(
        self,
        children: Sequence[ManagedProcess],
        clock: Clock,
        *,
        stalled: float,
        grace: float,
        gone: Callable[[int], None],
        failed: Callable[[str], None],
    ) -> None:
        self.children = children
        """In the order in which they are started."""
        self._clock = clock
        self._stalled = stalled
        self._grace = grace
        self._gone = gone
        self._failed = failed
        self._keeping: dict[str, asyncio.Task[None]] = {}
        self._ending: set[str] = set()

    def start(self) -> None:
        """Start all of them, and from then on keep them alive."""
        loop = asyncio.get_running_loop()
        for child in self.children:
            self._keeping[child.name] = loop.create_task(self._keep(child), name=f"keeping {child.name}")

    async def stop(self, order: Sequence[str]) -> None:
        """End them one after the other: each is given its time, and none is left."""
        by_name = {child.name: child for child in self.children}
        self._ending |= by_name.keys()  # nobody is started again from now on
        for name in order:
            await self._end(by_name[name])
        for child in self.children:
            child.kill()
        await asyncio.gather(*self._keeping.values(), return_exceptions=True)

    async def _end(self, child: ManagedProcess) -> None:
        keeping = self._keeping.get(child.name)
        if keeping is None:
            return
        child.ask_to_end()
        if child.pid is None:  # it waits to be started again
            keeping.cancel()
        _, late = await asyncio.wait([keeping], timeout=self._grace)
        if late:
            log.warning("%s does not come to an end; it is killed", child.name)
            child.kill()
            await asyncio.wait([keeping])

    async def _keep(self, child: ManagedProcess) -> None:
        backoff = Backoff()
        tries: int | None = 0  # None once it got going: from then on it is tried for ever
        while child.name not in self._ending:
            await child.start()
            pid = child.pid or 0
            status = await self._watched(child)
            lived = self._clock.monotonic() - child.began
            self._gone(pid)
            if child.name in self._ending:
                return
            tries = tries + 1 if lived < _SHORT and tries is not None else None
            if status == MISTAKE or tries == _TRIES:
                self._failed(f"{child.name} cannot be started; see above")
                return
            pause = backoff.after(lived)
            log.error("%s %s; it is started again in %g s", child.name, _told(status), pause)
            await self._clock.sleep(pause)

    async def _watched(self, child: ManagedProcess) -> int:
        """Wait for a child's end, and bring it about when its event loop stands still."""
        ending = asyncio.ensure_future(child.ended())
        while True:
            done, _ = await asyncio.wait([ending], timeout=_LOOK)
            if done:
                return ending.result()
            silent = self._clock.monotonic() - child.beat
            if silent > self._stalled:
                log.error("%s has stood still for %.0f s; its own log says where", child.name, silent)
                child.kill()


def _told(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"
