"""The process that hosts the websocket server, for clients and tools of OVOS, on the bus of an assistant at NATS."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final

from hark.app.processes.claims import Members, PingResponder, ProcessInfo, this_process, until_ready
from hark.app.processes.connection import ProcessConnection
from hark.app.processes.queries import plugin_ids
from hark.app.settings.tables import BusTable
from hark.errors import UserError
from hark.model import Clock

log = logging.getLogger("hark.processes")

NEEDED: Final = ("understand", "act")
"""The services without which a sentence ends as not understood."""
_PATIENCE: Final = 20.0
"""Seconds for which the port stays shut while they start."""


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
        await _assistant_ready(connection.members, clock)
        reserved = await plugin_ids(connection.bus, connection.members)
        server, _ = await start_server(
            connection.bus, table, state, clock, reserved=reserved, has_assistant=True, lang=lang
        )
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


async def _assistant_ready(members: Members, clock: Clock) -> None:
    """Wait for the services that answer: a client that can connect may speak at once, and clients try again."""
    try:
        async with clock.timeout(_PATIENCE):
            await until_ready(members, NEEDED, clock)
    except TimeoutError:
        log.warning("clients can connect, but not all of %s are ready yet", " and ".join(NEEDED))
