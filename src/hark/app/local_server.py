"""The websocket server of an assistant in one process: programs on this machine connect to it as to ovos-messagebus."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from hark.app.diagnostics.report import DoctorReport
from hark.app.port_holder import remedy_for_taken
from hark.app.runtime import Runtime
from hark.app.settings.tables import BusTable
from hark.errors import UserError
from hark.model import Clock

if TYPE_CHECKING:
    from hark.app.processes.claims import PingResponder, ProcessInfo
    from hark.app.processes.queries import ReportResponder, TraceResponder
    from hark.bus.websocket import WebSocketServer

log = logging.getLogger("hark.app")


class LocalServer:
    """Serves the bus of an assistant from `start` until `close`. Without a server the assistant runs all the same.

    It is started beside the first turns: they do not wait for the library to be imported.
    """

    def __init__(
        self, table: BusTable, state: Path, clock: Clock, report: Callable[[str], None], lang: str = "en-US"
    ) -> None:
        self._table = table
        self._lang = lang
        """The language of the device."""
        self._state = state
        self._clock = clock
        self._report = report
        """Shows the user why there is no server."""
        self.problem = ""
        """Why there is no server, with the remedy."""
        self._starting: asyncio.Task[None] | None = None
        self._server: WebSocketServer | None = None
        self._responders: list[PingResponder | TraceResponder | ReportResponder] = []

    def start(self, runtime: Runtime, examine: Callable[[], Awaitable[DoctorReport]]) -> None:
        """Start the server, if the settings do not turn it off."""
        if self._table.serve:
            self._starting = asyncio.get_running_loop().create_task(self._start(runtime, examine))

    async def close(self) -> None:
        """Disconnect the clients, once they have what they were sent."""
        if self._starting is not None:
            self._starting.cancel()
            with suppress(asyncio.CancelledError):
                await self._starting
        for responder in self._responders:
            responder.close()
        if self._server is not None:
            await self._server.close()

    async def _start(self, runtime: Runtime, examine: Callable[[], Awaitable[DoctorReport]]) -> None:
        try:
            # On a thread: it takes as long as some hundred turns.
            bus_server = await asyncio.to_thread(import_module, "hark.app.bus_server")
        except ImportError as error:
            log.info("no websocket server for other programs: %s", error)
            return
        try:
            self._server, urls = await bus_server.start_server(
                runtime.bus,
                self._table,
                self._state,
                self._clock,
                reserved=runtime.ids(),
                has_assistant=True,
                lang=self._lang,
            )
        except UserError as trouble:
            if isinstance(trouble, bus_server.PortTaken):
                remedy = await asyncio.to_thread(remedy_for_taken, self._table.host, self._table.port, self._table.path)
                self.problem = f"{trouble.place}, so there is no websocket server for other programs; {remedy}"
            else:
                self.problem = f"{trouble}; until then there is no websocket server for other programs"
            self._report(self.problem)
            return
        log.info("the bus listens at %s", " and ".join(urls))
        asyncio.get_running_loop().set_exception_handler(self._server.handle_loop_error)
        self._answer_services(runtime, examine)

    def _answer_services(self, runtime: Runtime, examine: Callable[[], Awaitable[DoctorReport]]) -> None:
        """Answer what `hark say`, `hark why` and `hark doctor` ask with --bus."""
        from hark.app.processes.claims import PingResponder, this_process
        from hark.app.processes.queries import ReportResponder, TraceResponder
        from hark.app.service_names import ALL_SERVICES

        info = this_process(ALL_SERVICES, self._clock.wall())
        claim = _WholeAssistant(msgspec.structs.replace(info, is_settled=True, is_ready=True))
        self._responders += [
            PingResponder(runtime.bus, claim),
            TraceResponder(runtime.bus, runtime.traces, info.id),
            ReportResponder(runtime.bus, examine, info.id),
        ]


class _WholeAssistant:
    """The claim of a process that has every service, and shares its bus with no other; see `ServiceClaim`."""

    def __init__(self, info: ProcessInfo) -> None:
        self.info = info

    async def take(self) -> None: ...

    async def ready(self) -> None: ...

    async def leave(self) -> None: ...
