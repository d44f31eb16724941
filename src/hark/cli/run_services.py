"""`hark run --service`: services of an assistant, over the bus they share with the others."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Final

import msgspec

from hark.app.bus_address import BusAddress
from hark.app.control.server import ControlSocket
from hark.app.plugin_set import plugin_files, plugins, wanted_by
from hark.app.processes.claims import ProcessInfo
from hark.app.processes.connection import connect
from hark.app.processes.parent_watch import ParentWatch
from hark.app.processes.service_process import ServiceProcess
from hark.app.service_names import ServiceName
from hark.app.settings import Settings
from hark.app.signals import on_stop_signal
from hark.app.state.directory import Lock, Locked, StateError, make_directory
from hark.app.state.store import State
from hark.app.tokens import ServiceToken
from hark.cli.common import OK, USER_ERROR, print_note, settings_path, state_path
from hark.cli.startup import mute_refusal_log, report_problems
from hark.errors import UserError
from hark.model import SystemClock

if TYPE_CHECKING:
    from hark.app.voice.engines import VoiceConfig

MARGIN: Final = 10.0
"""Seconds that the end of a process may take beyond the grace that turns are given."""


def run_services(options: argparse.Namespace, settings: Settings) -> int:
    """Run services until a signal stops the process."""
    address = _address(options, settings)
    if options.dev:
        raise UserError("--dev needs the whole assistant in one process")
    if options.worker and options.service != ["understand"]:
        raise UserError("--worker goes with --service understand alone")
    process = _Process(options, settings, address)
    directory = state_path(options)
    try:
        if "edge" in options.service:
            return process.run_edge()
        return process.run()
    except Locked as held:
        raise StateError(f"{held}; processes that share {directory} need different services: see --state") from None


class _Process:
    def __init__(self, options: argparse.Namespace, settings: Settings, address: BusAddress) -> None:
        self._options = options
        self._settings = settings
        self._address = address
        self._services: tuple[ServiceName, ...] = tuple(dict.fromkeys(options.service))
        self._clock = SystemClock()
        self._status = OK

    def run(self) -> int:
        options = self._options
        state = State.under(self._settings, state_path(options), self._clock, self._services, options.part)
        with closing(state), suppress(asyncio.CancelledError):
            asyncio.run(self._serve(state))
        return self._status

    def run_edge(self) -> int:
        if self._services != ("edge",) or not self._address.is_nats:
            raise UserError(
                "--service edge joins websocket clients to NATS: it goes with no other service, and needs servers in "
                "[nats], or --bus nats://..."
            )
        directory = state_path(self._options)
        make_directory(directory)
        with closing(Lock(directory, self._services)), suppress(asyncio.CancelledError):
            asyncio.run(self._serve_edge())
        return self._status

    async def _serve(self, state: State) -> None:
        options, settings = self._options, self._settings
        stop, started = self._stoppable()
        mute_refusal_log()
        if not self._address.is_nats:
            ServiceToken(state.directory).ensure()  # the bus may be started later
        # One process translates for clients of OVOS: the one that calls their skills.
        lang = settings.assistant.lang if "understand" in self._services else None
        connection = await connect(self._address, self._clock, translated_for=lang)
        path = settings_path(options)[0]
        files = plugin_files(settings, path)
        loaded = plugins(installed=options.plugins, files=files, wanted=wanted_by(settings), services=self._services)
        process = ServiceProcess(
            self._services,
            settings,
            loaded,
            self._clock,
            connection,
            self._lost(stop),
            state=state,
            worker=options.part if options.worker else None,
            settings_file=str(path),
            voice=_voice(settings, options),
            # A supervisor has the control socket itself.
            control_socket=ControlSocket(state.directory) if options.parent_watch is None else None,
        )
        async with process:
            started()
            report_problems(process.runtime, path)
            if options.parent_watch is None:
                print_note(f"ready: {', '.join(self._services)} at {self._address}; a signal stops it")
            await stop.wait()

    async def _serve_edge(self) -> None:
        # Only here: no other service needs it.
        from hark.app.processes.edge import serve_edge

        stop, started = self._stoppable()
        connection = await connect(self._address, self._clock)
        directory = state_path(self._options)
        table, lang = self._address.server_table, self._settings.assistant.lang
        await serve_edge(table, directory, self._clock, connection, self._lost(stop), stop, started, lang)

    def _stoppable(self) -> tuple[asyncio.Event, Callable[[], None]]:
        """Set when the process is to end; and what to call once it has started: until then it is simply cancelled."""
        stop = asyncio.Event()
        starting = asyncio.current_task()
        watch: ParentWatch | None = None

        def stop_now() -> None:
            stop.set()
            if starting is not None:
                starting.cancel()

        def started() -> None:
            nonlocal starting
            starting = None
            if watch is not None:
                watch.running()

        on_stop_signal(stop_now)
        if self._options.parent_watch is not None:
            grace = self._settings.limits.grace + MARGIN
            watch = ParentWatch(self._options.parent_watch, self._clock, stop_now, grace)
        return stop, started

    def _lost(self, stop: asyncio.Event) -> Callable[[ProcessInfo], None]:
        def lost(other: ProcessInfo) -> None:
            print_note(f"{', '.join(self._services)}: {other} has it as well; this process ends")
            self._status = USER_ERROR
            stop.set()

        return lost


def _address(options: argparse.Namespace, settings: Settings) -> BusAddress:
    address = BusAddress.of(settings, options.bus, state_path(options))
    if options.broker_user is None:
        return address
    user, password = options.broker_user
    nats = msgspec.structs.replace(address.nats, user=user, password=password, token=None, credentials=None)
    return msgspec.structs.replace(address, nats=nats)


def _voice(settings: Settings, options: argparse.Namespace) -> VoiceConfig | None:
    """The engines of services that are to hear and speak."""
    if not options.voice:
        return None
    # Only here: a process that deals in text does not import engines.
    from hark.app.voice.engines import EngineFactory, VoiceConfig

    return VoiceConfig(factory=EngineFactory(settings, installed=options.plugins))
