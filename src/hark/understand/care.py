"""Looking after what others cannot: utterances that nobody took, turns that nobody is left to end."""

from __future__ import annotations

import logging
from collections.abc import Callable

from hark.bus import Bus
from hark.model import Clock, Message
from hark.spec import topics
from hark.understand.lease import Lease
from hark.understand.ledger import Ledger, Open, Untaken
from hark.understand.notes import Notes, left_open
from hark.understand.pace import Pace
from hark.understand.presence import Presence
from hark.understand.stood_in import StoodIn
from hark.understand.taking import UNTAKEN

log = logging.getLogger("hark.understand")


class Care:
    """The holder of the lease sees to them; the other workers tell it what it may have missed.

    `orphaned` ends a turn whose worker is gone.
    """

    def __init__(
        self,
        bus: Bus,
        clock: Clock,
        pace: Pace,
        presence: Presence,
        lease: Lease,
        ledger: Ledger,
        notes: Notes,
        stood_in: StoodIn,
        begin: Callable[[Untaken], None],
    ) -> None:
        self._bus = bus
        self._clock = clock
        self._pace = pace
        self._presence = presence
        self._lease = lease
        self._ledger = ledger
        self._notes = notes
        self.stood_in = stood_in
        self._begin = begin
        self._cut_off_at = -1.0
        """When we last were cut off; what we knew then counts no more where somebody was here all the time."""
        self._returning = False
        """Whether we are back and do not know yet if there is anybody like that."""
        self._sure_from = 0.0
        """From when on nobody can be on the way back who knows more than we do of what was open before."""
        self._doubtful = -1.0
        """Until when that was."""
        self._subscriptions = (
            bus.on(topics.WORKER_OFFER, self._offered, name="worker: offers"),
            bus.on(topics.WORKER_LEFT, self._left, name="worker: left"),
        )
        self.orphaned: Callable[[str, Open], None]

    def close(self) -> None:
        """Listen no longer."""
        for subscription in self._subscriptions:
            subscription.close()

    def start(self) -> None:
        """We are here, perhaps again: say what our former life knew, and ask later what it did not."""
        self._sure_from = self._clock.monotonic() + self._pace.recall
        self.tell_ended()

    def serve(self) -> None:
        """It is for us now."""
        if self._returning:  # and nobody was here all the time
            self._sure_from = self._clock.monotonic() + self._pace.recall
            self._doubtful = self._cut_off_at
        self._returning = False
        self._cut_off_at = -1.0
        self.look_after()

    def cut_off(self) -> None:
        """We hear nothing any more."""
        self._cut_off_at = self._clock.monotonic()
        self._returning = True
        self._notes.give_up()

    def met_steady(self) -> None:
        """Somebody was here all the time."""
        if self._returning:
            self._ledger.forget(self._cut_off_at)
            self._returning = False

    def beat(self) -> None:
        """Look around, once a beat."""
        if self._lease.is_steady and self._clock.monotonic() >= self._sure_from:
            for left in self._notes.tell():
                self._bus.emit(left)
        self._ledger.tidy(self._clock.monotonic() - 2 * self._pace.rescue)
        if self._lease.serving:
            self.look_after()
        else:
            self._offer()

    def look_after(self) -> None:
        """As the holder of the lease: end what nobody is left to end, take what nobody took."""
        if not self._lease.serving:
            return
        now = self._clock.monotonic()
        known_since = self._doubtful if now < self._sure_from else -1.0
        for utterance_id, turn in self._ledger.orphans(self._presence.alive, known_since).items():
            log.warning("%s was open at worker %s, which is gone", utterance_id, turn.worker)
            self.stood_in.add(utterance_id, now)
            self._notes.over(utterance_id)
            self.orphaned(utterance_id, turn)
        for untaken in self._ledger.waiting(lambda untaken: untaken.since < now - self._pace.rescue):
            log.warning("an utterance that nobody took is taken by the holder of the lease")
            self._begin(untaken)

    def over(self, utterance_id: str) -> None:
        """A turn has ended, whoever had it."""
        self._ledger.ended(utterance_id)
        self._notes.over(utterance_id)

    def tell_ended(self) -> None:
        """Say all that is known of turns that were ended in place of those who had them."""
        known = self.stood_in.all()
        if known:
            self._bus.emit(Message(topics.WORKER_ENDED, {"ended": known}))

    def _left(self, message: Message) -> None:
        """A worker came back to life: what its former one left open is for the holder of the lease to end."""
        left = left_open(message)
        if left is None:
            return
        utterance_id, turn = left
        is_over = self._ledger.left(utterance_id, turn, self._clock.monotonic())
        if self._lease.serving:
            if is_over:
                self.stood_in.add(utterance_id, self._clock.monotonic())
                self.over(utterance_id)
            self.look_after()

    def _offer(self) -> None:
        """As another one: hand what nobody took to the holder, who may not have heard it."""
        if not self._presence.has_holder:
            return
        now = self._clock.monotonic()
        for untaken in self._ledger.waiting(lambda one: one.since < max(now - self._pace.offer, self._cut_off_at)):
            missed = untaken.since < self._cut_off_at  # whether it was taken while we were cut off, we cannot know
            lately = now - untaken.since + self._pace.beat if missed else self._pace.rescue
            offer = untaken.entry.forward(topics.WORKER_OFFER, untaken.entry.data)
            self._bus.emit(offer.carrying(**{UNTAKEN: {"key": untaken.key, "lately": lately}}))
            if missed:
                self._ledger.drop(untaken)

    def _offered(self, message: Message) -> None:
        offer = message.context.get(UNTAKEN)
        if not self._lease.serving or not isinstance(offer, dict):
            return
        key, lately, now = offer.get("key"), offer.get("lately"), self._clock.monotonic()
        if not isinstance(key, str) or not isinstance(lately, (int, float)):
            return
        entry = message.forward(topics.UTTERANCE_HANDLE, message.data).carrying(**{UNTAKEN: None})
        if self._ledger.offered(entry, key, now, lately):
            log.warning("an utterance that others heard is taken by the holder of the lease")
            self._begin(Untaken(key, entry, now))
