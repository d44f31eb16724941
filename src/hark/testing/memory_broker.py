"""A broker that is only a table in memory, for tests of what runs in several processes elsewhere."""

from __future__ import annotations

import asyncio

from hark.bus import Exchange, Receive


class MemoryBroker:
    """`RemoteBus(MemoryBroker().carrier())`: buses that share a broker without a network."""

    def __init__(self) -> None:
        self.exchange: Exchange[MemoryCarrier, bytes] = Exchange()

    def carrier(self) -> MemoryCarrier:
        """A way to this broker, for one bus."""
        return MemoryCarrier(self.exchange)


class MemoryCarrier:
    """See `Carrier` for what it promises; frames arrive in the event loop's next round, as over a network."""

    def __init__(self, exchange: Exchange[MemoryCarrier, bytes]) -> None:
        self._exchange = exchange
        self._receive: Receive | None = None
        self._closed = False
        exchange.join(self)

    async def open(self, receive: Receive) -> None:
        """As promised by `Carrier`."""
        self._receive = receive

    def send(self, topic: str, frame: bytes) -> None:
        """As promised by `Carrier`."""
        if not self._closed:
            self._exchange.publish(topic, frame)

    def follow(self, topic: str, group: str = "") -> None:
        """As promised by `Carrier`."""
        self._exchange.follow(self, topic, group)

    def unfollow(self, topic: str, group: str = "") -> None:
        """As promised by `Carrier`."""
        self._exchange.unfollow(self, topic, group)

    async def flush(self) -> None:
        """As promised by `Carrier`."""
        await asyncio.sleep(0)

    async def close(self) -> None:
        """As promised by `Carrier`."""
        self._closed = True
        self._exchange.leave(self)
        self._receive = None

    def deliver(self, _topic: str, frame: bytes, way: str) -> None:
        """See `Subscriber`."""
        asyncio.get_running_loop().call_soon(self._arrived, frame, way)

    def _arrived(self, frame: bytes, way: str) -> None:
        if self._receive is not None:
            self._receive(frame, way)
