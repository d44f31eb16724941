"""A conversation in the terminal: a line in, its answer out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, Final

from hark.app.client import Client
from hark.app.text import remark, why_command
from hark.cli.terminal import LineReader, Screen
from hark.model import Clock, MalformedMessage

log = logging.getLogger("hark.app")

_PATIENCE: Final = 5.0
"""Seconds that the prompt waits for an answer; after that the user can go on."""
_LEAVING: Final = ("exit", "quit")
"""What users type to leave; skills may know the words, so they are said all the same."""


class TerminalConversation:
    """Sends each line to the assistant and shows the answer."""

    def __init__(self, client: Client, clock: Clock, reader: LineReader, screen: Screen, state: str | None) -> None:
        self._client = client
        self._clock = clock
        self._reader = reader
        self._screen = screen
        self._state = state
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, stop: asyncio.Event, *, patient: bool) -> None:
        """Answer lines until there are no more, or `stop` is set.

        If `patient`, each answer is waited for before the next line is read, however long it takes.
        """
        stopped = self._start(_until(stop))
        reading = self._start(self._read_lines(None if patient else _PATIENCE))
        try:
            await asyncio.wait({stopped, reading}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                reading.result()
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _read_lines(self, patience: float | None) -> None:
        while True:
            self._screen.prompting = True
            try:
                line = await self._reader.line()
            except UnicodeError:
                self._screen.show("This line is not UTF-8; it was ignored.")
                continue
            finally:
                self._screen.prompting = False
            if line is None:
                return
            if line.strip():
                turn = self._start(self._turn(line.strip()))
                try:
                    async with self._clock.timeout(patience):
                        await asyncio.wait({turn})
                except TimeoutError:
                    self._screen.show("This takes a while. You can go on meanwhile.")
                if patience is not None and line.strip().lower() in _LEAVING:
                    self._screen.show("(Ctrl-D leaves the conversation.)")

    async def _turn(self, text: str) -> None:
        try:
            turn = await self._client.ask(text, self._screen.show)
        except MalformedMessage as error:
            self._screen.show(f"This cannot be said: {error}")
            return
        except Exception as error:
            log.exception("an utterance could not be sent to the assistant")
            self._screen.show(f"This turn failed: {type(error).__name__}: {error}")
            return
        if turn.outcome == "asked":  # the next line is the answer
            return
        line = remark(
            turn.outcome, turn.detail, why_command(turn.utterance_id, self._state), answered=bool(turn.spoken)
        )
        if line is not None:
            self._screen.show(line)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


async def _until(stop: asyncio.Event) -> None:
    await stop.wait()
