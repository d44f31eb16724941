"""Utterances from a queue at the broker, shared by any number of workers: each ends once, whoever is killed.

An utterance stays in the queue until its end marker is stored; a worker that has it reports so, and another one gets it
when these reports stop. The log refuses a second marker, and a second start of a handler, so that two workers with the
same turn do no harm. docs/decisions/0017-turns-on-jetstream.md has the rules.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, Final

import msgspec

from hark.bus import Bus
from hark.bus.nats import Delivery, JetStreamError, KeyValue, StoredEntry, TurnStreams, WrongRevision
from hark.model import Clock, MalformedMessage, Message, Session, decode, encode
from hark.model.session_merge import three_way_merge
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.understand.dispatches import Dispatches
from hark.understand.options import Options
from hark.understand.remote_dispatches import RemoteDispatches
from hark.understand.store import DefaultSession
from hark.understand.turn_source import TurnTaker

log = logging.getLogger("hark.understand")

_BEAT: Final = 0.5
"""Seconds, of real time as all here, between two reports that a turn is open, and between two renewals of the lease."""
_LOOK: Final = 0.25
"""Seconds between two looks at a lease that another worker holds."""
_LAST: Final = 5.0
"""Seconds in which the last markers have to be stored when this process ends."""
_KEY: Final = "default"
_FREE: Final = b"free"
_APPLIED: Final = 256
"""Turns that are remembered as applied to the default session."""


class JetStreamTurns:
    """The `TurnSource` of one worker. Named sessions are stateless: any worker takes their utterances. Those of the
    default session are taken by the worker that holds its lease.
    """

    def __init__(
        self, streams: TurnStreams, bus: Bus, restored: Session | None = None, *, hands_over: bool = True
    ) -> None:
        self.worker = os.urandom(6).hex()
        self._streams = streams
        self._bus = bus
        self.hands_over = hands_over
        """Whether open turns are left to other workers at the end; else they end here."""
        self._lease = Lease(streams.lease, self.worker)
        self.store = SharedSession(streams.session, self.worker, restored, self._lease.look)
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

    def dispatches(self, bus: Bus, clock: Clock, options: Options) -> Dispatches:
        self._dispatches = RemoteDispatches(bus, clock, options, self._streams)
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
        frames = [encode(message) for message in (closing, marker) if message is not None]
        if closing is not None and not self._streams.fits(frames):
            self._bus.emit(closing)
            del frames[0]
        if not await self._streams.end(key, frames):
            log.info("turn %s had been ended by another worker", key)
        self._acknowledge(key)

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
        found = await self._bucket.get(_KEY)
        if found is not None and found.data != _FREE:
            self.is_held = found.data == self._value
            if self.is_held:
                self._revision = found.sequence
            return self.is_held
        try:
            self._revision = await self._bucket.set(_KEY, self._value, found.sequence if found is not None else 0)
            self.is_held = True
        except WrongRevision:
            self.is_held = False
        return self.is_held

    async def renew(self) -> bool:
        """Hold it for longer; whether it was still held."""
        try:
            self._revision = await self._bucket.set(_KEY, self._value, self._revision)
        except WrongRevision:
            self.is_held = False
        return self.is_held

    async def release(self) -> None:
        """Leave it to another worker, at once."""
        if self.is_held:
            self.is_held = False
            try:
                await asyncio.wait_for(self._bucket.set(_KEY, _FREE, self._revision), _LAST)
            except (WrongRevision, TimeoutError) as error:
                log.warning("the lease of the default session was not released: %s", error)


class _Value(msgspec.Struct):
    """What is stored of the default session."""

    session: msgspec.Raw
    applied: list[str] = []
    """The keys of turns that have changed it, the latest last."""
    by: str = ""
    """The worker that has written it."""


_decode_value = msgspec.json.Decoder(_Value).decode


class SharedSession(DefaultSession):
    """The default session as a key at the broker, written against its revision. Every worker reads what it becomes."""

    owned = False

    def __init__(
        self, bucket: KeyValue, worker: str, restored: Session | None, holds_lease: Callable[[], Awaitable[bool]]
    ) -> None:
        super().__init__(restored)
        self._holds_lease = holds_lease
        self._bucket = bucket
        self._worker = worker
        self._base = self.current
        """As it is at the broker, as far as is known."""
        self._revision = 0
        self._applied: deque[str] = deque(maxlen=_APPLIED)
        self._changes = 0
        self._stored = 0
        """How many of the changes are stored."""
        self._writing: asyncio.Task[None] | None = None
        self._reader = bucket.watch(_KEY, self._became)
        self._is_read = False

    @property
    def is_dirty(self) -> bool:
        """Whether there are changes to be stored."""
        return self._stored < self._changes

    @property
    def is_writing(self) -> bool:
        """Whether changes are being stored."""
        return self._writing is not None and not self._writing.done()

    def open(self, carrier: Session) -> Session:
        before = self.current
        now = super().open(carrier)
        self._note(before, now)
        return now

    def bring(self, base: Session, now: Session) -> Session:
        before = self.current
        result = super().bring(base, now)
        self._note(before, result)
        return result

    def saved(self) -> None:
        if self.is_dirty:
            self._write_soon()

    def has_applied(self, utterance_id: str) -> bool:
        return utterance_id in self._applied

    def apply(self, utterance_id: str) -> None:
        """What comes of a turn is in the session from now on."""
        self._applied.append(utterance_id)
        self._changes += 1
        self._write_soon()

    async def written(self) -> None:
        """Wait until the changes so far are stored."""
        while self.is_dirty:
            self._write_soon()
            if self._writing is not None:
                await asyncio.wait([self._writing])

    async def load(self) -> None:
        """Take the session as it is at the broker in place of what is known here."""
        found = await self._bucket.get(_KEY)
        if found is not None:
            self._take(found)
            self.current = self._base
            self._stored = self._changes
        if not self._is_read:
            self._is_read = True
            await self._reader.open(self._revision)

    async def is_current(self) -> bool:
        """Whether no other worker has written it since it was written here."""
        found = await self._bucket.get(_KEY)
        return found is None or found.sequence == self._revision

    async def own(self) -> None:
        """Write it as the worker that holds the lease."""
        self.owned = True
        self._changes += 1
        await self.written()

    def close(self) -> None:
        """Read and write no more."""
        self._reader.close()
        if self._writing is not None:
            self._writing.cancel()

    def _note(self, before: Session, now: Session) -> None:
        if before is not now and before != now:
            self._changes += 1

    def _write_soon(self) -> None:
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._write())

    async def _write(self) -> None:
        while self.is_dirty:
            changes, current = self._changes, self.current
            value = _Value(msgspec.Raw(msgspec.json.encode(current.wire())), list(self._applied), self._worker)
            try:
                self._revision = await self._bucket.set(_KEY, msgspec.json.encode(value), self._revision)
            except WrongRevision:
                if self.owned and not await self._holds_lease():
                    self.owned = False  # what is not stored is for the next holder, which has these turns now
                    self._changes = self._stored
                    return
                found = await self._bucket.get(_KEY)
                if found is None:
                    self._revision = 0
                elif found.sequence != self._revision:
                    self._merge(found)
                continue
            self._base, self._stored = current, changes

    def _became(self, entry: StoredEntry) -> None:
        """It was written, perhaps by another worker."""
        if entry.sequence <= self._revision:
            return
        if _decode_value(entry.data).by != self._worker:
            self._merge(entry)

    def _merge(self, entry: StoredEntry) -> None:
        """Bring what was changed here and is not stored to what another worker has stored."""
        base, here = self._base, self.current
        self._take(entry)
        self.current = three_way_merge(self._base, base, here)

    def _take(self, entry: StoredEntry) -> None:
        value = _decode_value(entry.data)
        self._base = Session.read(msgspec.json.decode(value.session))
        self._revision = entry.sequence
        self._applied = deque([*value.applied], maxlen=_APPLIED)
