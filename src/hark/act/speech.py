"""What handlers say, and waiting until it was rendered."""

from __future__ import annotations

from itertools import count
from typing import Final

from hark.bus import Answers, Bus
from hark.model import Clock, Message
from hark.spec import topics

_PATIENCE: Final = 60.0
"""Seconds after which a handler that waits for its speech goes on: nobody may be there to render it."""


class Speech:
    """Emits speak Messages for handlers."""

    def __init__(self, bus: Bus, clock: Clock) -> None:
        self._bus = bus
        self._clock = clock
        self._marks = count(1)
        self._rendered = Answers(bus, topics.SPEECH_RENDERED, lambda message: message.context.get("hark_speech"))

    async def say(self, message: Message, wait: bool) -> None:
        """Emit a speak Message and, if told to, wait until it was rendered."""
        if not wait:
            self._bus.post(message)
            return
        mark = f"{message.utterance_id}-{next(self._marks)}"
        rendered = self._rendered.expect(mark)
        try:
            self._bus.post(message.carrying(hark_speech=mark))
            async with self._clock.timeout(_PATIENCE):
                await rendered
        except TimeoutError:
            return
        finally:
            self._rendered.forget(mark)

    def close(self) -> None:
        """Listen no longer."""
        self._rendered.close()
