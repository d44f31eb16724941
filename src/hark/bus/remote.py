"""The bus between processes: the local one, by way of a carrier."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable
from threading import get_ident

from hark.bus.carrier import EVERYTHING, Carrier
from hark.bus.local import LocalBus
from hark.bus.rejection import rejection_of
from hark.bus.subscription import Group, LocalSubscription
from hark.model import MalformedMessage, Message, decode, encode
from hark.spec import topics

log = logging.getLogger("hark.bus")


class RemoteBus(LocalBus):
    """A bus whose every Message, also one for a listener next door, goes over its carrier: one order for everybody.

    `await bus.open()` connects. See `Bus` for what it promises.
    """

    def __init__(self, carrier: Carrier) -> None:
        super().__init__()
        self.carrier = carrier
        self._followed: Counter[tuple[str, str]] = Counter()
        """How many listeners follow each topic, by itself or in each group."""
        self._untaken: deque[str] = deque()
        """The groups by which Messages came whose listeners were not called yet, in order."""
        self._deaf = False
        """Whether it is about to be closed, and delivers nothing more."""

    async def open(self) -> None:
        """Connect to the broker."""
        await self.carrier.open(self._received)

    def emit(self, message: Message) -> None:
        """As promised by `Bus`."""
        message = rejection_of(message) or message
        frame = encode(message)  # here: whoever emits what cannot be sent is told so
        if get_ident() == self._thread:
            self._send(message.type, frame)
        elif not self._closed:
            self._loop.call_soon_threadsafe(self._send, message.type, frame)

    post = emit

    def taken(self, group: str) -> None:
        """As promised by `Bus`."""
        if group in self._untaken:
            self._untaken.remove(group)
            self.carrier.took(group)

    def tap(self, watcher: Callable[[Message], None]) -> Callable[[], None]:
        """As promised by `Bus`."""
        self._follow(EVERYTHING, "")
        end = super().tap(watcher)

        def stop() -> None:
            if watcher in self._taps:
                end()
                self._unfollow(EVERYTHING, "")

        return stop

    async def close(self) -> None:
        """As promised by `Bus`; what was emitted before is sent."""
        self._deaf = True
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
                elif isinstance(target, Group) and subscription in target.members:
                    self._unfollow(topic, target.name)
        super()._detach(subscription)

    def _follow(self, topic: str, group: str) -> None:
        self._followed[topic, group] += 1
        if self._followed[topic, group] == 1:
            self.carrier.follow(topic, group)

    def _unfollow(self, topic: str, group: str) -> None:
        self._followed[topic, group] -= 1
        if not self._followed[topic, group]:
            del self._followed[topic, group]
            if not self._closed:
                self.carrier.unfollow(topic, group)

    def _received(self, frame: bytes, way: str) -> None:
        if self._deaf:
            return
        if way and way != EVERYTHING:
            self._untaken.append(way)
        self._deliver(frame, way)
        if not self._pending:
            self._take_all()

    def _pump_later(self) -> None:
        super()._pump_later()
        if not self._pending:
            self._take_all()

    def _take_all(self) -> None:
        """Everything that came was delivered."""
        while self._untaken:
            self.carrier.took(self._untaken.popleft())

    def _deliver(self, frame: bytes, way: str) -> None:
        try:
            message = decode(frame)
        except MalformedMessage as error:
            log.warning("bus: dropped what is no Message: %s", error)
            return
        if message.malformed_session is not None and message.type != topics.UTTERANCE_HANDLE:
            log.debug("bus: dropped %s: its session is malformed", message.type)  # told by who took it onto the bus
            return
        if way == EVERYTHING:
            self._show(message)
        else:
            for target in self._topics.get(message.type, ()):
                if isinstance(target, Group):
                    if target.name == way:
                        self._queue(target.pick(), message)
                elif not way:
                    self._queue(target, message)
        if not self._pumping and self._pending:
            self._pump()
