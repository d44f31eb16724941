"""Asking all processes of an assistant at once."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextlib import suppress
from itertools import count
from typing import Final

from hark.bus import Bus
from hark.model import Message

_ASKED: Final = "hark_asked_all"
FROM: Final = "from"
"""In the answer, the id of the process it is from."""

_marks = count(1)


async def ask_all(
    bus: Bus, asked: Collection[str], question: str, data: dict[str, object], answer: str, window: float = 1.0
) -> list[Message]:
    """Emit `question` and return what comes back on `answer`, until everybody who was asked has answered.

    Whoever says nothing within `window` seconds, of real time, is missing.
    """
    mark = f"{id(bus):x}-{next(_marks)}"
    silent = set(asked)
    answers: list[Message] = []
    all_told = asyncio.Event()

    def told(message: Message) -> None:
        if message.context.get(_ASKED) != mark:
            return
        answers.append(message)
        silent.discard(str(message.data.get(FROM)))
        if not silent:
            all_told.set()

    subscription = bus.on(answer, told, name=f"asking all: {answer}")
    try:
        bus.emit(Message(question, data, {_ASKED: mark}))
        if silent:
            with suppress(TimeoutError):
                async with asyncio.timeout(window):
                    await all_told.wait()
    finally:
        subscription.close()
    return answers
