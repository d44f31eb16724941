"""Telling who may be offered what is said next (CONVERSE-1 §6.1)."""

from __future__ import annotations

from hark.bus import Bus
from hark.model import Clock, Message, Session, converse
from hark.spec import topics
from hark.understand.options import Options
from hark.understand.store import DefaultSession


class ActiveList:
    """Answers `ovos.converse.active.list`: of the default session from the store, of others from the question."""

    def __init__(self, bus: Bus, clock: Clock, store: DefaultSession, options: Options) -> None:
        self._bus = bus
        self._clock = clock
        self._store = store
        self.options = options
        self._subscription = bus.on(topics.CONVERSE_ACTIVE_LIST, self._asked, name="converse handlers")

    def close(self) -> None:
        """Listen no longer."""
        self._subscription.close()

    def _asked(self, message: Message) -> None:
        if not self._store.owned:  # of several workers, the one that holds the default session answers
            return
        session = message.session or Session()
        if session.is_default:
            session = self._store.current
        kept = converse.pruned(session, self._clock.wall(), self.options.converse_ttl).converse_handlers
        listed = [{"skill_id": one.skill_id, "activated_at": one.activated_at} for one in kept]
        self._bus.emit(message.response({"converse_handlers": listed}))
