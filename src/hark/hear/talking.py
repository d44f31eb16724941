"""Whether the assistant is heard at this moment."""

from __future__ import annotations

from collections.abc import Callable

from hark.bus import Bus
from hark.model import Message
from hark.spec import topics


class Talking:
    """Follows what is played to those who are listened to."""

    def __init__(self, bus: Bus, serves: Callable[[str], bool], changed: Callable[[], None]) -> None:
        self._serves = serves
        self._changed = changed
        self._sessions: set[str] = set()
        self._subscriptions = (
            bus.on(topics.AUDIO_OUTPUT_STARTED, self._started, name="hear: it talks"),
            bus.on(topics.AUDIO_OUTPUT_ENDED, self._ended, name="hear: it is silent"),
        )

    def __bool__(self) -> bool:
        return bool(self._sessions)

    def close(self) -> None:
        """Follow it no longer."""
        for subscription in self._subscriptions:
            subscription.close()

    def _started(self, message: Message) -> None:
        if self._serves(message.session_id):
            self._sessions.add(message.session_id)
            self._changed()

    def _ended(self, message: Message) -> None:
        if message.session_id in self._sessions:
            self._sessions.discard(message.session_id)
            self._changed()
