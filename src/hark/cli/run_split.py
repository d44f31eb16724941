"""`hark run --split`: every service in a process of its own, and a conversation with all of them together."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Final

import msgspec

from hark import hints
from hark.app.bus_address import BusAddress
from hark.app.control.server import ControlSocket
from hark.app.processes.connection import ProcessConnection, connect
from hark.app.processes.managed_process import ManagedProcess
from hark.app.processes.nats_server import LocalBroker, is_worth_reporting
from hark.app.processes.queries import EDGE
from hark.app.processes.remote_front import RemoteFront
from hark.app.processes.supervisor import Supervisor
from hark.app.service_names import ALL_SERVICES
from hark.app.settings import Settings
from hark.app.signals import on_stop_signal
from hark.app.state.directory import Lock, Locked, StateError, make_directory
from hark.cli.common import OK, USER_ERROR, print_note, settings_path, state_path
from hark.cli.conversation import TerminalConversation
from hark.cli.run_services import MARGIN
from hark.cli.terminal import DescriptorReader, LineReader, Screen, Terminal
from hark.errors import UserError
from hark.model import SystemClock

BROKER: Final = "broker"


def run_split(options: argparse.Namespace, settings: Settings) -> int:
    """Run an assistant in several processes until the input ends, or a signal stops it."""
    if options.dev:
        raise UserError("--dev needs the whole assistant in one process")
    address = BusAddress.of(settings, options.bus)
    if options.bus is not None and not address.is_nats:
        raise UserError("with --split, --bus takes an address of NATS; clients find the websocket server at [bus] port")
    _check_extras()
    directory = state_path(options)
    make_directory(directory)
    control_socket = ControlSocket(directory)
    try:
        lock = Lock(directory, ("supervisor",))
        control_socket.take()
    except Locked as held:
        raise StateError(
            f"{held}; talk to that one with: {hints.hark('say')}, or choose another with --state"
        ) from None
    broker = None
    try:
        if not address.is_nats:
            broker = LocalBroker(directory, on_disk=settings.trace.disk, prefix=address.nats.prefix)
            address = msgspec.structs.replace(address, nats=broker.table(address.nats))
        return asyncio.run(_Split(options, settings, control_socket, address, broker).live())
    finally:
        if broker is not None:
            broker.clean_up()
        control_socket.leave()
        lock.release()


def _check_extras() -> None:
    try:
        import nats  # noqa: F401
        import picows  # noqa: F401
    except ImportError as error:
        raise UserError(f"--split needs {error.name}, which is not installed: {hints.install_extra('nats')}") from None


class _Split:
    def __init__(
        self,
        options: argparse.Namespace,
        settings: Settings,
        control_socket: ControlSocket,
        address: BusAddress,
        broker: LocalBroker | None,
    ) -> None:
        self._options = options
        self._settings = settings
        self._control_socket = control_socket
        self._address = address
        self._broker = broker
        """The one that is started here; none where the settings name servers."""
        self._clock = SystemClock()
        self._stop = asyncio.Event()
        self._status = OK
        self._is_ready = False

    async def live(self) -> int:
        on_stop_signal(self._stop.set)
        # A broker that others look after must be there before anything is started.
        connection = await connect(self._address, self._clock) if self._broker is None else None
        names = stopping_order(self._options.workers)
        processes = [self._service(name) for name in names]
        if self._broker is not None:
            command = self._broker.command(os.getpid())
            report = _report if self._options.verbose else _report_trouble
            processes.insert(0, ManagedProcess(BROKER, command, self._clock, report, probe=self._broker.is_well))
        supervisor = Supervisor(
            processes,
            self._clock,
            stalled=self._settings.services.stalled,
            grace=self._settings.limits.grace + MARGIN + 2.0,
            failed=self._fail,
        )
        with Terminal(sys.stdin, sys.stdout) as terminal:
            supervisor.start()
            try:
                await self._until_stopped(self._converse(terminal, connection))
            finally:
                await supervisor.stop((*names, BROKER))
        return self._status

    async def _converse(self, terminal: Terminal, connection: ProcessConnection | None) -> None:
        options = self._options
        screen = Screen(sys.stdout, self._stop.set, prompts=terminal.is_interactive)
        front = RemoteFront(
            (*ALL_SERVICES, EDGE),
            self._settings,
            self._clock,
            connection or await connect(self._address, self._clock),
            screen.show,
            control_socket=self._control_socket,
            settings_file=str(settings_path(options)[0]),
        )
        async with front:
            await front.ready()
            self._is_ready = True
            if terminal.is_interactive:
                print_note("all services are ready; Ctrl-D leaves")
            elif options.stay:
                print_note("ready; a signal stops it")
            reader = LineReader(terminal.read if terminal.is_interactive else DescriptorReader(sys.stdin.fileno()))
            conversation = TerminalConversation(front.client, self._clock, reader, screen, options.state)
            await conversation.run(self._stop, patient=not terminal.is_interactive)
            if options.stay:
                await self._stop.wait()

    async def _until_stopped(self, work: Coroutine[Any, Any, None]) -> None:
        """Do the work until it is done, or a signal stops the process."""
        working = asyncio.ensure_future(work)
        stopped = asyncio.ensure_future(self._stop.wait())
        await asyncio.wait([working, stopped], return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if not working.done():
            if self._is_ready:
                # A conversation notices by itself, and what is being said is said to its end.
                await asyncio.wait([working], timeout=self._settings.limits.grace + 1.0)
            working.cancel()
        with suppress(asyncio.CancelledError):
            await working

    def _service(self, name: str) -> ManagedProcess:
        options = self._options
        service = name.partition("-")[0]
        command = [sys.executable, "-m", "hark", "run", "--service", service]
        if service != name:
            command += ["--worker", "--part", name]
        if self._broker is not None:
            password = str(self._broker.password_file(service))
            command += ["--bus", self._broker.url, "--broker-user", service, password]
        elif options.bus is not None:
            command += ["--bus", options.bus]
        for option in ("settings", "state", "lang"):
            if getattr(options, option) is not None:
                command += [f"--{option}", getattr(options, option)]
        command += ["-v"] * options.verbose
        if not options.plugins:
            command.append("--no-plugins")
        if options.voice and name in ("hear", "speak"):
            command.append("--voice")
        return ManagedProcess(name, command, self._clock, _report)

    def _fail(self, why: str) -> None:
        print_note(why)
        self._status = USER_ERROR
        self._stop.set()


def stopping_order(workers: int | None) -> tuple[str, ...]:
    """The processes in the order in which they are stopped: what is under way gets to its end, and to its client.

    A worker hands its turns over to those that are left; the last one sees them through.
    """
    several = [f"understand-{number}" for number in range(1, workers + 1)] if workers else ["understand"]
    return "schedule", "hear", *several, "act", "speak", EDGE


def _report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _report_trouble(line: str) -> None:
    if is_worth_reporting(line):
        _report(line)
