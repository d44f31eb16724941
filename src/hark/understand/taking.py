"""Which utterances one of several workers takes, and how it says so."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from hark.bus import Bus, Subscription
from hark.bus.delivery import start_eagerly
from hark.model import Clock, Frozen, Message
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.understand.last_words import LastWords
from hark.understand.lease import Lease
from hark.understand.ledger import Ledger, Open, Untaken, key_of
from hark.understand.notes import Notes
from hark.understand.pace import Pace
from hark.understand.presence import Presence

UNTAKEN: Final = "hark_untaken"
"""In the context of what one worker leaves or offers to another: what tells the utterance from others, and more."""

_KEPT_FOR: Final = 35.0
"""Seconds for which a broker may keep an utterance, and some."""

Handle = Callable[[Message, str], Awaitable[None]]
"""Sees an utterance through, under this `utterance_id`."""


class Taking:
    """Takes what the group is given, what is of the default session where we hold it, and what others leave us."""

    def __init__(
        self,
        bus: Bus,
        clock: Clock,
        pace: Pace,
        presence: Presence,
        lease: Lease,
        ledger: Ledger,
        notes: Notes,
        last_words: LastWords,
    ) -> None:
        self._bus = bus
        self._clock = clock
        self._pace = pace
        self._presence = presence
        self._lease = lease
        self._ledger = ledger
        self._notes = notes
        self._last_words = last_words
        self._loop = asyncio.get_running_loop()
        self._count = 0
        self._recent: deque[tuple[float, str, str]] = deque()
        """What we have opened lately, whether it is over or not."""
        self._unheard: dict[str, Untaken] = {}
        """What we have taken, until we hear ourselves say so."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._given_to_us: Subscription | None = None
        self._listening = [
            bus.on(topics.WORKER_OPENED, self._opened, name="worker: opened"),
            bus.on(topics.WORKER_HAND, self._handed, name="worker: hands on", eager=True),
        ]
        self.handle: Handle

    def start(self) -> None:
        """From now on utterances come here as well."""
        entry = topics.UTTERANCE_HANDLE
        self._listening.append(self._bus.on(entry, self._overheard, name="worker: overhears", eager=True))
        self.join()

    def join(self) -> None:
        """Be one of those to whom the broker gives utterances."""
        entry = topics.UTTERANCE_HANDLE
        self._given_to_us = self._bus.on(entry, self._given, name="understand", eager=True, group="understand")

    def leave(self) -> None:
        """Be none of them any more."""
        if self._given_to_us is not None:
            self._given_to_us.close()
            self._given_to_us = None

    def close(self) -> None:
        """Listen no longer."""
        self.leave()
        for subscription in self._listening:
            subscription.close()

    def serve(self) -> None:
        """The default session is ours: so is what was said in it and waits."""
        for untaken in self._ledger.waiting(lambda untaken: _is_default(untaken.entry)):
            self.begin(untaken)

    def begin(self, untaken: Untaken) -> None:
        """Take an utterance that waits."""
        task = start_eagerly(self._take(untaken.entry, untaken.key), self._loop)
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def let_go(self) -> None:
        """Others see to our turns; to what nobody heard us take, somebody still has to."""
        for utterance_id, untaken in self._unheard.items():
            self._ledger.ended(utterance_id)
            self._ledger.hear(untaken.entry, untaken.key, untaken.since)
        self._unheard.clear()
        self._recent.clear()

    def over_lately(self, still_open: dict[str, str]) -> dict[str, str]:
        """What we have opened lately that is over, each with the key of its utterance."""
        now = self._clock.monotonic()
        while self._recent and now - self._recent[0][0] > self._pace.lost:
            self._recent.popleft()
        return {utterance_id: key for _, utterance_id, key in self._recent if utterance_id not in still_open}

    async def _overheard(self, entry: Message) -> None:
        key = key_of(entry)
        self._ledger.hear(entry, key, self._clock.monotonic())
        if self._lease.serving and _is_default(entry):
            await self._take(entry, key)

    async def _given(self, entry: Message) -> None:
        key = key_of(entry)
        if _is_default(entry):  # the holder's, who hears it as all of us do
            self._clock.after(self._pace.beat, lambda: self._kept(entry, key))
        elif self._lease.check():  # where we are cut off, whoever is not has heard it too
            # Turns of one session that are open at once have to know of each other: a question and its answer.
            other = self._ledger.at_work_on(entry.session_id)
            if other is None or not self._presence.stays(other):
                await self._take(entry, key)
            else:
                handed = entry.forward(topics.WORKER_HAND, entry.data)
                self._bus.emit(handed.carrying(**{UNTAKEN: {"key": key, "to": other}}))

    async def _handed(self, message: Message) -> None:
        """Another worker leaves us an utterance; should we be gone, it waits in everybody's ledger."""
        told = message.context.get(UNTAKEN)
        if not isinstance(told, dict) or told.get("to") != self._presence.worker or not self._lease.check():
            return
        key = str(told.get("key"))
        if self._ledger.is_waiting(key):
            await self._take(message.forward(topics.UTTERANCE_HANDLE, message.data).carrying(**{UNTAKEN: None}), key)

    def _kept(self, entry: Message, key: str) -> None:
        """A broker may keep for its group what was said while nobody was there: then nobody has heard it."""
        now = self._clock.monotonic()
        heard = self._ledger.has_heard(key, now - self._pace.rescue)
        if not heard and self._ledger.offered(entry, key, now, _KEPT_FOR) and self._lease.serving:
            self.begin(Untaken(key, entry, now))

    async def _take(self, entry: Message, key: str) -> None:
        self._count += 1
        worker, generation = self._presence.worker, self._presence.generation
        utterance_id, now = f"{worker}-{self._count}", self._clock.monotonic()
        announced = Frozen(worker=worker, generation=generation, key=key, utterance_id=utterance_id)
        opened = entry.forward(topics.WORKER_OPENED, announced)
        self._recent.append((now, utterance_id, key))
        self._unheard[utterance_id] = Untaken(key, entry, now)
        self._ledger.opened(utterance_id, Open(worker, generation, key, opened), now)
        self._notes.taking(utterance_id, key)
        self._bus.emit(opened)  # before anything else of this turn
        try:
            await self.handle(entry, utterance_id)
        finally:
            if generation == self._presence.generation and utterance_id not in self._last_words:
                self._ledger.ended(utterance_id)  # it could not even be taken in

    def _opened(self, message: Message) -> None:
        data = message.data
        worker, generation = data.get("worker"), data.get("generation")
        self._unheard.pop(str(data.get("utterance_id")), None)
        if worker != self._presence.worker and isinstance(worker, str) and isinstance(generation, int):
            turn = Open(worker, generation, str(data.get("key")), message)
            self._ledger.opened(str(data.get("utterance_id")), turn, self._clock.monotonic())


def _is_default(entry: Message) -> bool:
    return entry.malformed_session is None and entry.session_id == DEFAULT_SESSION_ID
