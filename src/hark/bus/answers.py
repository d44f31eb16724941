"""Waiting for Messages that answer something, with one shared listener however many wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from itertools import count
from typing import Final

from hark.bus.base import Bus
from hark.model import Clock, Message
from hark.spec import topics

_ASK: Final = "hark_ask"
"""Context key that tells one asker's request from another's; every derivation carries it back."""

_marks = count(1)


class Answers:
    """Who waits for which Message on one topic. A listener per waiter would make every message cost all of them."""

    def __init__(self, bus: Bus, topic: str, key: Callable[[Message], Hashable]) -> None:
        self._key = key
        self._waiting: dict[Hashable, asyncio.Future[Message]] = {}
        self._subscription = bus.on(topic, self._arrived, name=f"answers on {topic}")

    def __len__(self) -> int:
        return len(self._waiting)

    def expect(self, key: Hashable) -> asyncio.Future[Message]:
        """The Message with this key, once it arrives. `forget` the key when done waiting."""
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._waiting[key] = future
        return future

    def forget(self, key: Hashable) -> None:
        """Wait for this key no longer; what arrives for it later is nobody's."""
        self._waiting.pop(key, None)

    def close(self) -> None:
        """Stop listening."""
        self._subscription.close()

    def _arrived(self, message: Message) -> None:
        future = self._waiting.pop(self._key(message), None)
        if future is not None and not future.done():
            future.set_result(message)


async def ask(bus: Bus, clock: Clock, request: Message, *, topic: str | None = None, window: float = 2.0) -> Message:
    """Emit `request` and return its answer, on `topic` or its own plus `.response`; raises `TimeoutError`
    when none came within `window` seconds.
    """
    mark = f"{id(bus):x}-{next(_marks)}"
    answers = Answers(bus, topic or topics.response_topic(request.type), lambda message: message.context.get(_ASK))
    try:
        answer = answers.expect(mark)
        bus.emit(request.carrying(hark_ask=mark))
        async with clock.timeout(window):
            return await answer
    finally:
        answers.close()


async def gather(bus: Bus, clock: Clock, request: Message, window: float, *, topic: str | None = None) -> list[Message]:
    """Emit `request` and return every answer that came within `window` seconds, from however many parties."""
    mark = f"{id(bus):x}-{next(_marks)}"
    found: list[Message] = []

    def arrived(message: Message) -> None:
        if message.context.get(_ASK) == mark:
            found.append(message)

    subscription = bus.on(topic or topics.response_topic(request.type), arrived, name=f"gather {request.type}")
    try:
        bus.emit(request.carrying(hark_ask=mark))
        await clock.sleep(window)
    finally:
        subscription.close()
    return found
