"""`hark bus pipe`: Messages from standard input to the bus, and from the bus to standard output, one on each line."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from fnmatch import fnmatchcase
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Final

from hark.app.bus_address import BusAddress
from hark.bus import RemoteBus
from hark.cli.common import FAILED, OK, USER_ERROR, load_settings, print_note
from hark.cli.terminal import DescriptorReader, LineReader
from hark.errors import UserError
from hark.model import MalformedMessage, Message, SystemClock, decode, encode_for_clients
from hark.spec import topics

_CONNECTED: Final = "connected"
_MOST_WAITING: Final = 32 * 1_048_576
"""Bytes that may wait to be read from standard output."""
_REACH: Final = 3.0
"""Seconds in which a bus has to answer."""


def run_pipe(options: argparse.Namespace) -> int:
    """Pass Messages on until the input ends; the exit status."""
    address = BusAddress.of(load_settings(options), options.bus)
    with closing(_Input(options.file)) as lines:
        return asyncio.run(_Pipe(options).run(address, lines))


class _Input:
    """The lines of a file, or of standard input."""

    def __init__(self, name: str) -> None:
        self._file = None if name == "-" else open(name, "rb")  # noqa: SIM115, PTH123 - closed by `close`
        self.descriptor = self._file.fileno() if self._file is not None else sys.stdin.fileno()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class _Output:
    """Standard output, written by a thread: the program that reads it may be busy, and pings are answered meanwhile."""

    def __init__(self, gone: Callable[[], object]) -> None:
        self._gone = gone
        """Called from the thread, once nothing can be written any more."""
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        self._put = self._written = 0
        """Bytes, each counted by one thread."""
        self._thread = Thread(target=self._write, name="hark-pipe", daemon=True)
        self._thread.start()

    def put(self, line: bytes) -> None:
        """Write a line; raises `UserError` where far too much waits to be read."""
        self._put += len(line)
        if self._put - self._written > _MOST_WAITING:
            raise UserError(f"what reads the output left {_MOST_WAITING} bytes unread; --topic shows fewer Messages")
        self._lines.put(line)

    async def close(self) -> None:
        """Return when all is written, or cannot be."""
        self._lines.put(None)
        await asyncio.to_thread(self._thread.join)

    def _write(self) -> None:
        descriptor = sys.stdout.fileno()
        try:
            while (line := self._lines.get()) is not None:
                rest = memoryview(line)
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
                self._written += len(line)
        except OSError:  # the program that read it has ended
            self._gone()


class _Pipe:
    def __init__(self, options: argparse.Namespace) -> None:
        self._topics: Sequence[str] = options.topic or ["*"]
        self._until: str | None = options.until
        for topic in [*self._topics, *([self._until] if self._until is not None else [])]:
            if not topics.is_topic(topic.replace("*", "x")):
                raise UserError(f"{topic!r} is no topic: those are names such as ovos.utterance.speak")
        self._timeout: float = options.timeout
        self._sessions: set[str] = set()
        """Of what was sent: an end that other clients wait for is not ours."""
        self._seen_last = asyncio.Event()
        self._output: _Output
        self._output_gone = asyncio.Event()
        self._trouble: UserError | None = None
        """Why it ends early."""
        self._status = OK

    async def run(self, address: BusAddress, lines: _Input) -> int:
        clock = SystemClock()
        # As any client: what it may not do, a shell script may not do either.
        bus = await address.connect(clock, patience=_REACH, private=False)
        try:
            loop = asyncio.get_running_loop()
            self._output = _Output(partial(loop.call_soon_threadsafe, self._output_gone.set))
            self._follow(bus)
            await bus.carrier.flush()
            self._connected()
            sending = asyncio.ensure_future(self._send(bus, LineReader(DescriptorReader(lines.descriptor))))
            gone = asyncio.ensure_future(self._output_gone.wait())
            await asyncio.wait({sending, gone}, return_when=asyncio.FIRST_COMPLETED)
            for task in (sending, gone):
                task.cancel()
            with suppress(asyncio.CancelledError):
                await sending
        finally:
            await bus.close()
        if self._trouble is not None:
            raise self._trouble
        await self._output.close()
        return self._status

    def _follow(self, bus: RemoteBus) -> None:
        bus.on(topics.BUS_AGAIN, self._connected, name="pipe: reconnected")
        if any("*" in topic for topic in self._topics):
            bus.tap(self._show)
            return
        for topic in {*self._topics, *([self._until] if self._until is not None else [])}:
            bus.on(topic, self._show, name="pipe")

    def _connected(self, _message: Message | None = None) -> None:
        """Write what a plain client gets first: after a lost connection, a program registers its skills again."""
        self._show(Message(_CONNECTED))

    def _show(self, message: Message) -> None:
        if topics.is_private(message.type):
            return  # of this connection itself
        if any(fnmatchcase(message.type, topic) for topic in self._topics):
            try:
                self._output.put(encode_for_clients(message) + b"\n")
            except UserError as trouble:
                self._trouble = self._trouble or trouble
                self._output_gone.set()
        if message.type == self._until and message.session_id in self._sessions:
            self._seen_last.set()

    async def _send(self, bus: RemoteBus, reader: LineReader) -> None:
        number = 0
        while True:
            number += 1
            try:
                line = await reader.line()
                if line is None:
                    break
                if line.strip():
                    message = decode(line)
                    self._sessions.add(message.session_id)
                    bus.emit(message)
            except (MalformedMessage, UnicodeError) as error:
                print_note(f"line {number}: {error}")
                self._status = USER_ERROR
        await bus.carrier.flush()
        await bus.settled()
        if self._until is not None and self._sessions:
            try:
                async with asyncio.timeout(self._timeout):
                    await self._seen_last.wait()
            except TimeoutError:
                print_note(f"no {self._until} within {self._timeout:g} seconds")
                self._status = self._status or FAILED
