"""Messages that answer another one, known by a mark in their context: TOOLS-1 and COMMON-QUERY-1 have none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any, Final

from hark.plugins import Host, Message
from hark.spec import topics

_MARK: Final = "hark_tool_call"
"""The context key."""
_ENDS: Final = (topics.response_topic(topics.PERSONA_TOOLS_CALL), topics.UTTERANCE_HANDLED)
"""The topics with which a call is over."""
_OTHERS: Final = (
    topics.TOOL_SAID,
    topics.UTTERANCE_SPEAK,
    topics.HANDLER_ERROR,
    topics.COMMON_QUERY_PONG,
    topics.COMMON_QUERY_RESPONSE,
)
"""Those of which there may be several: sentences, claims, answers."""

Take = Callable[[Message], None]


class AwaitedAnswers:
    """Sends Messages, and awaits what answers them."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._numbers = count(1)
        self._calls: dict[str, tuple[asyncio.Future[Message], Take]] = {}
        """By mark: what ends the call, and what takes the Messages before that."""
        host.on(_ENDS, self._end)
        host.on(_OTHERS, self._pass_on)

    async def end_of(self, message: Message, take: Take = lambda _message: None, **context: Any) -> Message:
        """Send this, with more in its context; the Message that ends the call. `take` gets those that come before."""
        async with self._marked(take) as (mark, end):
            self._host.send(message.carrying(**context, **{_MARK: mark}))
            return await end

    async def from_skills(
        self, messages: Iterable[Message], topic: str, skills: Collection[str], seconds: float
    ) -> dict[str, Message]:
        """Send these; the answers of these skills on `topic`, as far as they come in time."""
        found: dict[str, Message] = {}
        complete = asyncio.Event()

        def take(message: Message) -> None:
            skill_id = message.data.get("skill_id")
            if message.type == topic and isinstance(skill_id, str) and skill_id in skills:
                found[skill_id] = message
            if len(found) == len(skills):
                complete.set()

        async with self._marked(take) as (mark, _):
            for message in messages:
                self._host.send(message.carrying(**{_MARK: mark}))
            with suppress(TimeoutError):
                async with self._host.clock.timeout(seconds):
                    await complete.wait()
        return found

    @asynccontextmanager
    async def _marked(self, take: Take) -> AsyncIterator[tuple[str, asyncio.Future[Message]]]:
        mark = f"{id(self):x}-{next(self._numbers)}"
        end: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._calls[mark] = end, take
        try:
            yield mark, end
        finally:
            del self._calls[mark]

    def _end(self, message: Message) -> None:
        end, _ = self._calls.get(_mark(message), (None, None))
        if end is not None and not end.done():
            end.set_result(message)

    def _pass_on(self, message: Message) -> None:
        _, take = self._calls.get(_mark(message), (None, None))
        if take is not None:
            take(message)


def _mark(message: Message) -> str:
    mark = message.context.get(_MARK)
    return mark if isinstance(mark, str) else ""
