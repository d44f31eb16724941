"""The bus between processes: the local one, by way of a carrier."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from threading import get_ident
from typing import Final

from hark.bus.delivery import ListenerGroup, LocalSubscription
from hark.bus.local import LocalBus, rejection_of
from hark.bus.protocols import EVERYTHING, Carrier
from hark.model import MalformedMessage, Message, decode, encode
from hark.spec import topics

log = logging.getLogger("hark.bus")

_LOG_EVERY: Final = 1_000
"""Malformed frames for one log line: a bus that does not check what it passes on may bring many."""


class RemoteBus(LocalBus):
    """A bus on which every Message, also one for a listener of this process, goes over its carrier: one order for all.

    `await bus.open()` connects. See `Bus` for what it promises.
    """

    def __init__(self, carrier: Carrier) -> None:
        super().__init__()
        self.carrier = carrier
        self._followed: Counter[tuple[str, str]] = Counter()
        """How many listeners follow each topic, without a group or in each group."""
        self._malformed = 0
        self._closing = False

    @property
    def is_foreign(self) -> bool:
        """See `Bus`."""
        return bool(getattr(self.carrier, "is_foreign", False))

    async def open(self) -> None:
        """Connect to the broker."""
        await self.carrier.open(self.received)

    def emit(self, message: Message) -> None:
        """See `Bus`; raises `MalformedMessage` for what cannot be encoded."""
        message = rejection_of(message) or message
        frame = encode(message)  # here, so that the caller gets the error
        if get_ident() == self._thread:
            self._send(message.type, frame)
        elif not self._closed:
            self._loop.call_soon_threadsafe(self._send, message.type, frame)

    post = emit

    def tap(self, watcher: Callable[[Message], None]) -> Callable[[], None]:
        """See `Bus`."""
        self._follow(EVERYTHING, "")
        end = super().tap(watcher)

        def stop() -> None:
            if watcher in self._taps:
                end()
                self._unfollow(EVERYTHING, "")

        return stop

    async def close(self) -> None:
        """See `Bus`; what was emitted before is sent."""
        self._closing = True
        await self.carrier.close()
        await super().close()

    def _send(self, topic: str, frame: bytes) -> None:
        if not self._closed:
            self.carrier.send(topic, frame)

    def _attach(self, topic: str, subscription: LocalSubscription, group: str | None) -> None:
        super()._attach(topic, subscription, group)
        self._follow(topic, group or "")

    def _detach(self, subscription: LocalSubscription) -> None:
        for topic in subscription.topics:
            for target in self._topics.get(topic, ()):
                if target is subscription:
                    self._unfollow(topic, "")
                elif isinstance(target, ListenerGroup) and subscription in target.members:
                    self._unfollow(topic, target.name)
        super()._detach(subscription)

    def _follow(self, topic: str, group: str) -> None:
        self._followed[topic, group] += 1
        if self._followed[topic, group] == 1 and topic != topics.BUS_AGAIN:  # the carrier itself says that
            self.carrier.follow(topic, group)

    def _unfollow(self, topic: str, group: str) -> None:
        self._followed[topic, group] -= 1
        if not self._followed[topic, group]:
            del self._followed[topic, group]
            if not self._closed and topic != topics.BUS_AGAIN:
                self.carrier.unfollow(topic, group)

    def received(self, frame: bytes, via: str | None) -> None:
        """Deliver a frame that the carrier brought; the carrier calls this."""
        if self._closing:
            return
        try:
            message = decode(frame)
        except MalformedMessage as error:
            self._malformed += 1
            if self._malformed % _LOG_EVERY == 1:
                log.warning("bus: dropped a frame that is not a Message (%d so far): %s", self._malformed, error)
            return
        if message.malformed_session is not None and message.type != topics.UTTERANCE_HANDLE:
            # Where it entered the bus, a warning was logged and `ovos.session.rejected` emitted.
            log.debug("bus: dropped %s: its session is malformed", message.type)
            return
        if self._taps and (via is None or via == EVERYTHING):
            self._show(message)
        if via != EVERYTHING:
            for target in self._topics.get(message.type, ()):
                if isinstance(target, ListenerGroup):
                    if via is None or via == target.name:
                        self._queue(target.pick(), message)
                elif not via:
                    self._queue(target, message)
        if not self._pumping and self._pending:
            self._pump()
