"""A scheduler on a bus, with clocks and a store that tests can upset."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hark.bus import LocalBus, ask
from hark.model import Message, Session
from hark.schedule import MemoryStore, ScheduleOptions, Scheduler, ScheduleStore
from hark.schedule.scheduler import Identity
from hark.schedule.store import Key, StoredSchedule
from hark.spec import topics
from hark.testing import FakeClock, settle

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""When the clock starts."""
SKILL = "egg.skill"


class SteppedClock(FakeClock):
    """A clock whose wall time can be set."""

    def __init__(self, wall: float = NOON.timestamp()) -> None:
        super().__init__(wall)
        self.set_by = 0.0

    def wall(self) -> float:
        return super().wall() + self.set_by


class WatchedStore(MemoryStore):
    """A store that writes into the same list as the bus, and fails when told to."""

    def __init__(self, events: list[tuple[str, Any]]) -> None:
        super().__init__()
        self.events = events
        self.fails = False

    async def put(self, entry: StoredSchedule) -> None:
        self._note("put", entry.key)
        await super().put(entry)

    async def remove(self, key: Key, wall: float) -> None:
        self._note("remove", key)
        await super().remove(key, wall)

    def _note(self, what: str, key: Key) -> None:
        if self.fails:
            raise OSError("the disk is full")
        self.events.append((what, key))


class Desk:
    """`async with Desk(bus_type) as desk: await desk.schedule(id="tea", **{"in": {"seconds": 5}})`."""

    def __init__(
        self,
        bus_type: type[LocalBus] = LocalBus,
        *,
        clock: SteppedClock | None = None,
        store: ScheduleStore | None = None,
        options: ScheduleOptions | None = None,
        identity: Identity | None = None,
    ) -> None:
        self._bus_type = bus_type
        self.clock = clock or SteppedClock()
        self.events: list[tuple[str, Any]] = []
        """Writes to the store, and what was emitted, in order."""
        self.store: Any = store or WatchedStore(self.events)
        self._options = options or ScheduleOptions(check=3_600.0)  # else years would take long
        self._identity = identity
        self.messages: list[Message] = []
        self.bus: LocalBus
        self.scheduler: Scheduler

    async def __aenter__(self) -> Desk:
        self.bus = self._bus_type()
        await self.bus.open()
        self.bus.tap(self._saw)
        await self.start()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.scheduler.close()
        await self.bus.close()

    async def start(self) -> None:
        self.scheduler = Scheduler(self.bus, self.clock, self.store, self._options, self._identity)
        await self.scheduler.start()
        await settle()

    async def restart(self, seconds: float = 0.0) -> None:
        """End the scheduler, let time pass, and start another one with the same store."""
        await self.scheduler.close()
        self.clock.pass_by(seconds)
        await self.start()

    async def step(self, seconds: float) -> None:
        """Set the wall clock."""
        self.clock.set_by += seconds
        await self.scheduler.look()
        await settle()

    async def send(
        self, topic: str, data: dict[str, Any], context: dict[str, Any] | None = None, session: Session | None = None
    ) -> dict[str, Any]:
        """What is answered to a request."""
        known = {"skill_id": SKILL} if context is None else context
        answer = await ask(self.bus, self.clock, Message(topic, data, known, session))
        await settle()
        return dict(answer.data)

    async def schedule(
        self, context: dict[str, Any] | None = None, session: Session | None = None, **record: Any
    ) -> dict[str, Any]:
        owner = (context or {}).get("skill_id", SKILL)
        body = {"id": "egg", "event": f"{owner}.ring", **record}
        return await self.send(topics.SCHEDULER_SCHEDULE, body, context, session)

    async def cancel(self, name: str = "egg", context: dict[str, Any] | None = None) -> dict[str, Any]:
        return await self.send(topics.SCHEDULER_CANCEL, {"id": name}, context)

    async def get(self, name: str = "egg", context: dict[str, Any] | None = None) -> dict[str, Any]:
        return await self.send(topics.SCHEDULER_GET, {"id": name}, context)

    async def list(self, context: dict[str, Any] | None = None) -> list[Any]:
        found = await self.send(topics.SCHEDULER_LIST, {}, context)
        return list(found["schedules"])

    def of(self, topic: str) -> list[Message]:
        return [message for message in self.messages if message.type == topic]

    def fires(self, event: str = f"{SKILL}.ring") -> list[Message]:
        return self.of(event)

    def dues(self, event: str = f"{SKILL}.ring") -> list[str]:
        """The due instants that were fired."""
        return [about(message)["due"] for message in self.fires(event)]

    @property
    def missed(self) -> list[Message]:
        return self.of(topics.SCHEDULER_MISSED)

    def _saw(self, message: Message) -> None:
        self.messages.append(message)
        self.events.append(("emit", message.type))


def about(fire: Message) -> dict[str, Any]:
    """What a fire says of its occurrence."""
    return dict(fire.context["scheduler"])


def at(text: str) -> str:
    """An instant of the first of January 2026, or of another day."""
    day, _, clock = text.rpartition(" ")
    return f"{day or '2026-01-01'}T{clock}{':00' if clock.count(':') == 1 else ''}+00:00"
