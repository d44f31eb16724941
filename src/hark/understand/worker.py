"""One of several processes that understand, and share the work.

An utterance in a named session goes to whichever worker the broker picks, for its session comes with it (SESSION-2).
One in the default session goes to the worker that holds the lease. All workers hear every utterance, and hear who has
taken it: so the holder of the lease can take what nobody took, and end what nobody is left to end.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from hark.bus import Bus, Subscription
from hark.bus.eager import start
from hark.model import Clock, Frozen, Message, Session
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.understand.lease import Lease
from hark.understand.ledger import Ledger, Open, Untaken, key_of
from hark.understand.notes import Notes, WorkersJournal, left_open
from hark.understand.pace import Pace
from hark.understand.shared_session import SharedSession
from hark.understand.stood_in import StoodIn

log = logging.getLogger("hark.understand")

_KEPT_FOR: Final = 35.0
"""Seconds for which a broker may keep an utterance, and some."""
_OFFER: Final = "hark_untaken"
"""In the context of an offer: what tells the utterance from others, and since when one like it must not be taken."""

Handle = Callable[[Message, str], Awaitable[None]]
"""Sees an utterance through, under this `utterance_id`."""


class Worker:
    """What an `Orchestrator` needs to be one of several; see `Lease` for when it may act.

    `orphaned` ends a turn whose worker is gone; `abandon` is called when it is this worker that is, for others.
    """

    def __init__(
        self,
        bus: Bus,
        clock: Clock,
        pace: Pace | None = None,
        *,
        restored: Session | None = None,
        save: Callable[[Session], None] | None = None,
        journal: WorkersJournal | None = None,
        worker_id: str = "",
    ) -> None:
        self.pace = pace or Pace()
        self.id = worker_id or os.urandom(6).hex()
        self._bus = bus
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._ledger = Ledger()
        self.store = SharedSession(self.id, bus.emit, restored, save)
        self.lease = Lease(bus, clock, self.id, self.pace, self)
        self._count = 0
        self._recent: deque[tuple[float, str, str]] = deque()
        """What we have opened lately, whether it is over or not."""
        self._last_words: dict[str, tuple[int, Message | None, Message]] = {}
        """How our turns ended, until we hear it ourselves; each with the number of the sign of life before it."""
        self._unheard: dict[str, Untaken] = {}
        """What we have taken, until we hear ourselves say so."""
        self.notes = Notes(journal)
        self._stood_in = StoodIn(self.pace.beat, journal)
        self._asks_from = 0.0
        """From when on we ask what became of the turns our former life left."""
        self._cut_off_at = -1.0
        """When we last were cut off; what we knew then counts no more where somebody was here all the time."""
        self._returning = False
        """Whether we are back and do not know yet if there is anybody like that."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._given_to_us: Subscription | None = None
        self._listening: tuple[Subscription, ...] = (
            bus.on(topics.WORKER_OPENED, self._opened_elsewhere, name="worker: opened"),
            bus.on(topics.WORKER_HAND, self._handed, name="worker: hands on", eager=True),
            bus.on(topics.WORKER_OFFER, self._offered, name="worker: offers"),
            bus.on(topics.WORKER_LEFT, self._left, name="worker: left"),
            bus.on(topics.WORKER_ENDED, self._ended, name="worker: ended"),
            bus.on(topics.WORKER_SESSION, self._session_told, name="worker: session"),
            bus.on(topics.WORKER_WRITE, self.store.asked, name="worker: write"),
            bus.on(topics.HANDLER_START, self._ledger.started, name="worker: start"),
            bus.on(topics.UTTERANCE_HANDLED, self._handled, name="worker: handled"),
        )
        self._handle: Handle
        self._abandon: Callable[[str | None], None]
        self._orphaned: Callable[[str, Open], None]

    def attach(
        self, handle: Handle, abandon: Callable[[str | None], None], orphaned: Callable[[str, Open], None]
    ) -> None:
        """Do this with utterances, with one's own turns that others end (all, or one of them), and with others'."""
        self._handle = handle
        self._abandon = abandon
        self._orphaned = orphaned

    def start(self) -> None:
        """Join the others: from now on utterances come here as well."""
        hears = self._bus.on(topics.UTTERANCE_HANDLE, self._overheard, name="worker: overhears", eager=True)
        self._listening = (*self._listening, hears)
        self._join()
        self._asks_from = self._clock.monotonic() + self.pace.recall
        self.lease.start()
        self._tell_ended()

    def leave(self) -> None:
        """Take no more utterances, as far as there are others to take them."""
        if not self.lease.alone:
            if self.store.owned:
                self.store.tell()
            if self._given_to_us is not None:
                self._given_to_us.close()
            self.lease.resign()

    def close(self) -> None:
        """Leave the others; no turn is open any more."""
        self.lease.close()
        for subscription in (self._given_to_us, *self._listening):
            if subscription is not None:
                subscription.close()

    def _join(self) -> None:
        entry = topics.UTTERANCE_HANDLE
        self._given_to_us = self._bus.on(entry, self._given, name="understand", eager=True, group="understand")

    def may_act(self) -> bool:
        """Whether this worker's turns are still its own."""
        return self.lease.check()

    def note_end(self, utterance_id: str, closing: Message | None, marker: Message) -> bool:
        """A turn is about to end like this; should it get lost on the way, it is told again.

        Whether it can be told: where nobody would hear it, it waits until somebody does, if it is still for us then.
        """
        self._last_words[utterance_id] = (self.lease.number, closing, marker)
        return self.lease.hears

    def takes(self, dispatch: Message) -> bool:
        """Whether a handler that every worker has is to run here: where the turn is, or where nobody knows."""
        owner = (dispatch.utterance_id or "").rpartition("-")[0]
        return owner == self.id or (self.lease.serving and not self.lease.knows(owner))

    def takes_answer(self, dispatch: Message) -> bool:
        """Whether an answer for which nobody waits here is to be taken here: nobody can wait elsewhere."""
        return self.takes(dispatch) and self._ledger.workers_on(dispatch.session_id) <= {self.id}

    # What the bus brings.

    async def _overheard(self, entry: Message) -> None:
        key = key_of(entry)
        self._ledger.hear(entry, key, self._clock.monotonic())
        if self.lease.serving and _is_default(entry):
            await self._take(entry, key)

    async def _given(self, entry: Message) -> None:
        key = key_of(entry)
        if _is_default(entry):  # the holder's, who hears it as all of us do
            self._clock.after(self.pace.beat, lambda: self._kept(entry, key))
        elif self.lease.check():  # where we are cut off, whoever is not has heard it too
            # Turns of one session that are open at once have to know of each other: a question and its answer.
            other = self._ledger.at_work_on(entry.session_id)
            if other is None or other == self.id or not self.lease.knows(other):
                await self._take(entry, key)
            else:
                handed = entry.forward(topics.WORKER_HAND, entry.data)
                self._bus.emit(handed.carrying(**{_OFFER: {"key": key, "to": other}}))

    async def _handed(self, message: Message) -> None:
        """Another worker leaves us an utterance; should we be gone, it waits in everybody's ledger."""
        told = message.context.get(_OFFER)
        if not isinstance(told, dict) or told.get("to") != self.id or not self.lease.check():
            return
        key = str(told.get("key"))
        if self._ledger.is_waiting(key):
            await self._take(message.forward(topics.UTTERANCE_HANDLE, message.data).carrying(**{_OFFER: None}), key)

    def _kept(self, entry: Message, key: str) -> None:
        """A broker may keep for its group what was said while nobody was there: then nobody has heard it."""
        now = self._clock.monotonic()
        heard = self._ledger.has_heard(key, now - self.pace.rescue)
        if not heard and self._ledger.offered(entry, key, now, _KEPT_FOR) and self.lease.serving:
            self._begin(Untaken(key, entry, now))

    async def _take(self, entry: Message, key: str) -> None:
        self._count += 1
        utterance_id, generation = f"{self.id}-{self._count}", self.lease.generation
        now = self._clock.monotonic()
        announced = Frozen(worker=self.id, generation=generation, key=key, utterance_id=utterance_id)
        opened = entry.forward(topics.WORKER_OPENED, announced)
        self._recent.append((now, utterance_id, key))
        self._unheard[utterance_id] = Untaken(key, entry, now)
        self._ledger.opened(utterance_id, Open(self.id, generation, key, opened), now)
        self.notes.taking(utterance_id, key)
        self._bus.emit(opened)  # before anything else of this turn
        try:
            await self._handle(entry, utterance_id)
        finally:
            if generation == self.lease.generation and utterance_id not in self._last_words:
                self._ledger.ended(utterance_id)  # it could not even be taken in

    def _opened_elsewhere(self, message: Message) -> None:
        data = message.data
        worker, generation = data.get("worker"), data.get("generation")
        self._unheard.pop(str(data.get("utterance_id")), None)
        if worker != self.id and isinstance(worker, str) and isinstance(generation, int):
            turn = Open(worker, generation, str(data.get("key")), message)
            self._ledger.opened(str(data.get("utterance_id")), turn, self._clock.monotonic())

    def _handled(self, message: Message) -> None:
        utterance_id = message.utterance_id or ""
        if self._last_words.pop(utterance_id, None) is None and utterance_id.startswith(f"{self.id}-"):
            self._abandon(utterance_id)  # somebody has ended it for us
        self._over(utterance_id)

    def _over(self, utterance_id: str) -> None:
        self._ledger.ended(utterance_id)
        self.notes.over(utterance_id)

    def _left(self, message: Message) -> None:
        """A worker came back to life: what its former one left open is for the holder of the lease to end."""
        left = left_open(message)
        if left is None:
            return
        utterance_id, turn = left
        is_over = self._ledger.left(utterance_id, turn, self._clock.monotonic())
        if self.lease.serving:
            if is_over:
                self._stood_in.add(utterance_id, self._clock.monotonic())
                self._over(utterance_id)
            self._look_after()

    def _ended(self, message: Message) -> None:
        """Turns were ended by others than those who had them."""
        ended = message.data.get("ended")
        for utterance_id in ended if isinstance(ended, tuple) else ():
            self._stood_in.learn(utterance_id)
            self._last_words.pop(utterance_id, None)
            is_ours = utterance_id in self._ledger.of(self.id, self.lease.generation)
            self._over(utterance_id)
            if is_ours:
                self._abandon(utterance_id)

    def _session_told(self, message: Message) -> None:
        if self.lease.holds(message.data.get("worker")):
            self.store.heard(message)

    # What the lease asks for.

    def serve(self) -> None:
        """As promised by `Duties`."""
        log.info("worker %s holds the default session", self.id)
        self._returning = False
        self._cut_off_at = -1.0
        self.store.owned = True
        self.store.tell()
        for untaken in self._ledger.waiting(lambda untaken: _is_default(untaken.entry)):
            self._begin(untaken)
        self._look_after()

    def recalled(self) -> None:
        """As promised by `Duties`."""
        self._join()

    def yielded(self) -> None:
        """As promised by `Duties`."""
        log.info("worker %s holds the default session no longer", self.id)
        self.store.owned = False

    def lost(self, worker: str) -> None:
        """As promised by `Duties`."""
        log.info("worker %s is gone", worker)
        if self.lease.serving:
            self._loop.call_soon(self._look_after)  # once the lease has struck it from its list

    def cut_off(self) -> None:
        """As promised by `Duties`."""
        log.warning("worker %s cannot hear itself; the others stand in for it", self.id)
        self.store.reachable = False
        self._cut_off_at = self._clock.monotonic()
        for utterance_id, untaken in self._unheard.items():  # nobody knows that we have taken it
            self._ledger.ended(utterance_id)
            self._ledger.hear(untaken.entry, untaken.key, untaken.since)
        self._unheard.clear()
        self._returning = True
        self._last_words.clear()
        self._recent.clear()
        self.notes.give_up()
        self._abandon(None)

    def met_steady(self) -> None:
        """As promised by `Duties`."""
        self.store.reachable = True
        if self._returning:
            self._ledger.forget(self._cut_off_at)
            self._returning = False

    def welcome(self) -> None:
        """As promised by `Duties`."""
        for announcement in self._ledger.announcements():  # of others too: they may be gone and nobody knows yet
            self._bus.emit(announcement)
        self._tell_ended()
        if self.lease.serving:
            self.store.tell()

    def _tell_ended(self) -> None:
        stood_in = self._stood_in.all()
        if stood_in:
            self._bus.emit(Message(topics.WORKER_ENDED, {"ended": stood_in}))

    def report(self) -> Mapping[str, Any]:
        """As promised by `Duties`."""
        now = self._clock.monotonic()
        while self._recent and now - self._recent[0][0] > self.pace.lost:
            self._recent.popleft()
        mine = self._ledger.of(self.id, self.lease.generation)
        over = {utterance_id: key for _, utterance_id, key in self._recent if utterance_id not in mine}
        return {"open": mine, "over": over, "ended": self._stood_in.lately(now)}

    def heard(self, worker: str, generation: int, message: Message) -> None:
        """As promised by `Duties`."""
        now = self._clock.monotonic()
        there, over = message.data.get("open"), message.data.get("over")
        if not isinstance(there, dict) or not isinstance(over, dict):
            return
        for utterance_id, key in (*there.items(), *over.items()):
            self._ledger.opened(utterance_id, Open(worker, generation, str(key)), now)
        self._ledger.only(worker, generation, there)
        self._ended(message)

    def echoed(self, number: int) -> None:
        """As promised by `Duties`."""
        if not self.lease.settled:
            return
        # What was sent before it came back before it, or never will.
        for utterance_id, (before, closing, marker) in list(self._last_words.items()):
            if before < number:
                log.warning("the end of %s was lost on the way and is told again", utterance_id)
                self.note_end(utterance_id, closing, marker)
                for message in (closing, marker):
                    if message is not None:
                        self._bus.emit(message)
        self.store.reachable = True
        self.store.tell_again()
        if self.lease.is_steady and self._clock.monotonic() >= self._asks_from:
            for left in self.notes.tell():
                self._bus.emit(left)
        self._ledger.tidy(self._clock.monotonic() - 2 * self.pace.rescue)
        if self.lease.serving:
            self._look_after()
        else:
            self._offer()

    def _look_after(self) -> None:
        """As the holder of the lease: end what nobody is left to end, take what nobody took."""
        if not self.lease.serving:
            return
        for utterance_id, turn in self._ledger.orphans(self.lease.alive).items():
            log.warning("%s was open at worker %s, which is gone", utterance_id, turn.worker)
            self._stood_in.add(utterance_id, self._clock.monotonic())
            self.notes.over(utterance_id)
            self._orphaned(utterance_id, turn)
        overdue = self._clock.monotonic() - self.pace.rescue
        for untaken in self._ledger.waiting(lambda untaken: untaken.since < overdue):
            log.warning("an utterance that nobody took is taken by the holder of the lease")
            self._begin(untaken)

    def _offer(self) -> None:
        """As another one: hand what nobody took to the holder, who may not have heard it."""
        if not self.lease.has_holder:
            return
        now = self._clock.monotonic()
        for untaken in self._ledger.waiting(lambda one: one.since < max(now - self.pace.offer, self._cut_off_at)):
            missed = untaken.since < self._cut_off_at  # whether it was taken while we were cut off, we cannot know
            lately = now - untaken.since + self.pace.beat if missed else self.pace.rescue
            offer = untaken.entry.forward(topics.WORKER_OFFER, untaken.entry.data)
            self._bus.emit(offer.carrying(**{_OFFER: {"key": untaken.key, "lately": lately}}))
            if missed:
                self._ledger.drop(untaken)

    def _offered(self, message: Message) -> None:
        offer = message.context.get(_OFFER)
        if not self.lease.serving or not isinstance(offer, dict):
            return
        key, lately, now = offer.get("key"), offer.get("lately"), self._clock.monotonic()
        if not isinstance(key, str) or not isinstance(lately, (int, float)):
            return
        entry = message.forward(topics.UTTERANCE_HANDLE, message.data).carrying(**{_OFFER: None})
        if self._ledger.offered(entry, key, now, lately):
            log.warning("an utterance that others heard is taken by the holder of the lease")
            self._begin(Untaken(key, entry, now))

    def _begin(self, untaken: Untaken) -> None:
        task = start(self._take(untaken.entry, untaken.key), self._loop)
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)


def _is_default(entry: Message) -> bool:
    return entry.malformed_session is None and entry.session_id == DEFAULT_SESSION_ID
