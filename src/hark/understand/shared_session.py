"""The default session where several workers share the work: one holds it, the others know what it was last."""

from __future__ import annotations

from collections.abc import Callable

from hark.model import Message, Session
from hark.spec import topics
from hark.understand.store import DefaultSession


class SharedSession(DefaultSession):
    """Tells the other workers what it has become, or, where another one holds it, the holder what is to change."""

    def __init__(
        self,
        worker: str,
        emit: Callable[[Message], None],
        restored: Session | None = None,
        save: Callable[[Session], None] | None = None,
    ) -> None:
        super().__init__(restored, save)
        self._worker = worker
        self._emit = emit
        self.owned = False
        self.reachable = True
        """Whether it makes sense to tell anybody."""
        self._told = True

    def open(self, carrier: Session) -> Session:
        """As promised by `DefaultSession`."""
        before = self.current
        now = super().open(carrier)
        self._changed(before, now)
        return now

    def bring(self, base: Session, now: Session) -> Session:
        """As promised by `DefaultSession`."""
        result = super().bring(base, now)
        self._changed(base, now)
        return result

    def saved(self) -> None:
        """As promised by `DefaultSession`, for whoever holds the session."""
        if self.owned:
            super().saved()
            self.tell()
            self._told = False  # once more with the next sign of life: it may be lost on the way

    def tell(self) -> None:
        """Let everybody know what it is."""
        self._told = True
        self._emit(Message(topics.WORKER_SESSION, {"worker": self._worker, "session": self.current.wire()}))

    def tell_again(self) -> None:
        """The same, if it was told only once since it changed."""
        if self.owned and not self._told:
            self.tell()

    def heard(self, message: Message) -> None:
        """Whoever holds the session told what it is."""
        told = message.data.get("session")
        if not self.owned and isinstance(told, dict):
            self.current = Session.read(told)

    def asked(self, message: Message) -> None:
        """Another worker has a turn in this session, and it changed something."""
        base, now = message.data.get("base"), message.data.get("now")
        if self.owned and isinstance(base, dict) and isinstance(now, dict):
            self.bring(Session.read(base), Session.read(now))
            self.saved()

    def _changed(self, base: Session, now: Session) -> None:
        if not self.owned and self.reachable and base is not now and base != now:
            self._emit(Message(topics.WORKER_WRITE, {"base": base.wire(), "now": now.wire()}))
