"""A note of the turns that are open, for whoever comes after a process that died in the middle of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from hark.bus import Bus
from hark.model import Message
from hark.spec import split_dispatch, topics
from hark.spec.topics import is_dispatch_topic

LOST = "the assistant was restarted in the middle of this turn"


class Journal(Protocol):
    """Notes what happens to turns before it is told to anybody else. Brief, and never raises."""

    def opened(self, entry: Message) -> None:
        """An utterance was taken in; its context has the `utterance_id`."""

    def dispatched(self, dispatch: Message) -> None:
        """Its handler is about to be called."""

    def ended(self, utterance_id: str) -> None:
        """Its end marker is out."""


def end_lost(bus: Bus, lost: Iterable[Message]) -> int:
    """End the turns of a process that is no more, each by what is known of it last; how many there were.

    One that was dispatched ends with an error, one that was not by its marker alone.
    """
    number = 0
    for last in lost:
        number += 1
        if is_dispatch_topic(last.type):
            skill_id, intent_name = split_dispatch(last.type)
            data = {"skill_id": skill_id, "intent_name": intent_name, "exception": LOST}
            bus.emit(last.forward(topics.HANDLER_ERROR, data))
            bus.emit(last.forward(topics.UTTERANCE_HANDLED))
        else:
            bus.emit(last.reply(topics.UTTERANCE_HANDLED))
    return number
