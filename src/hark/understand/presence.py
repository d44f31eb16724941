"""Which workers there are, as far as one of them hears, and whether it hears itself.

Every worker shows its life on one topic, and hears itself there as well: the way to the broker and back is what its
right to act hangs on.
"""

from __future__ import annotations

import msgspec

from hark.model import Clock
from hark.understand.pace import Pace


class Peer(msgspec.Struct):
    """Another worker, as it was when it was last heard."""

    generation: int
    heard: float
    role: str = "joining"
    term: int = 0


class Presence:
    """Kept by each worker from all signs of life, its own among them."""

    def __init__(self, clock: Clock, worker: str, pace: Pace) -> None:
        self._clock = clock
        self._pace = pace
        self.worker = worker
        self.generation = 0
        """Counts how often this worker was cut off: what it had to do before is the others'."""
        self.number = 0
        """Of the last sign of life that was sent."""
        self.peers: dict[str, Peer] = {}
        self._sent: dict[int, float] = {}
        self._confirmed = clock.monotonic()
        """When the last sign of life that came back was sent."""
        self._echoed = clock.monotonic()
        """When it came."""
        self._quiet_until = clock.monotonic()

    @property
    def hears(self) -> bool:
        """Whether this worker is connected with the others, if there are any: it has heard itself of late."""
        return self._clock.monotonic() - self._confirmed <= self._pace.fence

    @property
    def settled(self) -> bool:
        """Whether it has heard what there is to hear from the others since it last was deaf."""
        return self.hears and self._clock.monotonic() >= self._quiet_until

    @property
    def alone(self) -> bool:
        """Whether no other worker is there that stays, as far as is known."""
        return all(peer.role == "leaving" for peer in self.peers.values())

    @property
    def has_holder(self) -> bool:
        """Whether somebody else holds the lease."""
        return any(peer.role == "holding" for peer in self.peers.values())

    def alive(self, worker: str, generation: int) -> bool:
        """Whether a worker is there, and has not been cut off since."""
        if worker == self.worker:
            return generation == self.generation
        peer = self.peers.get(worker)
        return peer is not None and peer.generation == generation

    def knows(self, worker: str) -> bool:
        """Whether there is such a worker."""
        return worker == self.worker or worker in self.peers

    def stays(self, worker: str) -> bool:
        """Whether another worker is there and not about to leave."""
        return worker in self.peers and self.peers[worker].role != "leaving"

    def holds(self, worker: object) -> bool:
        """Whether it is this worker that holds the lease, as far as is known."""
        peer = self.peers.get(worker) if isinstance(worker, str) else None
        return peer is not None and peer.role == "holding"

    def is_next(self, *, was_here: bool) -> bool:
        """Whether the lease is ours to claim: nobody has it, nor claims it, and it is our turn.

        Those who were here all the time come before all others; among equals, the lowest id does.
        """
        candidates = {worker: peer.role for worker, peer in self.peers.items() if peer.role not in ("leaving", "away")}
        roles = set(candidates.values())
        if roles & {"claiming", "holding"} or (not was_here and "following" in roles):
            return False
        rivals = (worker for worker, role in candidates.items() if not was_here or role == "following")
        return all(self.worker < worker for worker in rivals)

    def heard_since(self, moment: float) -> bool:
        """Whether something came back that was sent at that moment or later."""
        return self._confirmed >= moment

    def sending(self) -> int:
        """The number of a sign of life that is about to be sent."""
        self.number += 1
        self._sent[self.number] = self._clock.monotonic()
        return self.number

    def is_ours(self, generation: int, number: int) -> bool:
        """Whether we wait for a sign of life to come back."""
        return generation == self.generation and number in self._sent

    def was_deaf(self) -> bool:
        """One of ours comes back: whether, before it did, others may have said what we have not heard."""
        now, deaf = self._clock.monotonic(), False
        if now - self._echoed > self._pace.deaf:
            deaf = True
            self._quiet_until = now + self._pace.settle
            self.count_anew()
        self._echoed = now
        return deaf

    def confirm(self, number: int) -> None:
        """It is this one."""
        self._confirmed = self._sent[number]
        self._sent = {later: sent for later, sent in self._sent.items() if later > number}

    def count_anew(self) -> None:
        """That we did not hear the others says nothing about them."""
        for peer in self.peers.values():
            peer.heard = self._clock.monotonic()

    def start_over(self) -> None:
        """What the others were when we heard them last counts no more."""
        self.count_anew()
        for peer in self.peers.values():
            peer.role = "joining"

    def missed(self) -> list[str]:
        """Who has not been heard for so long that it is gone."""
        now = self._clock.monotonic()
        return [worker for worker, peer in self.peers.items() if now - peer.heard > self._pace.lost]

    def cut_off(self) -> None:
        """Nobody hears us: whatever we sent counts no more."""
        self.generation += 1
        self._sent.clear()
