"""The device's own session: the only one that is kept here (SESSION-2 §5)."""

from __future__ import annotations

from collections.abc import Callable

from hark.model import Session
from hark.model.session_merge import fold, three_way_merge


class DefaultSession:
    """Holds the default session between utterances; `save` is shown it after each end marker and each question."""

    owned = True
    """Whether it is held here; where several workers share the work, one of them holds it."""

    def __init__(self, restored: Session | None = None, save: Callable[[Session], None] | None = None) -> None:
        # An open question dies with the process that asked it.
        self.current = (restored or Session()).without("response_mode")
        self._save = save

    def open(self, carrier: Session) -> Session:
        """Fold what an utterance carries into the store; the session to work on."""
        self.current = fold(self.current, carrier)
        return self.current

    def bring(self, base: Session, now: Session) -> Session:
        """Bring what changed from `base` to `now` to the store; the session as it is then."""
        self.current = three_way_merge(self.current, base, now)
        return self.current

    def has_applied(self, utterance_id: str) -> bool:  # noqa: ARG002 - see StoredSession
        """Whether what comes of a turn is in the store, although the turn has not ended."""
        return False

    def saved(self) -> None:
        """A turn ended, or asked something: let the present state be written down."""
        if self._save is not None:
            self._save(self.current)
