"""What travels through a chain."""

from __future__ import annotations

from typing import Any

from hark.model import Frozen, Message, Session
from hark.model.merge import Denials
from hark.spec.names import CANCEL_BY, CANCEL_REASON, CANCELED


class Flow:
    """An artifact with its language, context and session, as the transformers accepted so far have left them.

    Belongs to one run of one chain; every value in it is immutable, so whoever got one earlier keeps what it got.
    """

    __slots__ = ("artifact", "cancelled", "context", "denials", "lang", "origin", "session")

    def __init__(self, artifact: Any, lang: str | None, origin: Message, session: Session, denials: Denials) -> None:
        self.artifact = artifact
        self.lang = lang
        self.origin = origin
        """The Message whose artifact this is."""
        self.context: Frozen = origin.context
        self.session = session
        self.denials = denials
        """The denylists in force; a transformer can add to them, not take away."""
        self.cancelled = False

    def cancel(self, by: str, reason: str) -> None:
        """End the flow here; who asked for it is known to the frame alone."""
        self.cancelled = True
        self.context = Frozen({**self.context, CANCELED: True, CANCEL_REASON: reason, CANCEL_BY: by})

    def message(self) -> Message:
        """The Message as it stands now."""
        return self.origin.within(self.context, self.session)
