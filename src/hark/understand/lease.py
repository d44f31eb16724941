"""Who of several workers holds the default session: one, for as long as the others hear from it.

A worker that has not heard itself for two beats acts no more, and says so when it can; the others miss it after five,
so what it had to do is never done twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, Protocol

from hark.bus import Bus
from hark.model import Clock, Message, Timer
from hark.spec import topics
from hark.understand.pace import Pace
from hark.understand.presence import Peer, Presence

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


class Lease:
    """Shows one worker's life, and takes its part in who holds the lease."""

    def __init__(self, bus: Bus, clock: Clock, presence: Presence, pace: Pace, duties: Duties) -> None:
        self._bus = bus
        self._clock = clock
        self._pace = pace
        self._presence = presence
        self._duties = duties
        self.worker = presence.worker
        self.role: Role = "joining"
        self.term = 0
        self._patient_until = clock.monotonic() + pace.beat
        self._own_term = 0
        """Of the last claim of ours; the highest wins."""
        self._claimed = 0.0
        self._timer: Timer | None = None
        self._subscription = bus.on(topics.WORKER_BEAT, self._heard, name="lease")

    @property
    def serving(self) -> bool:
        """Whether the lease is ours, at this moment."""
        return self.role == "holding" and self._presence.settled

    @property
    def is_steady(self) -> bool:
        """Whether this worker has heard everything since somebody holds the lease."""
        return self.role in _STEADY

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
        self._give_way("leaving")
        self._send()

    def close(self) -> None:
        """Leave; the others need not wait until they miss us."""
        if self._timer is not None:
            self._timer.cancel()
        self.role = "leaving"
        self._send(gone=True)
        self._subscription.close()

    def check(self) -> bool:
        """Whether this worker may act now: the others take it for alive, or there are none.

        Where it may not any more, what follows from that has happened.
        """
        if self.role != "away":
            if not self._presence.peers or self._presence.hears:
                return True
            self._cut_off()
        return False

    def _tick_later(self) -> None:
        self._timer = self._clock.after(self._pace.beat, self._tick)

    def _tick(self) -> None:
        if self.check():
            for worker in self._presence.missed():
                self._forget(worker)
            self._stay()
        self._send(hello=self.role == "away")
        self._elect()
        self._tick_later()

    def _send(self, *, hello: bool = False, gone: bool = False) -> None:
        told = {
            "worker": self.worker,
            "generation": self._presence.generation,
            "number": self._presence.sending(),
            "role": self.role,
            "term": self._own_term if self.role in ("claiming", "holding") else self.term,
            "hello": hello,
            "gone": gone,
        }
        self._bus.emit(Message(topics.WORKER_BEAT, {**told, **self._duties.report()}))

    def _heard(self, message: Message) -> None:
        if (known := _identity(message.data)) is None:
            return
        worker, generation, number = known
        if worker != self.worker:
            self._heard_peer(worker, generation, message)
        elif self._presence.is_ours(generation, number):
            if self._presence.was_deaf():
                self._send(hello=True)
            self._presence.confirm(number)
            if self.role == "away":
                self._back()
            self._duties.echoed(number)

    def _heard_peer(self, worker: str, generation: int, message: Message) -> None:
        data, peers = message.data, self._presence.peers
        known = peers.get(worker)
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
        peer = peers[worker] = Peer(generation, self._clock.monotonic(), role, term if type(term) is int else 0)
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

    def _meet(self, worker: str, peer: Peer) -> None:
        """Somebody holds the lease or claims it: of two, one yields, and both know which."""
        if self.role not in ("claiming", "holding"):
            if peer.role == "holding" and self.role != "leaving":
                self.role = "following"
            return
        theirs = (peer.role != "holding", -peer.term, worker)
        if (self.role != "holding", -self._own_term, self.worker) < theirs:
            self._send()  # for whoever has not heard of us
            return
        if self._give_way("following"):
            self._send(hello=True)

    def _stay(self) -> None:
        """Of workers that leave at the same time, one does so last."""
        if self.role == "leaving" and self._presence.alone and all(self.worker < peer for peer in self._presence.peers):
            self.role = "following"
            self._duties.recalled()
            self._elect()

    def _elect(self) -> None:
        """Claim the lease when nobody has it and it is ours to claim."""
        now = self._clock.monotonic()
        if self.role not in ("joining", "following") or now < self._patient_until:
            return
        if self._presence.is_next(was_here=self.role == "following"):
            self.role = "claiming"
            self._own_term = self.term = self.term + 1
            self._claimed = now
            self._send()
            self._clock.after(self._pace.settle, self._take)

    def _take(self) -> None:
        """Nobody objected to our claim, if it was heard."""
        if self.role != "claiming":
            return
        if not self._presence.heard_since(self._claimed) or not self._presence.settled:  # not even by ourselves
            self._clock.after(self._pace.settle, self._take)
            return
        self.role = "holding"
        self._send()
        self._duties.serve()

    def _give_way(self, role: Role) -> bool:
        """Take on a role other than that of the holder; whether we were."""
        held = self.role == "holding"
        self.role = role
        if held:
            self._duties.yielded()
        return held

    def _forget(self, worker: str) -> None:
        if self._presence.peers.pop(worker, None) is not None:
            self._duties.lost(worker)

    def _cut_off(self) -> None:
        self._give_way("away")
        self._presence.cut_off()
        self._duties.cut_off()

    def _back(self) -> None:
        """We hear ourselves again: as somebody who just came."""
        self.role = "joining"
        self._patient_until = self._clock.monotonic() + self._pace.beat
        self._presence.start_over()
        self._send(hello=True)


def _identity(data: Mapping[str, Any]) -> tuple[str, int, int] | None:
    """Whose sign of life it is, and which; None if it is none."""
    worker, generation, number = data.get("worker"), data.get("generation"), data.get("number")
    if type(worker) is str and type(generation) is int and type(number) is int:
        return worker, generation, number
    return None
