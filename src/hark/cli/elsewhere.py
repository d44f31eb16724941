"""Asking an assistant over the bus its services meet at, from anywhere."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from hark import hints
from hark.app.bus_address import BusAddress
from hark.app.diagnostics.report import DoctorReport
from hark.app.processes.claims import Members
from hark.app.processes.connection import connect
from hark.app.processes.remote_view import REACH, RemoteView
from hark.app.settings import Settings
from hark.cli.common import USER_ERROR, load_settings, print_note, settings_path, state_path
from hark.cli.say import print_ending, words_of
from hark.cli.terminal import Screen
from hark.errors import UserError
from hark.model import MalformedMessage, SystemClock
from hark.trace import TraceRecord, render

T = TypeVar("T")


class RemoteAssistant:
    """An assistant that is known by its bus alone. What is asked of it raises `UserError` when it is not there."""

    def __init__(self, address: BusAddress, settings: Settings, settings_file: str) -> None:
        self._address = address
        self._settings = settings
        self._settings_file = settings_file

    def say(self, options: argparse.Namespace) -> int:
        """Say something and print the answer; the exit status."""
        return self._run(self._say(options))

    def find_trace(self, prefix: str) -> TraceRecord | None:
        """The turn with this `utterance_id`, else the last one whose id begins so."""
        return self._run(self._story(prefix))

    def examine(self) -> DoctorReport:
        """What is loaded in all of its processes."""
        return self._run(self._examine())

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return asyncio.run(work)
        except UserError as trouble:
            reason, where = str(trouble), str(self._address)
            raise UserError(reason if where in reason else f"{where}: {reason}") from None

    async def _say(self, options: argparse.Namespace) -> int:
        screen = Screen(sys.stdout, lambda: None)
        async with self._view() as (view, _):
            try:
                async with view.open_client() as talk:
                    text, intent = words_of(options)
                    name = f"{view.session_prefix}-{options.session or 1}"
                    asked = await talk.ask(text, screen.show, lang=options.lang, session_id=name, intent=intent)
            except MalformedMessage as error:
                print_note(f"this cannot be said: {error}")
                return USER_ERROR
            story = None
            if options.why:
                record = await view.find_trace(asked.utterance_id)
                story = render(record) if record is not None else "the assistant has forgotten this turn"
        return print_ending(
            asked.outcome, asked.detail, asked.utterance_id, options, story, answered=bool(asked.spoken)
        )

    async def _story(self, prefix: str) -> TraceRecord | None:
        async with self._view() as (view, members):
            await _check_present(members)
            return await view.find_trace(prefix)

    async def _examine(self) -> DoctorReport:
        async with self._view() as (view, members):
            await _check_present(members)
            return await view.examine()

    @asynccontextmanager
    async def _view(self) -> AsyncIterator[tuple[RemoteView, Members]]:
        clock = SystemClock()
        connection = await connect(self._address, clock, REACH)
        try:
            members = connection.members
            yield RemoteView(connection.bus, clock, members, self._settings, self._settings_file), members
        finally:
            await connection.close()


def elsewhere(options: argparse.Namespace) -> RemoteAssistant | None:
    """The assistant on the bus that --bus names, else the one at `servers` in [nats] or `url` in [bus]."""
    settings = load_settings(options)
    address = BusAddress.of(settings, options.bus, state_path(options))
    is_named = options.bus is not None or address.is_nats or settings.bus.url is not None
    return RemoteAssistant(address, settings, str(settings_path(options)[0])) if is_named else None


async def _check_present(members: Members) -> None:
    """Raises `UserError` when the assistant is not there."""
    for _ in range(round(REACH)):
        if await members.present():
            return
        await SystemClock().sleep(0.3)
    raise UserError(f"no service of an assistant is on this bus; start them with: {hints.hark('run --service')}")
