"""One of several processes that understand, and share the work.

An utterance in a named session goes to whichever worker the broker picks, for its session comes with it (SESSION-2).
One in the default session goes to the worker that holds the lease. All workers hear every utterance, and hear who has
taken it: so the holder of the lease can take what nobody took, and end what nobody is left to end.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping
from typing import Any

from hark.bus import Bus
from hark.model import Clock, Message, Session
from hark.spec import topics
from hark.understand.care import Care
from hark.understand.last_words import LastWords
from hark.understand.lease import Lease
from hark.understand.ledger import Ledger, Open
from hark.understand.notes import Notes, WorkersJournal
from hark.understand.pace import Pace
from hark.understand.presence import Presence
from hark.understand.shared_session import SharedSession
from hark.understand.stood_in import StoodIn
from hark.understand.taking import Handle, Taking

log = logging.getLogger("hark.understand")


class Worker:
    """What an `Orchestrator` needs to be one of several; see `Lease` for when it may act."""

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
        pace = pace or Pace()
        self.id = worker_id or os.urandom(6).hex()
        self._loop = asyncio.get_running_loop()
        self._bus = bus
        self._clock = clock
        self._ledger = Ledger()
        self.notes = Notes(journal)
        self.store = SharedSession(self.id, bus.emit, restored, save)
        self._presence = Presence(clock, self.id, pace)
        self.lease = Lease(bus, clock, self._presence, pace, self)
        self._last_words = LastWords(bus.emit, self._presence)
        shared = (bus, clock, pace, self._presence, self.lease, self._ledger, self.notes)
        self._taking = Taking(*shared, self._last_words)
        self._care = Care(*shared, StoodIn(pace.beat, journal), self._taking.begin)
        self._listening = (
            bus.on(topics.WORKER_ENDED, self._ended, name="worker: ended"),
            bus.on(topics.WORKER_SESSION, self._session_told, name="worker: session"),
            bus.on(topics.WORKER_WRITE, self.store.asked, name="worker: write"),
            bus.on(topics.HANDLER_START, self._ledger.started, name="worker: start"),
            bus.on(topics.UTTERANCE_HANDLED, self._handled, name="worker: handled"),
        )
        self._abandon: Callable[[str | None], None]

    def attach(
        self, handle: Handle, abandon: Callable[[str | None], None], orphaned: Callable[[str, Open], None]
    ) -> None:
        """Do this with utterances, with one's own turns that others end (all, or one of them), and with others'."""
        self._taking.handle = handle
        self._abandon = abandon
        self._care.orphaned = orphaned

    def start(self) -> None:
        """Join the others: from now on utterances come here as well."""
        self._taking.start()
        self.lease.start()
        self._care.start()

    def leave(self) -> None:
        """Take no more utterances, as far as there are others to take them."""
        if not self._presence.alone:
            if self.store.owned:
                self.store.tell()
            self._taking.leave()
            self.lease.resign()

    def close(self) -> None:
        """Leave the others; no turn is open any more."""
        self.lease.close()
        self._taking.close()
        self._care.close()
        for subscription in self._listening:
            subscription.close()

    def may_act(self) -> bool:
        """Whether this worker's turns are still its own."""
        return self.lease.check()

    def note_end(self, utterance_id: str, closing: Message | None, marker: Message) -> bool:
        """A turn is about to end like this; should it get lost on the way, it is told again.

        Whether it can be told: where nobody would hear it, it waits until somebody does, if it is still for us then.
        """
        self._last_words.note(utterance_id, closing, marker)
        return self._presence.hears

    def takes(self, dispatch: Message) -> bool:
        """Whether a handler that every worker has is to run here: where the turn is, or where nobody knows."""
        owner = (dispatch.utterance_id or "").rpartition("-")[0]
        return owner == self.id or (self.lease.serving and not self._presence.knows(owner))

    def takes_answer(self, dispatch: Message) -> bool:
        """Whether an answer for which nobody waits here is to be taken here: nobody can wait elsewhere."""
        return self.takes(dispatch) and self._ledger.workers_on(dispatch.session_id) <= {self.id}

    # What the bus brings.

    def _handled(self, message: Message) -> None:
        utterance_id = message.utterance_id or ""
        if not self._last_words.heard(utterance_id) and utterance_id.startswith(f"{self.id}-"):
            self._abandon(utterance_id)  # somebody has ended it for us
        self._care.over(utterance_id)

    def _ended(self, message: Message) -> None:
        """Turns were ended by others than those who had them."""
        ended = message.data.get("ended")
        known = [one for one in ended if isinstance(one, str)] if isinstance(ended, tuple) else []
        ours = self._ledger.of(self.id, self._presence.generation) if known else {}
        for utterance_id in known:
            self._care.stood_in.learn(utterance_id)
            self._last_words.heard(utterance_id)
            self._care.over(utterance_id)
            if utterance_id in ours:
                self._abandon(utterance_id)

    def _session_told(self, message: Message) -> None:
        if self._presence.holds(message.data.get("worker")):
            self.store.heard(message)

    # What the lease asks for.

    def serve(self) -> None:
        """As promised by `Duties`."""
        log.info("worker %s holds the default session", self.id)
        self.store.owned = True
        self.store.tell()
        self._taking.serve()
        self._care.serve()

    def yielded(self) -> None:
        """As promised by `Duties`."""
        log.info("worker %s holds the default session no longer", self.id)
        self.store.owned = False

    def recalled(self) -> None:
        """As promised by `Duties`."""
        self._taking.join()

    def lost(self, worker: str) -> None:
        """As promised by `Duties`."""
        log.info("worker %s is gone", worker)
        if self.lease.serving:
            self._loop.call_soon(self._care.look_after)  # once the lease has struck it from its list

    def cut_off(self) -> None:
        """As promised by `Duties`."""
        log.warning("worker %s cannot hear itself; the others stand in for it", self.id)
        self.store.reachable = False
        self._taking.let_go()
        self._last_words.clear()
        self._care.cut_off()
        self._abandon(None)

    def met_steady(self) -> None:
        """As promised by `Duties`."""
        self.store.reachable = True
        self._care.met_steady()

    def welcome(self) -> None:
        """As promised by `Duties`."""
        for announcement in self._ledger.announcements():  # of others too: they may be gone and nobody knows yet
            self._bus.emit(announcement)
        self._care.tell_ended()
        if self.lease.serving:
            self.store.tell()

    def report(self) -> Mapping[str, Any]:
        """As promised by `Duties`."""
        mine = self._ledger.of(self.id, self._presence.generation)
        lately = self._care.stood_in.lately(self._clock.monotonic())
        return {"open": mine, "over": self._taking.over_lately(mine), "ended": lately}

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
        if self._presence.settled:
            self._last_words.tell_again(number)
            self.store.reachable = True
            self.store.tell_again()
            self._care.beat()
