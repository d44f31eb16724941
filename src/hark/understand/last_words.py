"""How a worker's turns ended, until it hears so itself: what was lost on the way is told again."""

from __future__ import annotations

import logging
from collections.abc import Callable

from hark.model import Message
from hark.understand.presence import Presence

log = logging.getLogger("hark.understand")


class LastWords:
    """One emitter's Messages keep their order: when a later sign of life came back and these did not, they are lost."""

    def __init__(self, emit: Callable[[Message], None], presence: Presence) -> None:
        self._emit = emit
        self._presence = presence
        self._said: dict[str, tuple[int, Message | None, Message]] = {}
        """Each with the number of the sign of life before it."""

    def __contains__(self, utterance_id: str) -> bool:
        return utterance_id in self._said

    def note(self, utterance_id: str, closing: Message | None, marker: Message) -> None:
        """A turn is about to end like this."""
        self._said[utterance_id] = (self._presence.number, closing, marker)

    def heard(self, utterance_id: str) -> bool:
        """It is known how a turn ended; whether these are the words it ended with."""
        return self._said.pop(utterance_id, None) is not None

    def clear(self) -> None:
        """Others end our turns."""
        self._said.clear()

    def tell_again(self, number: int) -> None:
        """What was said before the sign of life with this number came back before it, or never will."""
        for utterance_id, (before, closing, marker) in list(self._said.items()):
            if before < number:
                log.warning("the end of %s was lost on the way and is told again", utterance_id)
                self.note(utterance_id, closing, marker)
                for message in (closing, marker):
                    if message is not None:
                        self._emit(message)
