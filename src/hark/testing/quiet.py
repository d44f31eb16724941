"""Waiting for a network in tests whose time stands still."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from hark.bus import Carrier, Receive
from hark.bus.nats import NatsCarrier
from hark.testing.clock import also_wait_for
from hark.understand import TurnSource

_PATIENCE: Final = 2.0
"""Seconds, of real time, for which entries that no process reads are waited for."""


class QuietCarrier:
    """Another carrier, for which `settle` waits: until what was sent has come back, and nothing comes any more.

    `RemoteBus(QuietCarrier(WebSocketCarrier(...)))`. Works with every carrier that keeps to what `flush` promises.
    """

    def __init__(self, carrier: Carrier) -> None:
        self.inner = carrier
        self._moved = 0
        """Frames sent and received, and topics followed."""
        self._seen = 0
        self._receive: Receive | None = None
        self._end = also_wait_for(self._arrive)

    async def open(self, receive: Receive) -> None:
        """As promised by `Carrier`."""
        self._receive = receive
        await self.inner.open(self._received)

    def send(self, topic: str, frame: bytes) -> None:
        """As promised by `Carrier`."""
        self._moved += 1
        self.inner.send(topic, frame)

    def follow(self, topic: str, group: str = "") -> None:
        """As promised by `Carrier`."""
        self._moved += 1
        self.inner.follow(topic, group)

    def unfollow(self, topic: str, group: str = "") -> None:
        """As promised by `Carrier`."""
        self._moved += 1
        self.inner.unfollow(topic, group)

    async def flush(self) -> None:
        """As promised by `Carrier`."""
        await self.inner.flush()

    async def close(self) -> None:
        """As promised by `Carrier`."""
        self._end()
        await self.inner.close()

    def _received(self, frame: bytes, via: str | None) -> None:
        self._moved += 1
        if self._receive is not None:
            self._receive(frame, via)

    async def _flush(self) -> None:
        flushing = asyncio.ensure_future(self.inner.flush())
        # A carrier that lost its broker would wait for the clock, which waits for this.
        while not flushing.done() and getattr(self.inner, "connected", True):
            await asyncio.wait({flushing}, timeout=0.05)
        flushing.cancel()
        with suppress(ConnectionError, asyncio.CancelledError):
            await flushing

    async def _arrive(self) -> bool:
        """Whether anything moved since the last look; then it has arrived by now."""
        if self._receive is not None:
            await self._flush()
        moved, self._seen = self._moved != self._seen, self._moved
        return moved


class QuietStreams:
    """Says when nothing is under way in the streams of one assistant: utterances taken, markers stored and read."""

    def __init__(self, carriers: Sequence[NatsCarrier], workers: Sequence[TurnSource]) -> None:
        self._carriers = carriers
        self._workers: Sequence[Any] = workers

    async def arrive(self) -> bool:
        """Whether something was under way; then it has arrived by now."""
        loop = asyncio.get_running_loop()
        until, was_busy = loop.time() + _PATIENCE, False
        while self._is_busy() and loop.time() < until:
            was_busy = True
            await asyncio.sleep(0.001)
        return was_busy and loop.time() < until

    def _is_busy(self) -> bool:
        streams = [carrier.streams for carrier in self._carriers if carrier.connected]
        stored = max((one.stored for one in streams), default=0)
        return (
            any(not one.is_quiet or one.jetstream.storing or one.read < stored for one in streams)
            or sum(one.published for one in streams) > sum(worker.taken for worker in self._workers)
            or any(worker.is_finishing for worker in self._workers)
        )
