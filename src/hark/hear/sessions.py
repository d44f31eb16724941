"""What is known of the conversations that are listened to."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from hark.bus import Bus
from hark.model import Message, Session
from hark.spec import topics

OBSERVED: Final = ("detected_lang", "request_lang", "stt_lang")
"""Fields that speak of one utterance: none of them outlives it."""

_MANY: Final = 64


class KnownSessions:
    """The sessions of those who are listened to, as the assistant last told them.

    Who owns the device's own session is the orchestrator: of that one, an utterance carries only what listening found
    out. Of any other session the utterance is all the orchestrator gets to know.
    """

    def __init__(self, bus: Bus, serves: Callable[[str], bool]) -> None:
        self._serves = serves
        self._known: OrderedDict[str, Session] = OrderedDict()
        told = (topics.UTTERANCE_HANDLED, topics.UTTERANCE_SPEAK, topics.MIC_LISTEN)
        self._subscription = bus.on(told, self._told, name="hear: sessions")

    def close(self) -> None:
        """Learn nothing more."""
        self._subscription.close()

    def of(self, session_id: str) -> Session:
        """A session as an utterance finds it that is only beginning."""
        return self._known.get(session_id) or Session(session_id)

    def carried(self, before: Session, after: Session) -> Session:
        """What an utterance is to carry of a session that it found as `before` and left as `after`."""
        if not after.is_default:
            return after
        changed = [name for name in after if after.get(name) != before.get(name)]
        return Session().taking(after, (*OBSERVED, *changed))

    def _told(self, message: Message) -> None:
        session = message.session
        if session is None or not self._serves(session.session_id):
            return
        self._known[session.session_id] = session.without(*OBSERVED)
        self._known.move_to_end(session.session_id)
        if len(self._known) > _MANY:
            self._known.popitem(last=False)
