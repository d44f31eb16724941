"""How fast workers notice that one of them is gone."""

from __future__ import annotations

import msgspec


class Pace(msgspec.Struct, frozen=True):
    """Everything is counted in beats, so that it stays in proportion. The decision page on workers has the sums."""

    beat: float = 1.0
    """Seconds between two signs of life of a worker."""

    @property
    def fence(self) -> float:
        """Seconds after which a worker that does not hear itself any more takes itself for gone."""
        return 2 * self.beat

    @property
    def deaf(self) -> float:
        """Seconds without hearing itself after which it may have missed others too; at most two beats of theirs."""
        return 1.2 * self.beat

    @property
    def patience(self) -> float:
        """Seconds for which what a worker sends may wait for a connection."""
        return self.beat

    @property
    def lost(self) -> float:
        """Seconds after which the others take it for gone: when it cannot act any more, nor anything it sent come."""
        return 2 * self.beat + self.fence + self.patience

    @property
    def rescue(self) -> float:
        """Seconds after which an utterance that nobody took is taken by the holder of the lease."""
        return 3.5 * self.beat

    @property
    def offer(self) -> float:
        """Seconds after which one that not even the holder took is told to it: it may not have heard it."""
        return self.rescue + self.beat

    @property
    def recall(self) -> float:
        """Seconds after which a worker asks what became of the turns its former life left: others that know it may
        have to come back themselves.
        """
        return 3 * self.beat

    @property
    def settle(self) -> float:
        """Seconds for which a claim to the lease waits for others."""
        return self.beat / 4
