"""An assistant in several processes, as one: seen from any place on the bus they share."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from typing import Final

import msgspec

from hark import hints
from hark.app.client import Client
from hark.app.control.protocol import Forget
from hark.app.diagnostics.report import DoctorReport
from hark.app.processes.claims import Members, until_ready
from hark.app.processes.queries import ReportCollector, TraceCollector
from hark.app.processes.remote_talk import RemoteTalk
from hark.app.processes.stored_data import StoredData
from hark.app.service_names import ServiceName
from hark.app.settings import Settings
from hark.bus import Bus
from hark.errors import UserError
from hark.model import Clock, Session
from hark.trace import TraceRecord

FOREIGN_BUS: Final = (
    "this bus is not Hark's own: any program on it can end, answer and speak in the turns of others; where that "
    "matters, use hark bus in its place (docs/security.md)"
)
NEEDED: Final[tuple[ServiceName, ...]] = ("understand", "act", "speak")
"""The services without which nothing is answered; an assistant that deals in text does not hear."""
REACH: Final = 3.0
"""Seconds in which they must be found to be ready."""
_LOOK: Final = 5.0
"""Seconds between two looks whether `understand` still runs, while an answer is waited for."""
_MISSES: Final = 2
"""After so many looks without it, it is gone."""


class RemoteView:
    """See `Assistant` for what it promises.

    Where no supervisor restarts a missing service, a client gets the answer that it is missing. A `supervised` view
    waits for it.
    """

    def __init__(
        self,
        bus: Bus,
        clock: Clock,
        members: Members,
        settings: Settings,
        settings_file: str = "no file",
        *,
        services: Collection[str] = NEEDED,
        supervised: bool = False,
    ) -> None:
        self._bus = bus
        self._clock = clock
        self._members = members
        self._settings = settings
        self._supervised = supervised
        self.traces = TraceCollector(bus, members)
        self.reports = ReportCollector(bus, members, settings, settings_file, services)
        self.stored = StoredData(bus, members)
        self.session_prefix = f"say-{os.urandom(4).hex()}"
        """Sessions of other processes that talk to the same assistant begin otherwise."""

    @asynccontextmanager
    async def open_client(self) -> AsyncIterator[Client]:
        """As promised by `Assistant`. It costs the bus something only while it is used."""
        if not self._supervised:
            await self._check_services()
        talk = RemoteTalk(self._bus, self._clock, _ignore)
        watching = None if self._supervised else asyncio.ensure_future(self._watch(talk))
        try:
            yield talk
        finally:
            if watching is not None:
                watching.cancel()
            talk.close()

    async def find_trace(self, prefix: str) -> TraceRecord | None:
        return await self.traces.find(prefix)

    def langs(self) -> frozenset[str]:
        return self._settings.understanding().langs

    async def device_session(self, *, reset: bool) -> Session:
        return await self.stored.device_session(reset=reset)

    async def forget(self, what: Forget) -> int:
        return await self.stored.forget(what)

    async def examine(self) -> DoctorReport:
        report = await self.reports.examine()
        carrier = getattr(self._bus, "carrier", None)
        if getattr(carrier, "speaks_hark", True):
            return report
        return msgspec.structs.replace(report, advice=[*report.advice, FOREIGN_BUS])

    async def _check_services(self) -> None:
        """Raises `UserError` that names the services which are missing."""
        with suppress(TimeoutError):
            async with self._clock.timeout(REACH):
                await until_ready(self._members, NEEDED, self._clock)
                return
        present = await self._members.present()
        missing = [name for name in NEEDED if not any(name in one.services and one.is_ready for one in present)]
        starting = {name for one in present for name in one.services}
        named = ", ".join(f"{name} (not ready yet)" if name in starting else name for name in missing)
        options = " ".join(f"--service {name}" for name in missing if name not in starting)
        remedy = f"; start what is missing with: {hints.hark(f'run {options}')}" if options else ""
        if missing:
            raise UserError(f"no process on this bus has the service {named}{remedy}")

    async def _watch(self, talk: Client) -> None:
        """Give up on the open turns when no process that understands is left."""
        misses = 0
        while misses < _MISSES:
            await self._clock.sleep(_LOOK)
            present = await self._members.present()
            misses = 0 if any("understand" in one.services for one in present) else misses + 1
        talk.give_up("no process on this bus has the service understand any more")


def _ignore(_text: str) -> None:
    """What is said in no client's session is for the device."""
