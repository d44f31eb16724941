"""The bus of an assistant in several processes, in one of its own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from hark.app.commands.common import ANSWERED
from hark.app.commands.signals import on_signals
from hark.app.places import tokens_file
from hark.app.processes.parent_watch import ParentWatch
from hark.app.settings.bus_tables import BusTable
from hark.app.tokens import TokenFile
from hark.app.trouble import Trouble
from hark.model import SystemClock


def run_bus(table: BusTable, state: Path, leash: str | None, grace: float) -> int:
    """Be the bus that the rooms look for, until somebody ends it; raises `Trouble`."""
    place = urlsplit(table.url)
    if place.hostname is not None:
        where = {"host": place.hostname, "port": place.port or 80, "path": place.path or "/"}
        table = msgspec.structs.replace(table, **where)
    asyncio.run(_serve(table, state, leash, grace))
    return ANSWERED


async def _serve(table: BusTable, state: Path, leash: str | None, grace: float) -> None:
    try:
        from hark.app.doors import listen
    except ImportError as error:
        raise Trouble(str(error)) from None
    clock, stop = SystemClock(), asyncio.Event()
    on_signals(stop.set)
    if leash is not None:
        ParentWatch(leash, clock, stop.set, grace)
    server, _ = await listen(table, TokenFile(tokens_file(table.tokens, state)), clock, state)
    try:
        await stop.wait()
    finally:
        await server.close()
