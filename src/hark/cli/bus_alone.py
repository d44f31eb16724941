"""Run a websocket server with a bus of its own, and nothing else."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

import msgspec

from hark.app.settings.tables import BusTable
from hark.app.signals import on_stop_signal
from hark.bus import LocalBus
from hark.cli.common import load_settings, state_path
from hark.errors import UserError
from hark.model import SystemClock


def run_bus(options: argparse.Namespace) -> None:
    """Run the server until a signal stops the process."""
    settings = load_settings(options)
    table = settings.bus
    changes = {name: getattr(options, name) for name in ("host", "port") if getattr(options, name) is not None}
    table = msgspec.structs.replace(table, **changes)
    asyncio.run(_serve(table, state_path(options), settings.assistant.lang))


async def _serve(table: BusTable, state: Path, lang: str) -> None:
    try:
        from hark.app.bus_server import PortTaken, start_server
    except ImportError as error:
        raise UserError(str(error)) from None
    stop = asyncio.Event()
    on_stop_signal(stop.set)
    bus = LocalBus()
    try:
        server, addresses = await start_server(bus, table, state, SystemClock(), lang=lang)
    except PortTaken as taken:
        raise UserError(f"{taken}, or with --port") from None
    asyncio.get_running_loop().set_exception_handler(server.handle_loop_error)
    try:
        print(f"the bus listens at {' and '.join(addresses)}", flush=True)
        await stop.wait()
    finally:
        await server.close()
        await bus.close()
