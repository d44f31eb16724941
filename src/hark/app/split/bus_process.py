"""The websocket server of an assistant in several processes, in a process of its own."""

from __future__ import annotations

import asyncio
from pathlib import Path

from hark.app.bus_address import BusAddress
from hark.app.commands.common import ANSWERED
from hark.app.commands.signals import on_signals
from hark.app.places import tokens_file
from hark.app.settings.bus_tables import BusTable
from hark.app.split.leash import Leash
from hark.app.tokens import TokenFile
from hark.app.trouble import Trouble
from hark.bus import LocalBus
from hark.model import SystemClock


def run_bus(address: BusAddress, state: Path, leash: str | None, grace: float) -> int:
    """Serve where the services connect to, until the process is told to stop; raises `Trouble`."""
    asyncio.run(_serve(address.server_table, state, leash, grace))
    return ANSWERED


async def _serve(table: BusTable, state: Path, leash: str | None, grace: float) -> None:
    try:
        from hark.app.bus_server import start_server
    except ImportError as error:
        raise Trouble(str(error)) from None
    clock, stop = SystemClock(), asyncio.Event()
    on_signals(stop.set)
    if leash is not None:
        Leash(leash, clock, stop.set, grace)
    bus = LocalBus()
    server, _ = await start_server(bus, table, TokenFile(tokens_file(table.tokens, state)), clock)
    try:
        await stop.wait()
    finally:
        await server.close()
        await bus.close()
