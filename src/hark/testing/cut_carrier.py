"""A way to the broker in memory that can be cut, for tests of what happens then."""

from __future__ import annotations

from hark.bus import Exchange
from hark.model import Clock
from hark.testing.memory_broker import MemoryBroker, MemoryCarrier


class CutCarrier(MemoryCarrier):
    """While it is cut, nothing comes and what is sent waits; it goes out afterwards unless it is too old."""

    def __init__(self, exchange: Exchange[MemoryCarrier, bytes], clock: Clock, patience: float) -> None:
        super().__init__(exchange)
        self._clock = clock
        self._patience = patience
        self._followed: dict[tuple[str, str], None] = {}
        self._unsent: list[tuple[float, str, bytes]] = []
        self.is_cut = False

    @classmethod
    def to(cls, broker: MemoryBroker, clock: Clock, patience: float = 1.0) -> CutCarrier:
        """One more way to a broker."""
        return cls(broker.exchange, clock, patience)

    def send(self, topic: str, frame: bytes) -> None:
        """As promised by `Carrier`."""
        if self.is_cut:
            self._unsent.append((self._clock.monotonic(), topic, frame))
        else:
            super().send(topic, frame)

    def follow(self, topic: str, group: str = "") -> None:
        """As promised by `Carrier`."""
        self._followed[topic, group] = None
        if not self.is_cut:
            super().follow(topic, group)

    def unfollow(self, topic: str, group: str = "") -> None:
        """As promised by `Carrier`."""
        self._followed.pop((topic, group), None)
        super().unfollow(topic, group)

    def cut(self) -> None:
        """Break the connection; what is under way is lost."""
        self.is_cut = True
        self._exchange.leave(self)

    def mend(self) -> None:
        """Connect again, as a carrier does by itself."""
        if not self.is_cut:
            return
        self.is_cut = False
        self._exchange.join(self)
        for topic, group in self._followed:
            super().follow(topic, group)
        unsent, self._unsent = self._unsent, []
        for since, topic, frame in unsent:
            if self._clock.monotonic() - since < self._patience:
                super().send(topic, frame)

    def _arrived(self, frame: bytes, way: str) -> None:
        if not self.is_cut:
            super()._arrived(frame, way)
