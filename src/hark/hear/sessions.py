"""The sessions a listener serves, as their last Messages carried them."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from hark.model import Session

OBSERVED: Final = ("detected_lang", "request_lang", "stt_lang")
"""Session fields about one utterance: none of them outlives it."""

_MOST: Final = 64


class KnownSessions:
    """The orchestrator owns the device's own session: of that one, an utterance carries only what the listener changed.
    Of any other session the utterance is all that the orchestrator gets to know.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[str, Session] = OrderedDict()

    def update(self, session: Session) -> None:
        self._known[session.session_id] = session.without(*OBSERVED)
        self._known.move_to_end(session.session_id)
        if len(self._known) > _MOST:
            self._known.popitem(last=False)

    def get(self, session_id: str) -> Session:
        """A session as a new utterance finds it."""
        return self._known.get(session_id) or Session(session_id)

    @staticmethod
    def carried(before: Session, after: Session) -> Session:
        """What an utterance carries of a session that was `before` when its recording started and is `after` now."""
        if not after.is_default:
            return after
        changed = [name for name in after if after.get(name) != before.get(name)]
        return Session().taking(after, (*OBSERVED, *changed))
