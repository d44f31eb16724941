"""Where utterances come from, how many may be open, and what outlives this process of those that are."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final, Protocol

from hark.bus import Bus, Subscription
from hark.model import Clock, Message
from hark.spec import split_dispatch, topics
from hark.spec.topics import is_dispatch_topic
from hark.understand.dispatches import Dispatches
from hark.understand.programs import Programs
from hark.understand.turn_state import DefaultSession, TurnOptions, TurnState

log = logging.getLogger("hark.understand")

LOST: Final = "the assistant was restarted in the middle of this turn"
_OF_CLIENTS: Final = 0.8
"""The part of all open turns that clients on the bus may have together: the device itself is always understood."""
_MOST_BYTES: Final = 16 * 1_048_576
"""Bytes that the utterances of a client may have together while their turns are open."""
_MOST_BYTES_OF_CLIENTS: Final = 4 * _MOST_BYTES
"""The same for all clients."""
_LOG_EVERY: Final = 10.0
"""Seconds between two lines about utterances that were refused."""


class TurnTaker(Protocol):
    """Sees utterances through to their ends: the orchestrator."""

    async def handle(self, entry: Message, utterance_id: str = "") -> None:
        """See one utterance through, under this id if one is given."""

    async def resume(self, dispatch: Message, host: str) -> None:
        """See a turn through whose handler was started at a host by another worker."""

    def abandon(self, utterance_id: str | None) -> None:
        """Leave a turn, or all of them, to another worker."""


class TurnSource(Protocol):
    """Hands utterances to the orchestrator, and publishes how each turn ended."""

    @property
    def store(self) -> DefaultSession:
        """The default session."""

    def attach(self, taker: TurnTaker) -> None:
        """Hand utterances to `taker`, from now on or from `start` on."""

    def dispatches(self, bus: Bus, clock: Clock, options: Callable[[], TurnOptions], programs: Programs) -> Dispatches:
        """What waits for the handlers of these turns."""

    async def start(self) -> None:
        """Begin; the plugins have started."""

    def opened(self, entry: Message) -> None:
        """An utterance was taken in; its context has the `utterance_id`."""

    def dispatched(self, dispatch: Message) -> None:
        """The handler of a turn is about to be called."""

    def end(self, utterance_id: str, closing: Message | None, marker: Message) -> None:
        """Publish the last two Messages of a turn, once: what became of it, and the end marker."""

    async def leave(self) -> None:
        """This process is about to end: hand over what others can see through."""

    async def close(self) -> None:
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

    def __init__(self, bus: Bus, store: DefaultSession, journal: Journal | None = None) -> None:
        self.store = store
        self._bus = bus
        self._journal = journal
        self._subscription: Subscription | None = None

    def attach(self, taker: TurnTaker) -> None:
        self._subscription = self._bus.on(topics.UTTERANCE_HANDLE, taker.handle, name="understand", eager=True)

    def dispatches(self, bus: Bus, clock: Clock, options: Callable[[], TurnOptions], programs: Programs) -> Dispatches:
        return Dispatches(bus, clock, options, programs)

    async def start(self) -> None:
        """Utterances are taken from `attach` on: those that come early wait for the plugins."""

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

    async def leave(self) -> None:
        """No other process could see these turns through."""

    async def close(self) -> None:
        if self._subscription is not None:
            self._subscription.close()


class TurnLoad:
    """Counts the open turns of clients on the bus, and says which utterance is one too many.

    None of the clients can take the place of all others.
    """

    def __init__(self) -> None:
        self._turns: Counter[str] = Counter()
        self._bytes: Counter[str] = Counter()
        self._total = 0
        self._refused = 0
        self._log_from = 0.0

    def began(self, turn: TurnState) -> None:
        """A turn of a client was opened."""
        self._turns[turn.client] += 1
        self._bytes[turn.client] += turn.size
        self._total += 1

    def admits(self, turn: TurnState, open_turns: int, options: TurnOptions, now: float) -> bool:
        """Whether a turn may go on, being one of `open_turns`; logged, once in a while, if not."""
        why = ""
        if turn.client:
            if self._turns[turn.client] > options.max_client_turns:
                why = f"a client on the bus has {options.max_client_turns} open turns"
            elif self._bytes[turn.client] > _MOST_BYTES or self._bytes.total() > _MOST_BYTES_OF_CLIENTS:
                why = "the utterances of open turns are too large"
            elif self._total > max(1, int(options.max_open_turns * _OF_CLIENTS)):
                why = f"clients on the bus have {self._total - 1} open turns"
        if open_turns > options.max_open_turns:
            why = f"{open_turns - 1} turns are open"
        if why:
            self._report(why, now)
        return not why

    def ended(self, turn: TurnState) -> None:
        """It is over."""
        self._total -= 1
        self._turns[turn.client] -= 1
        self._bytes[turn.client] -= turn.size
        if not self._turns[turn.client]:
            del self._turns[turn.client], self._bytes[turn.client]

    def _report(self, why: str, now: float) -> None:
        self._refused += 1
        if now >= self._log_from:
            self._log_from = now + _LOG_EVERY
            more = f" ({self._refused} since the last line)" if self._refused > 1 else ""
            log.error("overload: %s, an utterance was refused%s", why, more)
            self._refused = 0


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
