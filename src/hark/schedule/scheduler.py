"""The scheduler (SCHEDULER-1): keeps schedules for their owners, and emits their events when they are due."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from typing import Any, Final

import msgspec

from hark.bus import Bus, Subscription
from hark.model import Clock, Message, Timer, decode, encode
from hark.schedule.occurrences import MICRO, MOST_LISTED, forget_zones, from_seconds, instant_text
from hark.schedule.record import RejectedRequest, Schedule, accept, replacing
from hark.schedule.store import Key, ScheduleStore, entry_of
from hark.spec import topics
from hark.spec.names import CLIENT, SKILL_ID

log = logging.getLogger("hark.schedule")

CHECK: Final = 30.0
"""Seconds between two looks at the wall clock, which may have been set meanwhile; a machine may have slept."""
STEP: Final = 1.0
"""Seconds by which the wall clock has to differ from the time that has passed to count as set."""
_UNSYNCHRONIZED: Final = 1.0
"""Seconds between two looks at a wall clock that is not set yet."""
_ZONES: Final = 3_600.0
"""Seconds after which the rules of time zones are read again."""
_ALL: Final = "*"
MOST: Final = 500
"""Schedules of one owner."""
MOST_OF_CLIENTS: Final = 2_000
"""Schedules that clients of the bus have asked for, all together: each can have any number of names."""

_decode_context = msgspec.json.Decoder().decode

Identity = Callable[[Message], str | None]
"""Which component has sent a request, where a deployment knows; None where it does not."""


class ScheduleOptions(msgspec.Struct, frozen=True):
    """How a deployment runs its scheduler."""

    wait_for: str = ""
    """A topic that has to be seen after the start before anything is fired."""
    delay: float = 0.0
    """Seconds to wait after the start before anything is fired."""
    grants: Collection[str] = ()
    """Identities that may list and cancel the schedules of all owners."""
    check: float = CHECK
    """Seconds between two looks at the wall clock."""


class Scheduler:
    """Answers requests and fires events. Everything it does, it does one after the other.

    `is_ready`, if given, is awaited after the start before anything is fired.
    """

    def __init__(
        self,
        bus: Bus,
        clock: Clock,
        store: ScheduleStore,
        options: ScheduleOptions | None = None,
        identity: Identity | None = None,
        is_ready: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._bus = bus
        self._clock = clock
        self._store = store
        self._options = options or ScheduleOptions()
        self._identity = identity
        self._is_ready = is_ready
        self._schedules: dict[Key, Schedule] = {}
        self._unsaved: set[Key] = set()
        """Those whose last state the store has refused."""
        self._turn = asyncio.Lock()
        self._poked = asyncio.Event()
        self._timer: Timer | None = None
        self._running: asyncio.Task[None] | None = None
        self._subscriptions: list[Subscription] = []
        self._newest: int | None = None
        """The newest instant that the store knows to be past."""
        self._is_synchronized = True
        self._is_held = False
        """Whether what was replayed waits for a condition."""
        self._offset = 0.0
        self._zones_read = 0.0

    async def start(self) -> None:
        """Load the schedules, announce that the scheduler is there, then fire what is due."""
        await self._load()
        self._offset = self._clock.wall() - self._clock.monotonic()
        self._zones_read = self._clock.monotonic()
        self._is_synchronized = self._newest is None or self._now() >= self._newest
        self._is_held = bool(self._options.wait_for or self._options.delay or self._is_ready)
        for topic, handle in (
            (topics.SCHEDULER_SCHEDULE, self._schedule),
            (topics.SCHEDULER_CANCEL, self._cancel),
            (topics.SCHEDULER_GET, self._get),
            (topics.SCHEDULER_LIST, self._list),
        ):
            self._listen(topic, self._answering(handle))
        self._listen(topics.CLOCK_SYNCED, self._clock_set)
        released = asyncio.Event()
        if self._options.wait_for:
            self._listen(self._options.wait_for, lambda _message: released.set())
        self._announce()
        self._running = asyncio.get_running_loop().create_task(self._run(released), name="scheduler")

    async def close(self) -> None:
        """Fire nothing more."""
        for subscription in self._subscriptions:
            subscription.close()
        if self._running is not None:
            async with self._turn:  # what is being fired is also recorded
                self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)
        if self._timer is not None:
            self._timer.cancel()
        await self._store.close()

    def __iter__(self) -> Iterator[Schedule]:
        """All schedules there are."""
        return iter(list(self._schedules.values()))

    @property
    def is_synchronized(self) -> bool:
        """Whether the wall clock can be relied on."""
        return self._is_synchronized

    async def look(self) -> None:
        """Look at the clocks now, and fire what is due. It is done anyway, in time; tests need not wait."""
        async with self._turn:
            await self._note_time()
        for schedule in sorted(self, key=lambda one: one.next or 0):
            async with self._turn:  # one at a time: requests are answered although there is always something due
                if self._schedules.get(schedule.key) is schedule:
                    await self._evaluate(schedule)
        self._set_timer()

    # Starting.

    async def _load(self) -> None:
        stored = await self._store.load()
        if stored.written is not None:
            self._newest = from_seconds(stored.written)
        for entry in stored.entries:
            if entry.record is None or entry.state is None:
                continue
            try:
                schedule = Schedule(entry.skill_id, entry.record, entry.state)
            except (RejectedRequest, LookupError, ValueError, TypeError) as error:
                log.error("schedule %s of %s cannot be used: %s", entry.id, entry.skill_id, error)
                continue
            self._schedules[schedule.key] = schedule
            if entry.state.last_fired is not None:
                self._newest = max(self._newest or 0, entry.state.last_fired)

    def _announce(self) -> None:
        now = self._now()
        late = 0
        if self._is_synchronized:
            late = sum(1 for schedule in self if schedule.elapses is None and schedule.missed_by(now).total)
        clock = "synchronized" if self._is_synchronized else "unsynchronized"
        data = {"schedules": len(self._schedules), "missed": late, "clock": clock}
        self._bus.emit(Message(topics.SCHEDULER_READY, data))

    async def _run(self, released: asyncio.Event) -> None:
        holding = asyncio.ensure_future(self._released(released)) if self._is_held else None
        try:
            while True:
                await self.look()
                await self._poked.wait()
        finally:
            if holding is not None:
                holding.cancel()

    async def _released(self, seen: asyncio.Event) -> None:
        if self._is_ready is not None:
            await self._is_ready()
        if self._options.delay:
            await self._clock.sleep(self._options.delay)
        if self._options.wait_for:
            await seen.wait()
        self._is_held = False
        self._poked.set()

    def _listen(self, topic: str, listener: Callable[[Message], Any]) -> None:
        self._subscriptions.append(self._bus.on(topic, listener, name=f"scheduler on {topic}", group="scheduler"))

    # Requests.

    def _answering(self, handle: Callable[[str, Message], Awaitable[dict[str, Any]]]) -> Callable[[Message], Any]:
        async def answer(request: Message) -> None:
            async with self._turn:
                try:
                    answered = {"ok": True, **await handle(self._owner(request), request)}
                except RejectedRequest as rejected:
                    log.info("%s was refused: %s", request.type, rejected.reason)
                    answered = {"ok": False, "error": rejected.code, "reason": rejected.reason}
                except Exception as error:
                    log.exception("%s failed", request.type)
                    answered = {"ok": False, "error": "internal", "reason": f"{type(error).__name__}: {error}"}
                self._bus.emit(request.response(answered))
            self._poked.set()

        return answer

    def _owner(self, request: Message) -> str:
        """Whose schedules a request is about; raises `RejectedRequest`."""
        owner = request.context.get(SKILL_ID)
        if not isinstance(owner, str) or not owner:
            raise RejectedRequest("invalid_record", "the context of the request names no skill_id")
        known = self._identity(request) if self._identity is not None else None
        is_granted = known in self._options.grants and request.type in (topics.SCHEDULER_LIST, topics.SCHEDULER_CANCEL)
        if (known is not None and known != owner and not is_granted) or (owner == _ALL and not is_granted):
            raise RejectedRequest("skill_id_mismatch", f"the schedules of {owner!r} are not those of {known or 'this'}")
        return owner

    async def _schedule(self, owner: str, request: Message) -> dict[str, Any]:
        now = self._now()
        made = accept(owner, request.data, _context_of(request), now)
        old = self._schedules.get(made.key)
        if old is not None:
            made = replacing(made, old)
        else:
            self._check_number(made)
        if made.is_relative:
            made.elapses = self._clock.monotonic() + made.record["in"]["seconds"]
        await self._save(made, was_kept=old is not None and not old.is_ephemeral)
        self._schedules[made.key] = made
        due = made.next
        return {
            "id": made.id,
            "skill_id": owner,
            "next": None if due is None else instant_text(due),
            "replaced": old is not None,
        }

    def _check_number(self, made: Schedule) -> None:
        if sum(one.skill_id == made.skill_id for one in self._schedules.values()) >= MOST:
            raise RejectedRequest("invalid_record", f"{made.skill_id[:80]!r} has {MOST} schedules already")
        if CLIENT in made.context and (
            sum(CLIENT in one.context for one in self._schedules.values()) >= MOST_OF_CLIENTS
        ):
            raise RejectedRequest("invalid_record", f"clients have {MOST_OF_CLIENTS} schedules already")

    async def _cancel(self, owner: str, request: Message) -> dict[str, Any]:
        key = owner, _id_in(request)
        schedule = self._schedules.get(key)
        if schedule is None:
            return {"existed": False}
        await self._forget(schedule)
        return {"existed": True}

    async def _get(self, owner: str, request: Message) -> dict[str, Any]:
        schedule = self._schedules.get((owner, _id_in(request)))
        return {"record": None, "state": None} if schedule is None else schedule.described()

    async def _list(self, owner: str, request: Message) -> dict[str, Any]:  # noqa: ARG002 - it has no field
        return {"schedules": [one.described() for one in self if owner in (one.skill_id, _ALL)]}

    def _clock_set(self, _message: Message) -> None:
        """The deployment says that the wall clock is right."""
        self._newest = None
        self._poked.set()

    # Time.

    async def _note_time(self) -> None:
        self._poked.clear()
        self._note_steps()
        if not self._is_synchronized and (self._newest is None or self._now() >= self._newest):
            self._is_synchronized = True
            log.info("the clock is set")
            self._announce()
        for key in list(self._unsaved):
            if key in self._schedules:
                await self._record(self._schedules[key])
            self._unsaved.discard(key)

    def _note_steps(self) -> None:
        elapsed = self._clock.monotonic()
        offset = self._clock.wall() - elapsed
        if abs(offset - self._offset) >= STEP:
            log.warning("the clock was set by %+.1f s: all schedules are looked at again", offset - self._offset)
        self._offset = offset
        if elapsed - self._zones_read >= _ZONES:
            self._zones_read = elapsed
            forget_zones()
            for schedule in self:
                schedule.zones_changed()

    def _now_for(self, schedule: Schedule) -> int:
        """The time by which a schedule is judged: of a delay that began here, what has passed of it."""
        if schedule.elapses is None:
            return self._now()
        return (schedule.state.anchor or 0) + round((self._clock.monotonic() - schedule.elapses) * MICRO)

    def _is_deferred(self, schedule: Schedule) -> bool:
        return schedule.elapses is None and (self._is_held or not self._is_synchronized)

    async def _evaluate(self, schedule: Schedule) -> None:
        """Report what was missed, then fire what is due."""
        due = schedule.next
        now = self._now_for(schedule)
        if due is None or due > now or self._is_deferred(schedule):
            return
        missed = schedule.missed_by(now)
        if missed.total:
            await self._miss(schedule, missed.total, missed.newest)
        for instant in schedule.due_by(now):
            await self._fire(schedule, instant)

    async def _miss(self, schedule: Schedule, count: int, missed: list[int]) -> None:
        state, last = schedule.state, missed[-1]
        state.through, state.consumed = last, state.consumed + count
        following = schedule.next
        data: dict[str, Any] = {
            "id": schedule.id,
            "skill_id": schedule.skill_id,
            "missed": [instant_text(one) for one in missed],
            "fired_late": instant_text(last) if schedule.is_late else None,
            "next": None if following is None else instant_text(following),
        }
        if count > len(missed):
            data["truncated"] = True
        self._bus.emit(_replayed(schedule, topics.SCHEDULER_MISSED, data))
        if schedule.is_late:
            self._emit(schedule, last)
        else:
            state.missed = [*state.missed, *missed][-MOST_LISTED:]
        await self._record(schedule)

    async def _fire(self, schedule: Schedule, due: int) -> None:
        schedule.state.through = due
        schedule.state.consumed += 1
        self._emit(schedule, due)
        await self._record(schedule)

    def _emit(self, schedule: Schedule, due: int) -> None:
        schedule.state.last_fired, schedule.state.missed = due, []
        about = {
            "id": schedule.id,
            "skill_id": schedule.skill_id,
            "due": instant_text(due),
            "fired": instant_text(self._now()),
            "remaining": schedule.remaining,
        }
        self._bus.emit(_replayed(schedule, schedule.event, schedule.data, scheduler=about))

    def _set_timer(self) -> None:
        """Wake up for the next occurrence, and now and then to see whether the clock was set."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waits = []
        for schedule in self._schedules.values():
            due = schedule.next
            if due is None:
                continue
            if self._is_deferred(schedule):
                waits.append(self._options.check if self._is_synchronized else _UNSYNCHRONIZED)
                continue
            wait = max((due - self._now_for(schedule)) / MICRO, 0.0)
            waits.append(wait if schedule.elapses is not None else min(wait, self._options.check))
        if not self._is_synchronized:
            waits.append(_UNSYNCHRONIZED)
        if self._unsaved:
            waits.append(self._options.check)
        if waits:
            self._timer = self._clock.after(min(waits), self._poked.set)

    def _now(self) -> int:
        return from_seconds(self._clock.wall())

    # Keeping.

    async def _save(self, schedule: Schedule, *, was_kept: bool) -> None:
        """Keep what was accepted; raises what the store raises."""
        if not schedule.is_ephemeral:
            await self._store.put(entry_of(schedule, self._clock.wall()))
        elif was_kept:
            await self._store.remove(schedule.key, self._clock.wall())

    async def _forget(self, schedule: Schedule) -> None:
        if not schedule.is_ephemeral:
            await self._store.remove(schedule.key, self._clock.wall())
        del self._schedules[schedule.key]

    async def _record(self, schedule: Schedule) -> None:
        """Keep what became of a schedule. An alarm that cannot be recorded still has to ring, so nothing is raised."""
        try:
            if schedule.is_recurring:
                await self._save(schedule, was_kept=False)
            else:
                await self._forget(schedule)
        except Exception:
            log.exception("what became of schedule %s of %s could not be stored", schedule.id, schedule.skill_id)
            self._unsaved.add(schedule.key)


def _id_in(request: Message) -> str:
    name = request.data.get("id")
    if not isinstance(name, str) or not name:
        raise RejectedRequest("invalid_record", "id names a schedule")
    return name


def _context_of(request: Message) -> dict[str, Any]:
    """The context of a request as it is on the wire, with its session."""
    context: dict[str, Any] = _decode_context(encode(request)).get("context", {})
    return context


def _replayed(schedule: Schedule, topic: str, data: Mapping[str, Any], **more: Any) -> Message:
    """A Message in the context in which a schedule was asked for."""
    wire = {"type": topic, "data": data, "context": {**schedule.context, **more}}
    return decode(msgspec.json.encode(wire))
