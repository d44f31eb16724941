"""`hark run --split`: every room in a process of its own, and a conversation with all of them together."""

from __future__ import annotations

import argparse
import asyncio
import logging
import socket
import sys
from contextlib import suppress

from hark.app.bus_address import BusAddress
from hark.app.commands.common import ANSWERED, MISTAKE, complain, settings_of, state_of
from hark.app.commands.run_room import MARGIN
from hark.app.commands.signals import on_signals
from hark.app.control.door import Door
from hark.app.conversation import Conversation
from hark.app.line_reader import Descriptor, LineReader
from hark.app.rooms.names import ALL_ROOMS
from hark.app.screen import Screen
from hark.app.settings import Settings
from hark.app.split.child import Child
from hark.app.split.front import Front
from hark.app.split.supervisor import Supervisor
from hark.app.state.directory import Held, Lock, StateError, make_directory
from hark.app.terminal import Terminal
from hark.app.trouble import Trouble
from hark.bus import RemoteBus
from hark.model import SystemClock

log = logging.getLogger("hark.split")


def run_split(options: argparse.Namespace, settings: Settings) -> int:
    """Run an assistant in several processes until the input ends or somebody stops it."""
    if options.dev:
        raise Trouble("--dev needs the whole assistant in one process")
    directory = state_of(options)
    make_directory(directory)
    door = Door(directory)
    try:
        lock = Lock(directory, ("supervisor",))
        door.take()
    except Held as held:
        raise StateError(f"{held}; talk to that one with: hark say, or choose another with --state") from None
    try:
        return asyncio.run(_Split(options, settings, door).live())
    finally:
        door.leave()
        lock.release()


class _Split:
    def __init__(self, options: argparse.Namespace, settings: Settings, door: Door) -> None:
        self._options = options
        self._settings = settings
        self._door = door
        self._address = BusAddress.of(settings, options.bus)
        self._address.check()
        self._clock = SystemClock()
        self._stop = asyncio.Event()
        self._status = ANSWERED
        self._front: Front | None = None

    async def live(self) -> int:
        on_signals(self._stop.set)
        rooms = crew(self._options.workers)
        # Where others look after the broker, nothing is started before it was reached.
        bus = await self._address.connect(self._clock) if self._address.is_nats else None
        names = (*rooms, "bus") if bus is None else rooms
        supervisor = Supervisor(
            [self._child(name) for name in sorted(names, key=lambda name: name != "bus")],
            self._clock,
            stalled=self._settings.rooms.stalled,
            grace=self._settings.limits.grace + MARGIN + 2.0,
            gone=self._tell_gone,
            failed=self._fail,
        )
        with Terminal(sys.stdin, sys.stdout) as terminal:
            supervisor.start()
            try:
                await self._until_stopped(self._converse(terminal, bus))
            finally:
                await supervisor.stop(names)
        return self._status

    async def _converse(self, terminal: Terminal, bus: RemoteBus | None) -> None:
        options = self._options
        screen = Screen(sys.stdout, self._stop.set, prompts=terminal.is_interactive)
        front = Front(
            ALL_ROOMS,
            self._settings,
            self._clock,
            bus or await self._address.connect(self._clock),
            screen.show,
            door=self._door,
            settings_file=str(settings_of(options)[0]),
        )
        self._front = front
        async with front:
            await front.ready()
            if terminal.is_interactive:
                complain("every room is ready; Ctrl-D leaves")
            reader = LineReader(terminal.read if terminal.is_interactive else Descriptor(sys.stdin.fileno()))
            conversation = Conversation(front.talk, self._clock, reader, screen, options.state)
            await conversation.go_on(self._stop, patient=not terminal.is_interactive)
            if options.stay:
                await self._stop.wait()

    async def _until_stopped(self, work: object) -> None:
        """Do the work until it is done or we are told to stop, whatever it waits for then."""
        working = asyncio.ensure_future(work)  # type: ignore[call-overload]
        stopped = asyncio.ensure_future(self._stop.wait())
        await asyncio.wait([working, stopped], return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if not working.done():
            if self._front is not None:
                # Told to stop: a conversation notices by itself, and what is being said is said to its end.
                await asyncio.wait([working], timeout=self._settings.limits.grace + 1.0)
            working.cancel()
        with suppress(asyncio.CancelledError):
            await working

    def _child(self, name: str) -> Child:
        options = self._options
        room = name.partition("-")[0]
        command = [sys.executable, "-m", "hark", "run", "--room", room]
        if room != name:
            command += ["--worker", "--part", name]
        if options.bus is not None:
            command += ["--bus", options.bus]
        for option in ("settings", "state", "lang"):
            if getattr(options, option) is not None:
                command += [f"--{option}", getattr(options, option)]
        command += ["-v"] * options.verbose
        if not options.plugins:
            command.append("--no-plugins")
        if options.voice and name in ("hear", "speak"):
            command.append("--voice")
        return Child(name, command, self._clock, _tell)

    def _tell_gone(self, pid: int) -> None:
        if self._front is not None:
            self._front.roster.strike(pid, socket.gethostname())

    def _fail(self, why: str) -> None:
        complain(why)
        self._status = MISTAKE
        self._stop.set()


def crew(workers: int | None) -> tuple[str, ...]:
    """The processes that have the rooms, in the order in which they are ended."""
    several = [f"understand-{number}" for number in range(1, workers + 1)] if workers else ["understand"]
    return tuple(name for room in ALL_ROOMS for name in (several if room == "understand" else [room]))


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
