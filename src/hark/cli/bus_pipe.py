"""`hark bus pipe`: Messages from standard input to the bus, and from the bus to standard output, one on each line."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from fnmatch import fnmatchcase
from typing import Final

from hark.app.bus_address import BusAddress
from hark.bus import RemoteBus
from hark.cli.common import FAILED, OK, USER_ERROR, load_settings, print_note
from hark.cli.terminal import DescriptorReader, LineReader
from hark.errors import UserError
from hark.model import MalformedMessage, Message, SystemClock, decode, encode_for_clients
from hark.spec import topics

_CONNECTED: Final = "connected"
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
        self._output_gone = asyncio.Event()
        self._status = OK

    async def run(self, address: BusAddress, lines: _Input) -> int:
        clock = SystemClock()
        # As any client: what it may not do, a shell script may not do either.
        bus = await address.connect(clock, patience=_REACH, private=False)
        try:
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
                os.write(sys.stdout.fileno(), encode_for_clients(message) + b"\n")
            except BrokenPipeError:  # the program that read it has ended
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
