"""Asking a question on the bus with nothing but a plugin's host."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Final

from hark.plugins import Host, Message
from hark.spec import topics

_MARK: Final = "hark_asked"
"""Context key that tells one question from another; every derivation carries it back."""


class Asker:
    """Asks on topics that are answered by their `.response`, and waits for the first answer."""

    def __init__(self, host: Host, *asked: str) -> None:
        self._host = host
        self._marks = count(1)
        self._open: dict[str, asyncio.Future[Message]] = {}
        host.on([topics.response_topic(topic) for topic in asked], self._answered)

    async def ask(self, question: Message, seconds: float = 2.0) -> Message | None:
        """The answer to a question on one of the topics, or None when nobody gave one in time."""
        mark = f"{id(self):x}-{next(self._marks)}"
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._open[mark] = answer
        try:
            self._host.send(question.carrying(**{_MARK: mark}))
            async with self._host.clock.timeout(seconds):
                return await answer
        except TimeoutError:
            return None
        finally:
            del self._open[mark]

    def _answered(self, message: Message) -> None:
        mark = message.context.get(_MARK)
        waiting = self._open.get(mark) if isinstance(mark, str) else None
        if waiting is not None:  # perhaps on another thread than the one that waits
            waiting.get_loop().call_soon_threadsafe(_give, waiting, message)


def _give(waiting: asyncio.Future[Message], answer: Message) -> None:
    if not waiting.done():
        waiting.set_result(answer)
