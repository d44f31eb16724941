"""Utterances from a queue at the broker, shared by any number of workers: each ends once, whichever process is killed.

An utterance stays in the queue until its end marker is stored; a worker that has it reports so, and another one gets it
when these reports stop. The log refuses a second marker, and a second start of a handler, so that two workers with the
same turn do no harm. docs/decisions/0017-turns-on-jetstream.md has the rules.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final

from hark.bus import Bus
from hark.bus.nats import Delivery, JetStreamError, KeyValue, TurnStreams, WrongRevision
from hark.model import Clock, MalformedMessage, Message, Session, decode, encode
from hark.model.session_merge import LARGEST_SESSION
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.understand.dispatches import Dispatches
from hark.understand.programs import Programs
from hark.understand.remote_dispatches import RemoteDispatches
from hark.understand.stored_session import KEY, StoredSession
from hark.understand.turn_source import TurnTaker
from hark.understand.turn_state import TurnOptions

log = logging.getLogger("hark.understand")

_BEAT: Final = 0.5
"""Seconds, of real time as all here, between two reports that a turn is open, and between two renewals of the lease."""
_LOOK: Final = 0.25
"""Seconds between two looks at a lease that another worker holds."""
_LAST: Final = 5.0
"""Seconds in which the last markers have to be stored when this process ends."""
_FREE: Final = b"free"


class JetStreamTurns:
    """The `TurnSource` of one worker. Named sessions are stateless: any worker takes their utterances. Those of the
    default session are taken by the worker that holds its lease.
    """

    def __init__(
        self,
        streams: TurnStreams,
        bus: Bus,
        restored: Session | None = None,
        *,
        hands_over: bool = True,
        largest: int = LARGEST_SESSION,
    ) -> None:
        self.worker = os.urandom(6).hex()
        self._streams = streams
        self._bus = bus
        self.hands_over = hands_over
        """Whether open turns are left to other workers at the end; else they end here."""
        self._lease = Lease(streams.lease, self.worker)
        self.store = StoredSession(streams.session, self.worker, restored, self._lease.look, largest)
        self._open: dict[str, Delivery] = {}
        """The last delivery of each utterance that was not acknowledged, by key."""
        self._of_default: set[str] = set()
        """Those of the default session."""
        self._named = streams.work_queue("named", partial(self._take, is_default=False))
        self._default = streams.work_queue("default", partial(self._take, is_default=True))
        self._tasks: set[asyncio.Task[None]] = set()
        self._finishing: set[asyncio.Task[None]] = set()
        self._dispatches: RemoteDispatches | None = None
        self._leaving = False
        self.taken = 0
        """How many utterances were taken."""
        self._ended = bus.on(topics.UTTERANCE_HANDLED, self._has_ended, name="worker: ended")
        self._taker: TurnTaker

    def attach(self, taker: TurnTaker) -> None:
        self._taker = taker

    def dispatches(self, bus: Bus, clock: Clock, options: Callable[[], TurnOptions], programs: Programs) -> Dispatches:
        self._dispatches = RemoteDispatches(bus, clock, options, programs, self._streams)
        self._streams.on_back.append(self._dispatches.reconnected)
        return self._dispatches

    async def start(self) -> None:
        await self.store.load()
        if await self._lease.look():
            await self._serve()
        self._named.open()
        self._spawn(self._report())
        self._spawn(self._keep_lease())

    def opens(self, dispatch: Message) -> bool:
        """Whether the turn of a dispatch is open here; of one that is open nowhere, whether the lease is held here."""
        key = dispatch.utterance_id or ""
        return key in self._open or (self.store.owned and not self._streams.is_key(key))

    def opened(self, entry: Message) -> None:
        """The queue has it."""

    def dispatched(self, dispatch: Message) -> None:
        """The host that starts the handler notes it."""

    def end(self, utterance_id: str, closing: Message | None, marker: Message) -> None:
        applies = marker.session_id == DEFAULT_SESSION_ID and self.store.is_dirty
        if applies:
            self.store.apply(utterance_id)
        task = self._spawn(self._finish(utterance_id, closing, marker, applies=applies))
        self._finishing.add(task)
        task.add_done_callback(self._finishing.discard)

    async def leave(self) -> None:
        if not self.hands_over:
            return
        self._leaving = True
        self._named.close()
        self._default.close()
        await self._all_stored()
        self._let_go(list(self._open))
        self._taker.abandon(None)
        await self._lease.release()
        await self._streams.flush()

    async def close(self) -> None:
        self._leaving = True
        self._named.close()
        self._default.close()
        await self._all_stored()
        await self._lease.release()
        self.store.close()
        self._ended.close()
        if self._dispatches is not None:
            self._streams.on_back.remove(self._dispatches.reconnected)
            self._dispatches = None
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    @property
    def is_finishing(self) -> bool:
        """Whether turns have ended here whose markers are not stored yet."""
        return bool(self._finishing) or self.store.is_writing

    async def _all_stored(self) -> None:
        if self._finishing:
            await asyncio.wait(self._finishing, timeout=_LAST)

    # Taking.

    def _take(self, delivery: Delivery, *, is_default: bool) -> None:
        key = delivery.key
        if not self._streams.is_key(key):
            log.error("an utterance without a key was dropped: another program has put it into the queue")
            self._streams.acknowledge(delivery)
            return
        if key in self._open:  # open here, or about to end
            self._open[key] = delivery
            self._streams.in_progress(delivery)
            return
        self._open[key] = delivery
        self.taken += 1
        if is_default:
            self._of_default.add(key)
        self._spawn(self._see_through(key, delivery))

    async def _see_through(self, key: str, delivery: Delivery) -> None:
        if delivery.number > 1:
            if await self._streams.has_ended(key):
                self._acknowledge(key)
                return
            noted = await self._streams.note(key)
            host, dispatch = noted if noted is not None else ("", None)
            if dispatch is not None:
                log.info("turn %s goes on here: another worker had it", key)
                await self._taker.resume(dispatch, host)
                return
        try:
            entry = decode(delivery.data)
        except MalformedMessage as error:
            log.error("an utterance that is no Message was dropped: %s", error)
            self._acknowledge(key)
            return
        await self._taker.handle(entry, key)

    async def _finish(self, key: str, closing: Message | None, marker: Message, *, applies: bool) -> None:
        """Store what the turn changed, then how it ended; only then is its utterance taken out of the queue."""
        if applies:
            await self.store.written()
        if key not in self._open or (key in self._of_default and not self.store.owned):
            return  # another worker has it
        frames = self._frames(closing, marker)
        if not await self._streams.end(key, frames):
            log.info("turn %s had been ended by another worker", key)
        self._acknowledge(key)

    def _frames(self, closing: Message | None, marker: Message) -> list[bytes]:
        """What is stored of an ending: both Messages, or as much as one entry can hold."""
        frames = [encode(message) for message in (closing, marker) if message is not None]
        if self._streams.fits(frames):
            return frames
        if not self._streams.fits(frames[-1:]):
            log.error(
                "turn %s: the end marker is too large for the broker; its session is left out", marker.utterance_id
            )
            frames[-1] = encode(marker.carrying(None))
        if closing is not None:
            try:
                self._bus.emit(closing)
            except MalformedMessage as error:
                log.error("turn %s: %s", marker.utterance_id, error)
        return frames[-1:]

    def _has_ended(self, marker: Message) -> None:
        """Another worker may have ended a turn that is open here."""
        key = marker.utterance_id or ""
        if key in self._open:
            self._taker.abandon(key)
            self._acknowledge(key)

    def _acknowledge(self, key: str) -> None:
        delivery = self._open.pop(key, None)
        self._of_default.discard(key)
        if delivery is not None:
            self._streams.acknowledge(delivery)

    def _let_go(self, keys: list[str]) -> None:
        for key in keys:
            delivery = self._open.pop(key, None)
            self._of_default.discard(key)
            if delivery is not None:
                self._streams.hand_over(delivery)

    async def _report(self) -> None:
        while True:
            await asyncio.sleep(_BEAT)
            if self._streams.connected:
                for delivery in self._open.values():
                    self._streams.in_progress(delivery)

    # The lease.

    async def _keep_lease(self) -> None:
        while not self._leaving:
            await asyncio.sleep(_BEAT if self._lease.is_held else _LOOK)
            try:
                await self._look_at_lease()
            except JetStreamError as error:
                log.error("the lease of the default session cannot be looked at: %s", error)

    async def _look_at_lease(self) -> None:
        if not self._default.is_open:
            if await self._lease.look():
                await self._serve()
        elif not await self._lease.renew() and not (await self._lease.look() and await self.store.is_current()):
            await self._lose()

    async def _serve(self) -> None:
        # Written again before anything is taken: what a former holder would still write is refused from now on.
        await self.store.own()
        log.info("worker %s holds the default session", self.worker)
        self._default.open()

    async def _lose(self) -> None:
        log.warning("worker %s has lost the lease of the default session; its turns are handed over", self.worker)
        self.store.owned = False
        self._default.close()
        lost = list(self._of_default)
        self._let_go(lost)
        for key in lost:
            self._taker.abandon(key)
        await self.store.load()
        if self._lease.is_held:  # it was lost and won again, with another holder between
            await self._serve()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("a worker's task failed", exc_info=task.exception())


class Lease:
    """A key that one worker holds as long as it renews it."""

    def __init__(self, bucket: KeyValue, worker: str) -> None:
        self._bucket = bucket
        self._value = f"{worker} {os.getpid()}".encode()
        self._revision = 0
        self.is_held = False

    async def look(self) -> bool:
        """Take the lease where it is free; whether it is held here."""
        found = await self._bucket.get(KEY)
        if found is not None and found.data != _FREE:
            self.is_held = found.data == self._value
            if self.is_held:
                self._revision = found.sequence
            return self.is_held
        try:
            self._revision = await self._bucket.set(KEY, self._value, found.sequence if found is not None else 0)
            self.is_held = True
        except WrongRevision:
            self.is_held = False
        return self.is_held

    async def renew(self) -> bool:
        """Hold it for longer; whether it was still held."""
        try:
            self._revision = await self._bucket.set(KEY, self._value, self._revision)
        except WrongRevision:
            self.is_held = False
        return self.is_held

    async def release(self) -> None:
        """Leave it to another worker, at once."""
        if self.is_held:
            self.is_held = False
            try:
                await asyncio.wait_for(self._bucket.set(KEY, _FREE, self._revision), _LAST)
            except (WrongRevision, TimeoutError) as error:
                log.warning("the lease of the default session was not released: %s", error)
