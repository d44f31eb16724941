"""The bus inside one process, and the same through the codec."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from threading import get_ident
from typing import Final

from hark.bus.delivery import (
    ActiveListeners,
    ListenerGroup,
    LocalSubscription,
    NotBegun,
    start_eagerly,
)
from hark.bus.protocols import Listener
from hark.model import Message, decode, encode
from hark.model.frozen import Frozen
from hark.spec import topics

log = logging.getLogger("hark.bus")

_BATCH: Final = 64
"""Deliveries in one go before the event loop gets to do other things."""

_LAST_ROUNDS: Final = 1_000
"""Rounds of the event loop that listeners are given to end, once they are cancelled."""


def rejection_of(message: Message, warn: Callable[..., None] = log.warning) -> Message | None:
    """What is emitted in place of `message` when its session is malformed; None when it may pass (SESSION-1 §2.5).

    An utterance passes all the same: it gets its end marker. This is asked once, where a Message enters the bus;
    receivers do not ask again. `warn` logs what was dropped.
    """
    if message.malformed_session is None or message.type == topics.UTTERANCE_HANDLE:
        return None
    warn("bus: dropped %s: its session is a %s", message.type, message.malformed_session)
    kept = {"utterance_id": message.utterance_id} if message.utterance_id else {}
    return Message(topics.SESSION_REJECTED, Frozen(msg_type=message.type, reason="malformed_carrier"), kept)


class LocalBus:
    """Delivers Messages inside one process, on the event loop it was made on. See `Bus` for what it promises."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = get_ident()
        self._topics: dict[str, tuple[LocalSubscription | ListenerGroup, ...]] = {}
        self._taps: tuple[Callable[[Message], None], ...] = ()
        self._pending: deque[tuple[LocalSubscription, Message]] = deque()
        """Deliveries to come, in the order of emission: also a listener to several topics sees that order."""
        self._pumping = False
        """Whether a delivery is going on: what listeners emit meanwhile comes after it."""
        self._scheduled = False
        """Whether the loop has been asked to go on with what is pending."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._active = ActiveListeners()
        self._closed = False

    @property
    def is_foreign(self) -> bool:
        """See `Bus`."""
        return False

    async def open(self) -> None:
        """Connect to other processes, for a bus that has any."""

    @property
    def topics(self) -> frozenset[str]:
        """The topics that have a listener."""
        return frozenset(self._topics)

    @property
    def pending(self) -> int:
        """How many deliveries are to come."""
        return len(self._pending)

    def emit(self, message: Message) -> None:
        """See `Bus`."""
        if get_ident() == self._thread:
            self._route(message)
            # Here and not in a moment: a trip through the event loop costs as much as ten deliveries.
            if not self._pumping and self._pending:
                self._pump()
        else:
            self.post(message)

    def post(self, message: Message) -> None:
        """See `Bus`."""
        if get_ident() != self._thread:
            if not self._closed:
                self._loop.call_soon_threadsafe(self.emit, message)
            return
        self._route(message)
        if self._pending and not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._pump_later)

    def on(
        self,
        topic: str | Sequence[str],
        listener: Listener,
        *,
        name: str = "",
        concurrent: bool = False,
        eager: bool = False,
        group: str | None = None,
    ) -> LocalSubscription:
        """See `Bus`."""
        names = (topic,) if isinstance(topic, str) else tuple(topic)
        for one in names:
            if not topics.is_topic(one):
                raise ValueError(f"{one!r} is no topic")
        subscription = LocalSubscription(names, listener, name, concurrent or eager, eager, self._detach)
        for one in names:
            self._attach(one, subscription, group)
        return subscription

    def _attach(self, topic: str, subscription: LocalSubscription, group: str | None) -> None:
        present = self._topics.get(topic, ())
        if group is None:
            self._topics[topic] = (*present, subscription)
            return
        groups = (target for target in present if isinstance(target, ListenerGroup))
        shared = next((target for target in groups if target.name == group), None)
        if shared is None:
            shared = ListenerGroup(group)
            self._topics[topic] = (*present, shared)
        shared.members.append(subscription)

    def _detach(self, subscription: LocalSubscription) -> None:
        for topic in subscription.topics:
            targets: list[LocalSubscription | ListenerGroup] = []
            for target in self._topics.get(topic, ()):
                if isinstance(target, ListenerGroup):
                    if subscription in target.members:
                        target.members.remove(subscription)
                    if target.members:
                        targets.append(target)
                elif target is not subscription:
                    targets.append(target)
            if targets:
                self._topics[topic] = tuple(targets)
            else:
                self._topics.pop(topic, None)

    def tap(self, watcher: Callable[[Message], None]) -> Callable[[], None]:
        """See `Bus`."""
        self._taps = (*self._taps, watcher)

        def end() -> None:
            self._taps = tuple(tap for tap in self._taps if tap is not watcher)

        return end

    async def settled(self, patience: float = 5.0) -> list[str]:
        """See `Bus`."""
        return await self._active.wait(self, patience)

    async def close(self) -> None:
        """See `Bus`."""
        self._closed = True
        self._topics.clear()
        self._taps = ()
        self._pending.clear()
        ending = list(self._tasks)
        for task in ending:
            task.cancel()
        for _ in range(_LAST_ROUNDS):  # not for ever: a task can refuse to end
            if all(task.done() for task in ending):
                break
            await asyncio.sleep(0)

    def _route(self, message: Message) -> None:
        rejection = rejection_of(message)
        if rejection is not None:
            message = rejection
        targets = self._topics.get(message.type)
        if self._taps:
            self._show(message)
        for target in targets or ():
            self._queue(target.pick() if isinstance(target, ListenerGroup) else target, message)

    def _show(self, message: Message) -> None:
        for watcher in self._taps:
            try:
                watcher(message)
            except Exception:
                log.exception("bus: a tap failed on %s", message.type)

    def _queue(self, subscription: LocalSubscription, message: Message) -> None:
        subscription.waiting += 1
        if subscription.waiting == 1:
            subscription.reported = 0
        elif subscription.waiting >= subscription.LONG:
            subscription.report_long_queue()
        self._pending.append((subscription, message))

    def _pump(self) -> None:
        """Deliver what is pending, in order; after a batch, let the loop do other things first."""
        self._pumping = True
        pending = self._pending
        try:
            for _ in range(_BATCH):
                if not pending:
                    break
                subscription, message = pending.popleft()
                if subscription.closed:
                    continue
                if not subscription.is_async:
                    subscription.waiting -= 1
                    self._call_now(subscription, message)
                elif subscription.eager:
                    subscription.waiting -= 1
                    self._keep(start_eagerly(self._call(subscription, message), self._loop))
                elif subscription.concurrent:
                    subscription.waiting -= 1
                    self._keep(self._loop.create_task(self._call(subscription, message)))
                else:
                    subscription.queue.append(message)
                    if not subscription.busy:
                        self._serve_later(subscription)
        finally:  # also when the emitter overflowed its stack: nothing else would ever deliver again
            self._pumping = False
            if pending and not self._scheduled:
                self._scheduled = True
                self._loop.call_soon(self._pump_later)

    def _pump_later(self) -> None:
        self._scheduled = False
        if self._pending:
            self._pump()

    def _keep(self, task: asyncio.Task[None] | None) -> None:
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _call_now(self, subscription: LocalSubscription, message: Message) -> None:
        try:
            begun = subscription.listener(message)
            if isinstance(begun, asyncio.Future):
                self._active.begun(begun, subscription.name)
        except BaseException:  # whatever it is, it must not reach the emitter of the Message
            log.exception("bus: %s failed on %s", subscription.name, message.type)

    async def _call(self, subscription: LocalSubscription, message: Message) -> None:
        try:
            await subscription.listener(message)  # type: ignore[misc]
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if self._closed or isinstance(error, NotBegun) or (task is not None and task.cancelling()):
                raise
            log.exception("bus: %s cancelled itself on %s", subscription.name, message.type)
        except BaseException:  # a SystemExit that leaves a task ends the loop
            log.exception("bus: %s failed on %s", subscription.name, message.type)

    def _serve_later(self, subscription: LocalSubscription) -> None:
        subscription.busy = True
        task = self._loop.create_task(self._serve(subscription))
        self._keep(task)
        self._active.begun(task, subscription.name)
        task.add_done_callback(lambda _task: self._served(subscription))

    def _served(self, subscription: LocalSubscription) -> None:
        subscription.busy = False
        # The task may have been cancelled, even before it began: what waits is still to be delivered.
        if subscription.queue and not self._closed:
            self._serve_later(subscription)

    async def _serve(self, subscription: LocalSubscription) -> None:
        """Empty an async listener's queue, one Message after the other."""
        while subscription.queue:
            message = subscription.queue.popleft()
            subscription.waiting -= 1
            await self._call(subscription, message)


class WireBus(LocalBus):
    """A `LocalBus` on which every Message is encoded and decoded on its way, as between processes."""

    def emit(self, message: Message) -> None:
        """See `Bus`."""
        super().emit(decode(encode(message)))

    def post(self, message: Message) -> None:
        """See `Bus`."""
        super().post(decode(encode(message)))
