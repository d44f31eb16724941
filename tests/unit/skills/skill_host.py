"""A host that writes down what a skill emits."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from hark.model import Message, Session


class FakeHost:
    """Just enough of `Host` for a skill."""

    def __init__(self) -> None:
        self.emitted: list[Message] = []
        self.listeners: dict[str, Callable[[Message], Any]] = {}

    def on(self, topic: str, listener: Callable[[Message], Any]) -> None:
        self.listeners[topic] = listener

    def emit(self, topic: str, data: Mapping[str, Any] | None = None, *, session: Session | None = None) -> None:
        self.emitted.append(Message(topic, dict(data or {}), session=session))

    async def hears(self, topic: str) -> None:
        """Let a Message without payload arrive."""
        result = self.listeners[topic](Message(topic))
        if inspect.isawaitable(result):
            await result

    def of(self, topic: str) -> list[Any]:
        """The payloads emitted on one topic."""
        return [message.data for message in self.emitted if message.type == topic]

    @property
    def topics(self) -> list[str]:
        """The topics emitted, in order."""
        return [message.type for message in self.emitted]
