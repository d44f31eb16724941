"""The process that hosts the websocket server, for clients and tools of OVOS, on the bus of an assistant at NATS."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from hark.app.processes.claims import PingResponder, ProcessInfo, this_process
from hark.app.processes.connection import ProcessConnection
from hark.app.settings.tables import BusTable
from hark.errors import UserError
from hark.model import Clock


async def serve_edge(
    table: BusTable,
    state: Path,
    clock: Clock,
    connection: ProcessConnection,
    lost: Callable[[ProcessInfo], None],
    stop: asyncio.Event,
    listening: Callable[[], None],
    lang: str,
) -> None:
    """Serve clients until `stop` is set; raises `UserError`. `listening` is called when they can connect.

    `lang` is the language of the device.
    """
    try:
        from hark.app.bus_server import start_server
    except ImportError as error:
        raise UserError(str(error)) from None
    claim = connection.claim(this_process(("edge",), clock.wall()), clock, lost)
    try:
        await claim.take()
        pings = PingResponder(connection.bus, claim)
        server, _ = await start_server(connection.bus, table, state, clock, has_assistant=True, lang=lang)
        asyncio.get_running_loop().set_exception_handler(server.handle_loop_error)
        try:
            await claim.ready()
            listening()
            await stop.wait()
        finally:
            await server.close()
            pings.close()
            await claim.leave()
    finally:
        await connection.close()
