"""Who of several workers holds the default session: one, for as long as the others hear from it.

Every worker shows its life on one topic. It hears itself there as well: the way to the broker and back is what its
right to act hangs on. A worker that has not heard itself for two beats acts no more, and says so when it can; the
others miss it after five, so what it had to do is never done twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, Protocol

import msgspec

from hark.bus import Bus
from hark.model import Clock, Message, Timer
from hark.spec import topics
from hark.understand.pace import Pace

_STEADY: Final = ("following", "holding")
"""Those who have heard everything since they came."""

Role = Literal["joining", "following", "claiming", "holding", "leaving", "away"]


class Duties(Protocol):
    """What follows from who is there, who is gone, and who holds the lease."""

    def serve(self) -> None:
        """The lease is ours."""

    def yielded(self) -> None:
        """It no longer is."""

    def recalled(self) -> None:
        """We were leaving, and so is everybody else: somebody has to stay until all have left."""

    def lost(self, worker: str) -> None:
        """A worker is gone, or was, and has let go of its turns."""

    def cut_off(self) -> None:
        """We are: the others stand in for us."""

    def met_steady(self) -> None:
        """Somebody is there who was all the time, and knows what is to be done."""

    def welcome(self) -> None:
        """Somebody came who knows nothing yet."""

    def report(self) -> Mapping[str, Any]:
        """What goes with a sign of life."""

    def heard(self, worker: str, generation: int, message: Message) -> None:
        """What came with somebody's."""

    def echoed(self, number: int) -> None:
        """Our own sign of life with this number came back, and all before it that was not lost."""


class _Peer(msgspec.Struct):
    generation: int
    heard: float
    role: str = "joining"
    term: int = 0


class Lease:
    """Keeps up one worker's membership and its part in who holds the lease."""

    def __init__(self, bus: Bus, clock: Clock, worker: str, pace: Pace, duties: Duties) -> None:
        self._bus = bus
        self._clock = clock
        self._pace = pace
        self._duties = duties
        self.worker = worker
        self.generation = 0
        """Counts how often this worker was cut off: what it had to do before is the others'."""
        self.role: Role = "joining"
        self.term = 0
        self.number = 0
        """Of the last sign of life that was sent."""
        self._peers: dict[str, _Peer] = {}
        self._sent: dict[int, float] = {}
        self._confirmed = clock.monotonic()
        """When the last sign of life that came back was sent."""
        self._quiet_until = clock.monotonic()
        self._echoed = clock.monotonic()
        """When it came."""
        self._patient_until = clock.monotonic() + pace.beat
        self._own_term = 0
        """Of the last claim of ours; the highest wins."""
        self._claimed = 0.0
        self._timer: Timer | None = None
        self._subscription = bus.on(topics.WORKER_BEAT, self._heard, name="lease")

    @property
    def serving(self) -> bool:
        """Whether the lease is ours, at this moment."""
        return self.role == "holding" and self.settled

    @property
    def hears(self) -> bool:
        """Whether this worker is connected with the others, if there are any: it has heard itself of late."""
        return self._clock.monotonic() - self._confirmed <= self._pace.fence

    @property
    def settled(self) -> bool:
        """Whether it has heard what there is to hear from the others since it last was deaf."""
        return self.hears and self._clock.monotonic() >= self._quiet_until

    @property
    def valid(self) -> bool:
        """Whether this worker may act: the others take it for alive, or there are none."""
        if self.role == "away":
            return False
        return not self._peers or self.hears

    @property
    def alone(self) -> bool:
        """Whether no other worker is there that stays, as far as is known."""
        return all(peer.role == "leaving" for peer in self._peers.values())

    def alive(self, worker: str, generation: int) -> bool:
        """Whether a worker is there, and has not been cut off since."""
        if worker == self.worker:
            return generation == self.generation
        peer = self._peers.get(worker)
        return peer is not None and peer.generation == generation

    def knows(self, worker: str) -> bool:
        """Whether there is such a worker."""
        return worker == self.worker or worker in self._peers

    def holds(self, worker: object) -> bool:
        """Whether it is this worker that holds the lease, as far as is known."""
        peer = self._peers.get(worker) if isinstance(worker, str) else None
        return peer is not None and peer.role == "holding"

    @property
    def is_steady(self) -> bool:
        """Whether it has heard everything since somebody holds the lease."""
        return self.role in _STEADY

    @property
    def has_holder(self) -> bool:
        """Whether somebody else holds the lease."""
        return any(peer.role == "holding" for peer in self._peers.values())

    def start(self) -> None:
        """Say that we are here, and ask who else is."""
        self._patient_until = self._clock.monotonic() + self._pace.beat
        self._send(hello=True)
        self._tick_later()

    def take_at_once(self) -> None:
        """Hold the lease without waiting whether somebody else does; for whoever knows that nobody can."""
        self.role = "holding"
        self._own_term = self.term = self.term + 1
        self._send()
        self._duties.serve()

    def resign(self) -> None:
        """Hold the lease no longer, and claim it no more."""
        held = self.role == "holding"
        self.role = "leaving"
        if held:
            self._duties.yielded()
        self._send()

    def close(self) -> None:
        """Leave; the others need not wait until they miss us."""
        if self._timer is not None:
            self._timer.cancel()
        self.role = "leaving"
        self._send(gone=True)
        self._subscription.close()

    def check(self) -> bool:
        """Whether this worker may act now; where it may not any more, what follows from that has happened."""
        if self.valid:
            return True
        if self.role != "away":
            self._cut_off()
        return False

    def ask(self) -> None:
        """Have everybody say what they know."""
        self._send(hello=True)

    def _tick_later(self) -> None:
        self._timer = self._clock.after(self._pace.beat, self._tick)

    def _tick(self) -> None:
        now = self._clock.monotonic()
        if self.check():
            for worker, peer in list(self._peers.items()):
                if now - peer.heard > self._pace.lost:
                    self._forget(worker)
            self._stay()
        self._send(hello=self.role == "away")
        self._elect()
        self._tick_later()

    def _send(self, *, hello: bool = False, gone: bool = False) -> None:
        self.number += 1
        self._sent[self.number] = self._clock.monotonic()
        told = {
            "worker": self.worker,
            "generation": self.generation,
            "number": self.number,
            "role": self.role,
            "term": self._own_term if self.role in ("claiming", "holding") else self.term,
            "hello": hello,
            "gone": gone,
        }
        self._bus.emit(Message(topics.WORKER_BEAT, {**told, **self._duties.report()}))

    def _heard(self, message: Message) -> None:
        data = message.data
        worker, generation, number = data.get("worker"), data.get("generation"), data.get("number")
        if type(worker) is not str or type(generation) is not int or type(number) is not int:
            return
        if worker != self.worker:
            self._heard_peer(worker, generation, message)
        elif generation == self.generation and number in self._sent:
            self._heard_ourselves()
            self._confirmed = self._sent[number]
            self._sent = {later: sent for later, sent in self._sent.items() if later > number}
            if self.role == "away":
                self._back()
            self._duties.echoed(number)

    def _heard_ourselves(self) -> None:
        now = self._clock.monotonic()
        if now - self._echoed > self._pace.deaf:
            self._quiet_until = now + self._pace.settle
            self._send(hello=True)
            for peer in self._peers.values():  # that we did not hear them says nothing about them
                peer.heard = now
        self._echoed = now

    def _heard_peer(self, worker: str, generation: int, message: Message) -> None:
        data = message.data
        known = self._peers.get(worker)
        if data.get("gone"):
            self._forget(worker)
            self._stay()
            self._elect()
            return
        if known is not None and generation != known.generation:
            if generation < known.generation:
                return
            self._duties.lost(worker)
        role, term = str(data.get("role")), data.get("term")
        peer = _Peer(generation, self._clock.monotonic(), role, term if type(term) is int else 0)
        self._peers[worker] = peer
        self.term = max(self.term, peer.term)
        self._duties.heard(worker, generation, message)
        if self.role == "away":
            return
        if role in _STEADY:
            self._duties.met_steady()
        if role in ("claiming", "holding"):
            self._meet(worker, peer)
        elif self.role in ("joining", "following"):
            self._elect()
        elif role == "leaving":
            self._stay()
        if data.get("hello"):
            self._send()
            self._duties.welcome()

    def _meet(self, worker: str, peer: _Peer) -> None:
        """Somebody holds the lease or claims it: of two, one yields, and both know which."""
        if self.role not in ("claiming", "holding"):
            if peer.role == "holding" and self.role != "leaving":
                self.role = "following"
            return
        if self.role != peer.role:
            theirs = peer.role == "holding"
        else:
            theirs = (-peer.term, worker) < (-self._own_term, self.worker)
        if not theirs:
            self._send()  # for whoever has not heard of us
            return
        held = self.role == "holding"
        self.role = "following"
        if held:
            self._duties.yielded()
            self._send(hello=True)

    def _stay(self) -> None:
        """Of workers that leave at the same time, one does so last."""
        if self.role == "leaving" and self.alone and all(self.worker < worker for worker in self._peers):
            self.role = "following"
            self._duties.recalled()
            self._elect()

    def _elect(self) -> None:
        """Claim the lease when nobody has it and it is ours to claim."""
        now = self._clock.monotonic()
        if self.role not in ("joining", "following") or now < self._patient_until:
            return
        candidates = [worker for worker, peer in self._peers.items() if peer.role not in ("leaving", "away")]
        roles = {self._peers[worker].role for worker in candidates}
        if roles & {"claiming", "holding"}:
            return
        if "following" in roles:  # these were here all the time: whoever was not leaves it to them
            if self.role == "joining":
                return
            candidates = [worker for worker in candidates if self._peers[worker].role == "following"]
        elif self.role == "following":
            candidates = []
        if all(self.worker < worker for worker in candidates):
            self.role = "claiming"
            self._own_term = self.term = self.term + 1
            self._claimed = now
            self._send()
            self._clock.after(self._pace.settle, self._take)

    def _take(self) -> None:
        """Nobody objected to our claim, if it was heard."""
        if self.role != "claiming":
            return
        if self._confirmed < self._claimed or not self.settled:  # not even by ourselves
            self._clock.after(self._pace.settle, self._take)
            return
        self.role = "holding"
        self._send()
        self._duties.serve()

    def _forget(self, worker: str) -> None:
        if self._peers.pop(worker, None) is not None:
            self._duties.lost(worker)

    def _cut_off(self) -> None:
        held = self.role == "holding"
        self.role = "away"
        self.generation += 1
        self._sent.clear()
        if held:
            self._duties.yielded()
        self._duties.cut_off()

    def _back(self) -> None:
        """We hear ourselves again: as somebody who just came."""
        now = self._clock.monotonic()
        self.role = "joining"
        self._patient_until = now + self._pace.beat
        for peer in self._peers.values():
            peer.heard = now
            peer.role = "joining"  # what they were when we heard them last counts no more
        self._send(hello=True)
