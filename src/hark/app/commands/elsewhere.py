"""Asking an assistant over the bus its rooms meet at, from wherever one is."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

from hark.app.bus_address import BusAddress
from hark.app.commands.common import MISTAKE, complain, settings_of
from hark.app.commands.say import tell_end
from hark.app.doctor.report import Report
from hark.app.rooms.role import WINDOW
from hark.app.rooms.roster import Roster
from hark.app.rooms.view import REACH, View
from hark.app.screen import Screen
from hark.app.settings import Settings, read_settings
from hark.app.trouble import Trouble
from hark.bus import RemoteBus
from hark.model import MalformedMessage, SystemClock
from hark.trace import TraceRecord, render

_CONNECT: Final = REACH + 2.0
"""Seconds after which somebody who takes a connection and says nothing is no bus."""

T = TypeVar("T")


class Elsewhere:
    """An assistant that is found on its bus alone. What is asked of it raises `Trouble` when it is not there."""

    def __init__(self, address: BusAddress, settings: Settings, settings_file: str) -> None:
        self._address = address
        self._settings = settings
        self._settings_file = settings_file

    def say(self, options: argparse.Namespace) -> int:
        """Say something and print the answer; the exit status."""
        return self._do(self._say(options))

    def story(self, prefix: str) -> TraceRecord | None:
        """The turn with this `utterance_id`, else the last one whose id begins so."""
        return self._do(self._story(prefix))

    def examine(self) -> Report:
        """What is loaded in all of its processes."""
        return self._do(self._examine())

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return asyncio.run(work)
        except Trouble as trouble:
            told, where = str(trouble), str(self._address)
            raise Trouble(told if where in told else f"{where}: {told}") from None

    async def _say(self, options: argparse.Namespace) -> int:
        screen = Screen(sys.stdout, lambda: None)
        async with self._view() as view:
            try:
                async with view.talking() as talk:
                    text, name = " ".join(options.text), f"{view.visitors}-1"
                    asked = await talk.ask(text, screen.show, lang=options.lang, session_id=name)
            except MalformedMessage as error:
                complain(f"this cannot be said: {error}")
                return MISTAKE
            story = None
            if options.why:
                await _gathered(view.roster)
                record = await view.story(asked.utterance_id)
                story = render(record) if record is not None else "the assistant has forgotten this turn"
        return tell_end(asked.outcome, asked.detail, asked.utterance_id, options, story)

    async def _story(self, prefix: str) -> TraceRecord | None:
        async with self._view() as view:
            await _gathered(view.roster)
            return await view.story(prefix)

    async def _examine(self) -> Report:
        async with self._view() as view:
            await _gathered(view.roster)
            return await view.examine()

    @asynccontextmanager
    async def _view(self) -> AsyncIterator[View]:
        clock = SystemClock()
        bus = await self._connected(clock)
        roster = Roster(bus)
        roster.ask()
        try:
            yield View(bus, clock, roster, self._settings, self._settings_file)
        finally:
            roster.close()
            await bus.close()

    async def _connected(self, clock: SystemClock) -> RemoteBus:
        try:
            async with asyncio.timeout(_CONNECT):
                return await self._address.connect(clock, patience=REACH)
        except TimeoutError:
            raise Trouble("something listens there but is not a bus; does that port expect TLS?") from None


def elsewhere(options: argparse.Namespace) -> Elsewhere | None:
    """Where to ask when it is not here: on the bus that --bus names, else at NATS where the settings name servers."""
    path, named = settings_of(options)
    settings = read_settings(path, named=named)
    address = BusAddress.of(settings, options.bus)
    return Elsewhere(address, settings, str(path)) if options.bus is not None or address.is_nats else None


async def _gathered(roster: Roster) -> None:
    """Wait until all who are there have said so; raises `Trouble` when nobody does."""
    clock = SystemClock()
    for _ in range(round(REACH / WINDOW)):
        await clock.sleep(WINDOW)
        if list(roster):
            return
    raise Trouble("no room of an assistant is on this bus; start them with: hark run --room")
