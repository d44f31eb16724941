"""Those who hear answers in another process than the one that speaks them."""

from __future__ import annotations

from typing import Final

from hark.bus import Bus
from hark.model import Frozen, Message
from hark.speak import Spoken
from hark.spec import DEFAULT_SESSION_ID, topics

_MOST: Final = 10_000
"""Sessions whose presence is kept in mind."""


class RemoteListeners:
    """Who is there to hear something, as they say themselves; what is spoken is sent to them."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._present: dict[str, None] = {}
        self._subscription = bus.on(topics.PRESENCE, self._told, name="audience", group="speak")

    def serves(self, session_id: str) -> bool:
        """Whether somebody is there; at the device itself there always is."""
        return session_id == DEFAULT_SESSION_ID or session_id in self._present

    def render(self, spoken: Spoken) -> None:
        """Let whoever asked have it."""
        data = Frozen(utterance=spoken.text)
        if spoken.lang is not None:
            data = Frozen(data, lang=spoken.lang)
        self._bus.emit(spoken.message.forward(topics.SPEECH_SHOWN, data))

    def close(self) -> None:
        """Listen no longer."""
        self._subscription.close()

    def _told(self, message: Message) -> None:
        session_id = message.data.get("session_id")
        if not isinstance(session_id, str):
            return
        self._present.pop(session_id, None)
        if message.data.get("here") is True:
            self._present[session_id] = None
            if len(self._present) > _MOST:
                del self._present[next(iter(self._present))]
