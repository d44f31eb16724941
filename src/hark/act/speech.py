"""What handlers say, and waiting until it was rendered."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Final

from hark.bus import Answers, Bus, ask
from hark.model import Clock, Message
from hark.spec import topics

_PATIENCE: Final = 60.0
"""Seconds after which a handler that waits for its speech asks whether anything is being said: if not, there may be no
service that speaks, and the handler goes on."""
_ANSWER: Final = 2.0
"""Seconds for the answer to that."""


class HandlerSpeech:
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
            while not await self._in_time(rendered):
                if not await self._is_heard(message):
                    return
        finally:
            self._rendered.forget(mark)

    async def _in_time(self, rendered: asyncio.Future[Message]) -> bool:
        try:
            async with self._clock.timeout(_PATIENCE):
                await asyncio.wait([rendered])
        except TimeoutError:
            return False
        return True

    async def _is_heard(self, message: Message) -> bool:
        """Whether something is being said in the session of a Message: an answer may be long, or wait for another."""
        question = Message(topics.AUDIO_IS_SPEAKING, {}, {}, message.session)
        try:
            answer = await ask(self._bus, self._clock, question, window=_ANSWER)
        except TimeoutError:
            return False
        return answer.data.get("speaking") is True

    def close(self) -> None:
        """Listen no longer."""
        self._rendered.close()
