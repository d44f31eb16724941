"""`hark run --room`: some rooms of an assistant, over the bus they share with the others."""

from __future__ import annotations

import argparse
import asyncio
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Final

from hark.app.bus_address import BusAddress
from hark.app.commands.common import ANSWERED, MISTAKE, complain, settings_of, state_of
from hark.app.commands.notices import hold_back_refusals, tell_notices
from hark.app.commands.signals import on_signals
from hark.app.control.door import Door
from hark.app.loading import plugin_files, plugins, wanted_by
from hark.app.rooms.holder import Holder
from hark.app.rooms.lodging import Lodging
from hark.app.rooms.names import RoomName
from hark.app.settings import Settings
from hark.app.split.bus_process import run_bus
from hark.app.split.leash import Leash
from hark.app.state.directory import Held, StateError
from hark.app.state.keeping import State
from hark.app.trouble import Trouble
from hark.model import SystemClock

if TYPE_CHECKING:
    from hark.app.voice.aloud import Aloud

MARGIN: Final = 10.0
"""Seconds that the end of a process may take beyond the grace that turns are given."""


def run_room(options: argparse.Namespace, settings: Settings) -> int:
    """Run rooms until somebody stops them."""
    address = BusAddress.of(settings, options.bus)
    if "bus" in options.room:
        if len(options.room) > 1 or address.is_nats:
            raise Trouble("the bus has a process of its own: --room bus goes with no other, and not with NATS")
        return run_bus(address, state_of(options), options.leash, settings.limits.grace + MARGIN)
    if options.dev or (options.worker and options.room != ["understand"]):
        raise Trouble("--dev needs the whole assistant in one process; --worker goes with --room understand alone")
    rooms: tuple[RoomName, ...] = tuple(dict.fromkeys(options.room))
    try:
        state = State(state_of(options), SystemClock(), traces=settings.trace.disk, parts=rooms, worker=options.part)
    except Held as held:
        raise StateError(f"{held}; every process needs a part of it that nobody else has: see --state") from None
    with closing(state), suppress(asyncio.CancelledError):
        return asyncio.run(_live(options, settings, state, rooms, address))
    return ANSWERED


async def _live(
    options: argparse.Namespace, settings: Settings, state: State, rooms: tuple[RoomName, ...], address: BusAddress
) -> int:
    clock = SystemClock()
    stop = asyncio.Event()
    starting = asyncio.current_task()

    def stop_now() -> None:
        stop.set()
        if starting is not None:  # nothing to be ended in good order yet
            starting.cancel()

    on_signals(stop_now)
    if options.leash is not None:
        Leash(options.leash, clock, stop_now, settings.limits.grace + MARGIN)
    status = ANSWERED

    def lost(holder: Holder) -> None:
        nonlocal status
        complain(f"{', '.join(rooms)}: {holder} has it already; this one gives way")
        status = MISTAKE
        stop.set()

    hold_back_refusals()
    bus = await address.connect(clock, is_worker=options.worker)
    path = settings_of(options)[0]
    files = plugin_files(settings, path)
    loaded = plugins(installed=options.plugins, files=files, wanted=wanted_by(settings), rooms=rooms)
    lodging = Lodging(
        rooms,
        settings,
        loaded,
        clock,
        bus,
        lost,
        state=state,
        is_worker=options.worker,
        settings_file=str(path),
        aloud=_aloud(settings, options),
        # Who looks after rooms has the control socket as well.
        door=Door(state.directory) if options.leash is None else None,
    )
    async with lodging:
        starting = None
        tell_notices(lodging.house, path)
        await stop.wait()
    return status


def _aloud(settings: Settings, options: argparse.Namespace) -> Aloud | None:
    """The engines of rooms that are to hear and speak."""
    if not options.voice:
        return None
    # Only here: who deals in text does not pay for it.
    from hark.app.voice.aloud import Aloud
    from hark.app.voice.choosing import Choice

    return Aloud(choice=Choice(settings, installed=options.plugins))
