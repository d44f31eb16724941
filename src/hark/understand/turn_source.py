"""Where utterances come from, and what outlives this process of the turns that are open."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, Protocol

from hark.bus import Bus, Subscription
from hark.model import Message
from hark.spec import split_dispatch, topics
from hark.spec.topics import is_dispatch_topic

log = logging.getLogger("hark.understand")

LOST: Final = "the assistant was restarted in the middle of this turn"

Take = Callable[[Message], Awaitable[None]]
"""Sees one utterance through to its end."""


class TurnSource(Protocol):
    """Hands utterances to the orchestrator, and publishes how each turn ended."""

    def attach(self, take: Take) -> None:
        """Hand utterances to `take`."""

    def opened(self, entry: Message) -> None:
        """An utterance was taken in; its context has the `utterance_id`."""

    def dispatched(self, dispatch: Message) -> None:
        """The handler of a turn is about to be called."""

    def end(self, utterance_id: str, closing: Message | None, marker: Message) -> None:
        """Publish the last two Messages of a turn, once: what became of it, and the end marker."""

    def close(self) -> None:
        """Take no more utterances; no turn is open any more."""


class Journal(Protocol):
    """Records open turns where the next life of this process finds them. Brief, and never raises."""

    def opened(self, entry: Message) -> None:
        """An utterance was taken in; its context has the `utterance_id`."""

    def dispatched(self, dispatch: Message) -> None:
        """Its handler is about to be called."""

    def ended(self, utterance_id: str) -> None:
        """Its end marker is out."""


class LocalTurns:
    """Utterances from the bus of one process, or of a bus that promises no more than to deliver at most once.

    With a journal, a process that was killed in the middle of turns ends them in its next life: see `end_lost`.
    """

    def __init__(self, bus: Bus, journal: Journal | None = None) -> None:
        self._bus = bus
        self._journal = journal
        self._subscription: Subscription | None = None

    def attach(self, take: Take) -> None:
        self._subscription = self._bus.on(topics.UTTERANCE_HANDLE, take, name="understand", eager=True)

    def opened(self, entry: Message) -> None:
        if self._journal is not None:
            self._journal.opened(entry)

    def dispatched(self, dispatch: Message) -> None:
        if self._journal is not None:
            self._journal.dispatched(dispatch)

    def end(self, utterance_id: str, closing: Message | None, marker: Message) -> None:
        try:
            if closing is not None:
                self._bus.emit(closing)
        finally:
            self._bus.emit(marker)
            if self._journal is not None:
                self._journal.ended(utterance_id)

    def close(self) -> None:
        if self._subscription is not None:
            self._subscription.close()


def end_lost(bus: Bus, lost: Iterable[Message]) -> int:
    """End the turns of a process that was killed, each by the last Message that was recorded of it; return how many.

    One that was dispatched ends with an error, one that was not by its marker alone.
    """
    number = 0
    for last in lost:
        number += 1
        closing, marker = ending_of_lost(last, LOST)
        if closing is not None:
            bus.emit(closing)
        bus.emit(marker)
    return number


def ending_of_lost(last: Message, why: str) -> tuple[Message | None, Message]:
    """The last two Messages of a turn of which nothing is known but `last`: its entry, or its dispatch."""
    if not is_dispatch_topic(last.type):
        return None, last.reply(topics.UTTERANCE_HANDLED)
    skill_id, intent_name = split_dispatch(last.type)
    data = {"skill_id": skill_id, "intent_name": intent_name, "exception": why}
    return last.forward(topics.HANDLER_ERROR, data), last.forward(topics.UTTERANCE_HANDLED)
