"""One thing in the queue of a session."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Literal

from hark.model import Message

if TYPE_CHECKING:
    from hark.speak.run import Run

Outcome = Literal["rendered", "failed", "cancelled", "stopped", "dropped"]
"""How it went with an item: heard (or shown), nothing could be made of it, a transformer or a person did not want it,
it was no request at all."""


class Item(ABC):
    """Something to be heard in its turn. Its place is the order of receipt, however long it takes to make."""

    def __init__(self, message: Message) -> None:
        self.origin = message
        """The Message as it came."""
        self.message = message
        """The Message as the chains have left it so far."""
        self.outcome: Outcome | None = None
        self.played = 0
        """How many pieces of it were heard."""
        self.unplayed = 0
        """How many nobody could play."""

    @property
    def listens(self) -> bool:
        """Whether the microphone is to be opened afterwards (AUDIO-1 §4.4)."""
        return self.origin.data.get("listen") is True

    @abstractmethod
    async def make(self, run: Run) -> Outcome:
        """Make what is to be heard and `offer` it to the run, piece by piece; how it went."""

    @abstractmethod
    def note(self, who: str, how: str, seconds: float, why: str) -> None:
        """Somebody played a piece of it, or tried to."""

    def begins(self) -> None:
        """A sound of it is about to be heard."""
        return

    def end(self, outcome: Outcome) -> None:
        """Nothing more comes of it. Called once."""
        self.outcome = outcome
