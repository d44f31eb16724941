"""Keeping recorded sound in step with the conversation."""

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

AT_MOST: Final = 60.0
"""Seconds by the clock after which sound goes on although a command has not been answered."""

_OVER: Final = (topics.UTTERANCE_HANDLED, topics.HANDLER_WAITING)


class Pacing:
    """Whoever speaks waits for the answer before going on. A recording does not: here is who waits for it.

    A command is answered when its turn has ended or waits for somebody to say more, and all that was to be said about
    it has been said.
    """

    def __init__(self, bus: Bus, clock: Clock, serves: Callable[[str], bool]) -> None:
        self._clock = clock
        self._serves = serves
        self._open: set[str] = set()
        """Commands whose turns go on."""
        self._unsaid = 0
        self._answered = asyncio.Event()
        self._answered.set()
        self._subscriptions = (
            bus.on(topics.UTTERANCE_SPEAK, self._speak, name="hear: something is to be said"),
            bus.on(topics.SPEECH_RENDERED, self._said, name="hear: something is said"),
            bus.on(_OVER, self._over, name="hear: a turn is over"),
        )

    def close(self) -> None:
        """Let everything go on."""
        for subscription in self._subscriptions:
            subscription.close()
        self._answered.set()

    def expect(self, capture_id: str) -> None:
        """A command has become an utterance."""
        self._open.add(capture_id)
        self._look()

    async def answered(self) -> None:
        """Wait until every command is answered, but not for ever."""
        if self._answered.is_set():
            return
        try:
            async with self._clock.timeout(AT_MOST):
                await self._answered.wait()
        except TimeoutError:
            log.warning("a command was not answered in %g s: listening goes on", AT_MOST)
            self._open.clear()
            self._unsaid = 0
            self._look()

    def _speak(self, message: Message) -> None:
        if self._serves(message.session_id):
            self._unsaid += 1
            self._look()

    def _said(self, message: Message) -> None:
        if self._serves(message.session_id):
            self._unsaid = max(0, self._unsaid - 1)
            self._look()

    def _over(self, message: Message) -> None:
        if message.type == topics.HANDLER_WAITING and message.data.get("waits") is not True:
            return
        self._open.discard(str(message.context.get(CAPTURE_ID)))
        self._look()

    def _look(self) -> None:
        if self._open or self._unsaid:
            self._answered.clear()
        else:
            self._answered.set()
