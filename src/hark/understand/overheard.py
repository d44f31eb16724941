"""What handlers show of their session before they are done takes effect at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from hark.bus import Bus, Subscription
from hark.model import Message, Session
from hark.model.session_merge import SessionChanges
from hark.spec import split_dispatch, topics
from hark.understand.lifecycle import Lifecycle
from hark.understand.store import DefaultSession

_OTHERS: Final = 1_000
"""Turns of other workers that are followed at once."""


class Overheard:
    """Listens to what handlers say in open turns.

    A question stays open only in the session, and its answer comes while the handler waits, so the answer's turn has
    to find what the handler put on the wire (CONVERSE-1 §5.1, CONTEXT-1 trap T6). Clients adopt it from the same
    Message; here it goes to the store of the default session, and into the end of the handler's own turn.

    Turns of a named session that are open at once have no store in which they meet: each is told what another's handler
    changes, or its end would take that back, a question above all. With `is_shared`, those of other workers count too.
    """

    def __init__(
        self,
        bus: Bus,
        turns: Mapping[str, Lifecycle],
        sync: Callable[[Lifecycle], None],
        store: DefaultSession,
        *,
        is_shared: bool,
    ) -> None:
        self._turns = turns
        self._sync = sync
        self._store = store
        self._others: dict[str, tuple[Session, str]] = {}
        """Turns of named sessions at other workers: the session their handlers last showed, and the skill."""
        self._subscriptions: list[Subscription] = [bus.on(topics.UTTERANCE_SPEAK, self._said, name="overheard")]
        if is_shared:
            self._subscriptions += [
                bus.on(topics.HANDLER_START, self._started, name="overheard: start"),
                bus.on(topics.HANDLER_DONE, self._showed, name="overheard: done"),
                bus.on(topics.UTTERANCE_HANDLED, self._ended, name="overheard: handled"),
            ]

    def close(self) -> None:
        """Listen no longer."""
        for subscription in self._subscriptions:
            subscription.close()

    def take(self, life: Lifecycle, dispatch: Message, session: Session) -> None:
        """Take over what the handler of a dispatch made of its session."""
        self._sync(life)  # other turns may have moved the default session on meanwhile
        writes = life.wrote(session, split_dispatch(dispatch.type)[0])
        if writes is None:
            return
        self._sync(life)
        if not life.session.is_default:
            self._tell_others(writes, life.session.session_id, life)
        elif "response_mode" in writes.fields:
            self._store.saved()  # a question may stay open for long

    def _tell_others(self, writes: SessionChanges, session_id: str, life: Lifecycle | None = None) -> None:
        for other in self._turns.values():
            if other.session.session_id == session_id and other.dispatch is not None and other is not life:
                other.session = writes.applied_to(other.session)

    def _said(self, message: Message) -> None:
        life = self._turns.get(message.utterance_id or "")
        if life is None:
            self._showed(message)
            return
        if life.dispatch is None or life.ended:
            return
        session = message.session
        if session is None or session is life.base or session.session_id != life.session.session_id:
            return
        self.take(life, life.dispatch, session)

    # Turns of other workers.

    def _started(self, message: Message) -> None:
        utterance_id, session = message.utterance_id or "", message.session
        if utterance_id in self._turns or session is None or session.is_default:
            return
        self._others[utterance_id] = session, str(message.data.get("skill_id"))
        if len(self._others) > _OTHERS:
            del self._others[next(iter(self._others))]
        if message.data.get("intent_name") == "response":
            for life in self._turns.values():
                if life.session.session_id == session.session_id:
                    life.answered()

    def _showed(self, message: Message) -> None:
        known, session = self._others.get(message.utterance_id or ""), message.session
        if known is None or session is None or session.session_id != known[0].session_id:
            return
        base, skill_id = known
        self._others[message.utterance_id or ""] = session, skill_id
        writes = SessionChanges.between(base, session, skill_id)
        if writes is not None:
            self._tell_others(writes, session.session_id)

    def _ended(self, message: Message) -> None:
        self._others.pop(message.utterance_id or "", None)
