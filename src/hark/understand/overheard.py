"""What handlers show of their session before they are done takes effect at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hark.bus import Bus
from hark.model import Message
from hark.spec import split_dispatch, topics
from hark.understand.lifecycle import Lifecycle


class Overheard:
    """Listens to what handlers say in open turns.

    A question stays open only in the session, and its answer comes while the handler waits, so the answer's turn has
    to find what the handler put on the wire (CONVERSE-1 §5.1, CONTEXT-1 trap T6). Clients adopt it from the same
    Message; here it goes to the store of the default session, and into the end of the handler's own turn.
    """

    def __init__(self, bus: Bus, turns: Mapping[str, Lifecycle], sync: Callable[[Lifecycle], None]) -> None:
        self._turns = turns
        self._sync = sync
        self._subscription = bus.on(topics.UTTERANCE_SPEAK, self._said, name="overheard")

    def close(self) -> None:
        """Listen no longer."""
        self._subscription.close()

    def _said(self, message: Message) -> None:
        life = self._turns.get(message.utterance_id or "")
        if life is None or life.dispatch is None or life.ended:
            return
        session = message.session
        if session is None or session is life.base or session.session_id != life.session.session_id:
            return
        self._sync(life)
        if life.wrote(session, split_dispatch(life.dispatch.type)[0]):
            self._sync(life)
