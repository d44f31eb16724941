"""The sessions that clients elsewhere and bridges serve: their responses are shown there, not here (ruling R20).

A bridge reports on `hark.presence {session_id, here}` that it serves a session, and later that it does not. When
`speak` starts it asks with `hark.presence.ask`; bridges then report again. A response of such a session goes through
the dialog chain, once, and reaches its bridge on `hark.speech.shown {utterance, response_id, lang?, listen?}`.
"""

from __future__ import annotations

from typing import Final

from hark.bus import Bus
from hark.model import Message
from hark.speak.response import SpokenResponse
from hark.spec import topics

_MOST: Final = 10_000
"""Sessions that are remembered."""


class RemoteListeners:
    """The sessions in which a client or a bridge listens, as they report it; what is spoken is sent to them."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._present: dict[str, None] = {}
        self._subscription = bus.on(topics.PRESENCE, self._reported, name="remote listeners")
        bus.emit(Message(topics.PRESENCE_ASK))

    def serves(self, session_id: str) -> bool:
        """Whether a client elsewhere listens in this session."""
        return session_id in self._present

    def include(self, session_id: str) -> None:
        """A client listens in this session from now on."""
        self._present[session_id] = None

    def render(self, spoken: SpokenResponse) -> None:
        """Send a response to the client that listens in its session."""
        data: dict[str, object] = {"utterance": spoken.text, "response_id": spoken.response_id}
        if spoken.lang is not None:
            data["lang"] = spoken.lang
        if spoken.message.data.get("listen") is True:
            data["listen"] = True
        self._bus.emit(spoken.message.signal(topics.SPEECH_SHOWN, data))

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
