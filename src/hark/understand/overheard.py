"""What handlers show of their session before they are done takes effect at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hark.bus import Bus
from hark.model import Message, Session
from hark.spec import split_dispatch, topics
from hark.understand.lifecycle import Lifecycle
from hark.understand.store import DefaultSession


class Overheard:
    """Listens to what handlers say in open turns.

    A question stays open only in the session, and its answer comes while the handler waits, so the answer's turn has
    to find what the handler put on the wire (CONVERSE-1 §5.1, CONTEXT-1 trap T6). Clients adopt it from the same
    Message; here it goes to the store of the default session, and into the end of the handler's own turn.
    """

    def __init__(
        self, bus: Bus, turns: Mapping[str, Lifecycle], sync: Callable[[Lifecycle], None], store: DefaultSession
    ) -> None:
        self._turns = turns
        self._sync = sync
        self._store = store
        self._subscription = bus.on(topics.UTTERANCE_SPEAK, self._said, name="overheard")

    def close(self) -> None:
        """Listen no longer."""
        self._subscription.close()

    def take(self, life: Lifecycle, dispatch: Message, session: Session) -> None:
        """Take over what the handler of a dispatch made of its session.

        Turns of a named session that are open at once have no store in which they meet: each is told, or its end would
        take back what another's handler changed, a question it asked above all.
        """
        self._sync(life)  # other turns may have moved the default session on meanwhile
        writes = life.wrote(session, split_dispatch(dispatch.type)[0])
        if writes is None:
            return
        self._sync(life)
        if life.session.is_default:
            if "response_mode" in writes.fields:
                self._store.saved()  # a question may stay open for long
            return
        for other in self._turns.values():
            if other.session.session_id == life.session.session_id and other.dispatch is not None and other is not life:
                other.session = writes.onto(other.session)

    def _said(self, message: Message) -> None:
        life = self._turns.get(message.utterance_id or "")
        if life is None or life.dispatch is None or life.ended:
            return
        session = message.session
        if session is None or session is life.base or session.session_id != life.session.session_id:
            return
        self.take(life, life.dispatch, session)
