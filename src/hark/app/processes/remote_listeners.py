"""Clients that hear answers in other processes than the one that speaks them."""

from __future__ import annotations

from typing import Final

from hark.bus import Bus
from hark.model import Frozen, Message
from hark.speak import SpokenResponse
from hark.spec import DEFAULT_SESSION_ID, topics

_MOST: Final = 10_000
"""Sessions that are remembered."""


class RemoteListeners:
    """The sessions in which a client listens, as the clients report them; what is spoken is sent to them."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._present: dict[str, None] = {}
        self._subscription = bus.on(topics.PRESENCE, self._reported, name="remote listeners")
        bus.emit(Message(topics.PRESENCE_ASK))

    def serves(self, session_id: str) -> bool:
        """Whether a client listens; at the device itself one always does."""
        return session_id == DEFAULT_SESSION_ID or session_id in self._present

    def render(self, spoken: SpokenResponse) -> None:
        """Send it to the client that asked."""
        data = Frozen(utterance=spoken.text)
        if spoken.lang is not None:
            data = Frozen(data, lang=spoken.lang)
        self._bus.emit(spoken.message.forward(topics.SPEECH_SHOWN, data))

    def close(self) -> None:
        self._subscription.close()

    def _reported(self, message: Message) -> None:
        session_id = message.data.get("session_id")
        if not isinstance(session_id, str):
            return
        self._present.pop(session_id, None)
        if message.data.get("here") is True:
            self._present[session_id] = None
            if len(self._present) > _MOST:
                del self._present[next(iter(self._present))]
