"""Keeps recorded sound in step with the conversation."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from hark.bus import Bus
from hark.model import Clock, Message
from hark.spec import topics
from hark.spec.names import CAPTURE_ID

log = logging.getLogger("hark.hear")

LIMIT: Final = 60.0
"""Seconds by the clock after which sound goes on although a command has not been answered."""

_OVER: Final = (topics.UTTERANCE_HANDLED, topics.HANDLER_WAITING)


class Pacing:
    """A person waits for the answer before speaking again; recorded sound does not, so the listener has to.

    A command is answered when its turn has ended or waits for the user, and everything it said was rendered.
    """

    def __init__(self, bus: Bus, clock: Clock, serves: Callable[[str], bool]) -> None:
        self._clock = clock
        self._serves = serves
        self._open: set[str] = set()
        """Commands whose turns are open."""
        self._unrendered = 0
        self._answered = asyncio.Event()
        self._answered.set()
        self._subscriptions = (
            bus.on(topics.UTTERANCE_SPEAK, self._speak, name="hear: speech requested"),
            bus.on(topics.SPEECH_RENDERED, self._rendered, name="hear: speech rendered"),
            bus.on(_OVER, self._over, name="hear: turn over"),
        )

    def close(self) -> None:
        for subscription in self._subscriptions:
            subscription.close()
        self._answered.set()

    def expect(self, capture_id: str) -> None:
        """A command has become an utterance."""
        self._open.add(capture_id)
        self._update()

    async def answered(self) -> None:
        """Wait until every command is answered, at most `LIMIT` seconds."""
        if self._answered.is_set():
            return
        try:
            async with self._clock.timeout(LIMIT):
                await self._answered.wait()
        except TimeoutError:
            log.warning("a command was not answered in %g s: listening goes on", LIMIT)
            self._open.clear()
            self._unrendered = 0
            self._update()

    def _speak(self, message: Message) -> None:
        if self._serves(message.session_id):
            self._unrendered += 1
            self._update()

    def _rendered(self, message: Message) -> None:
        if self._serves(message.session_id):
            self._unrendered = max(0, self._unrendered - 1)
            self._update()

    def _over(self, message: Message) -> None:
        if message.type == topics.HANDLER_WAITING and message.data.get("waits") is not True:
            return
        self._open.discard(str(message.context.get(CAPTURE_ID)))
        self._update()

    def _update(self) -> None:
        if self._open or self._unrendered:
            self._answered.clear()
        else:
            self._answered.set()
