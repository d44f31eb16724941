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
"""Seconds in which a person gets no prompt because an answer is on its way; after that they may go on."""


class TerminalConversation:
    """Puts each line to the assistant and shows what comes of it."""

    def __init__(self, talk: Client, clock: Clock, reader: LineReader, screen: Screen, state: str | None) -> None:
        self._talk = talk
        self._clock = clock
        self._reader = reader
        self._screen = screen
        self._state = state
        self._tasks: set[asyncio.Task[None]] = set()

    async def go_on(self, stop: asyncio.Event, *, patient: bool) -> None:
        """Hold the conversation until the lines end, or `stop` is set.

        Who is `patient` waits for each answer before the next line, however long it takes.
        """
        stopped = self._start(_until(stop))
        talking = self._start(self._talk_on(None if patient else _PATIENCE))
        try:
            await asyncio.wait({stopped, talking}, return_when=asyncio.FIRST_COMPLETED)
            if talking.done():
                talking.result()
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _talk_on(self, patience: float | None) -> None:
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

    async def _turn(self, text: str) -> None:
        try:
            asked = await self._talk.ask(text, self._screen.show)
        except MalformedMessage as error:
            self._screen.show(f"This cannot be said: {error})")
            return
        except Exception as error:
            log.exception("an utterance could not be put to the assistant")
            self._screen.show(f"(this turn broke: {type(error).__name__}: {error})")
            return
        if asked.outcome == "asked":  # the next line is the answer
            return
        told = remark(asked.outcome, asked.detail, why_command(asked.utterance_id, self._state))
        if told is not None:
            self._screen.show(told)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


async def _until(stop: asyncio.Event) -> None:
    await stop.wait()
