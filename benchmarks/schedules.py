"""Random schedules over simulated years, with kills, clocks that are set, and daylight saving: is any lost or doubled?

    python benchmarks/schedules.py [--schedules 1000] [--years 2] [--seed 1]

Each group of ten schedules has a scheduler of its own, in memory, on a clock that is advanced. It is killed at random
moments, also between an event and its record, and started again after minutes or weeks; the wall clock is set forward
and back by up to some hours. What was fired and reported is compared with a list of all instants that is made by
other means: by looking at the clock of each zone, minute by minute where daylight saving begins.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from hark.bus import LocalBus
from hark.model import Message
from hark.schedule import MemoryStore, ScheduleOptions, Scheduler
from hark.schedule.store import Key, StoredSchedule
from hark.spec import topics
from hark.testing import FakeClock

START = datetime(2026, 1, 1, tzinfo=UTC)
ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Africa/Cairo",
    "America/Santiago",
    "UTC",
    "Asia/Kolkata",
)
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
OWNER = "sim.skill"


class SetClock(FakeClock):
    """A clock whose wall time can be set."""

    set_by = 0.0

    def wall(self) -> float:
        return super().wall() + self.set_by


class KilledStore(MemoryStore):
    """Keeps what was stored. When it is told to, the process dies in the middle of the next write."""

    dies = False
    died: asyncio.Event

    def __init__(self) -> None:
        super().__init__()
        self.died = asyncio.Event()

    async def put(self, entry: StoredSchedule) -> None:
        await self._perhaps()
        await super().put(entry)

    async def remove(self, key: Key, wall: float) -> None:
        await self._perhaps()
        await super().remove(key, wall)

    async def _perhaps(self) -> None:
        if self.dies:
            self.died.set()
            await asyncio.Event().wait()


@dataclass
class Seen:
    """What became of one schedule."""

    record: dict[str, Any]
    accepted: datetime
    fired: Counter[str] = field(default_factory=Counter)
    missed: set[str] = field(default_factory=set)
    early: int = 0


@dataclass
class Outcome:
    """What a simulation has shown."""

    schedules: int = 0
    occurrences: int = 0
    fires: int = 0
    reported: int = 0
    kills: int = 0
    torn: int = 0
    """Kills between an event and its record."""
    steps: int = 0
    doubled: int = 0
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


def random_record(chance: random.Random, number: int, end: datetime) -> dict[str, Any]:
    record: dict[str, Any] = {"id": f"s{number}", "event": f"{OWNER}.s{number}"}
    form = chance.choice(("at", "every", "local", "local", "local"))
    if form == "at":
        moment = START + (end - START) * chance.random()
        record["at"] = moment.replace(microsecond=0).isoformat()
    elif form == "every":
        record["every"] = {
            "seconds": chance.choice((3_600 * chance.randint(5, 200), chance.randint(240_000, 7_200_000) / 8))
        }
    else:
        days = chance.sample(DAYS, chance.randint(1, 7))
        hour = chance.choice((0, 1, 2, 2, 3, 7, 12, 23))
        record["local"] = {
            "time": f"{hour:02}:{chance.choice((0, 15, 30, 45)):02}",
            "days": sorted(days, key=DAYS.index),
            "zone": chance.choice(ZONES),
        }
    if form != "at" and chance.random() < 0.3:
        record["count"] = chance.randint(1, 60)
    record["misfire"] = chance.choice(("late", "skip"))
    record["grace_s"] = chance.choice((0, 60, 3_600))
    return record


def instants(record: dict[str, Any], accepted: datetime, end: datetime) -> Iterator[datetime]:
    """All instants at which a schedule is due, found without the scheduler's code."""
    if "at" in record:
        yield datetime.fromisoformat(record["at"])
    elif "every" in record:
        period = record["every"]["seconds"]
        start = accepted + timedelta(seconds=period)
        n = 0
        while (due := start + timedelta(seconds=n * period)) <= end:
            yield due
            n += 1
    else:
        yield from _local_instants(record["local"], accepted, end)


def _local_instants(local: dict[str, Any], accepted: datetime, end: datetime) -> Iterator[datetime]:
    zone, (hour, minute) = ZoneInfo(local["zone"]), map(int, local["time"].split(":"))
    day: date = accepted.astimezone(zone).date() - timedelta(days=1)
    last = accepted - timedelta(microseconds=1)
    while day <= end.astimezone(zone).date():
        if DAYS[day.weekday()] in local["days"]:
            wanted = (day.year, day.month, day.day, hour, minute)
            # The first minute on that day's clocks that shows the time, or a later one: clocks were put forward.
            moment = datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone).astimezone(UTC) - timedelta(
                hours=2
            )
            for _ in range(60 * 5):
                here = moment.astimezone(zone)
                if (here.year, here.month, here.day, here.hour, here.minute) >= wanted:
                    break
                moment += timedelta(minutes=1)
            here = moment.astimezone(zone)
            if DAYS[here.weekday()] in local["days"] and last < moment <= end:
                last = moment
                yield moment
        day += timedelta(days=1)


class Simulation:
    """One scheduler with its schedules, through all its lives."""

    def __init__(self, chance: random.Random, schedules: int, years: float) -> None:
        self.chance = chance
        self.clock = SetClock(START.timestamp())
        self.store = KilledStore()
        self.end = START + timedelta(days=365 * years)
        self.seen: dict[str, Seen] = {}
        self.records = [random_record(chance, number, self.end) for number in range(schedules)]
        self.outcome = Outcome(schedules=schedules)
        self.bus: LocalBus
        self.scheduler: Scheduler
        self.torn: Counter[str] = Counter()
        """Events that were emitted, and not recorded."""
        self.latest = START

    async def run(self) -> Outcome:
        await self._begin()
        for record in self.records:
            self.seen[record["id"]] = Seen(record, self._now())
            self.bus.emit(Message(topics.SCHEDULER_SCHEDULE, record, {"skill_id": OWNER}))
            await _few()
        while self._now() < self.end:
            await self._pass(self.chance.choice((3_600, 86_400, 20 * 86_400)) * self.chance.random())
            what = self.chance.random()
            if what < 0.25:
                await self._restart(self.chance.choice((10, 600, 86_400, 10 * 86_400)) * self.chance.random())
            elif what < 0.35:
                self.store.dies = True  # at the next event
                self.outcome.torn += 1
            elif what < 0.5:
                self.outcome.steps += 1
                self.clock.set_by += (
                    self.chance.choice((-1, 1)) * self.chance.choice((30, 1_800, 7_200)) * self.chance.random()
                )
                if not self.store.dies:  # else the kill may come in the middle of it; the scheduler notices by itself
                    await self.scheduler.look()
        if self.store.dies:
            self.store.dies = False
        await self._restart(0.0)
        # What is not judged by a clock that was set back before the last record is judged when it has caught up.
        await self._pass(3 * 3_600.0)
        await self.scheduler.close()
        await self.bus.close()
        self._judge()
        return self.outcome

    async def _begin(self) -> None:
        self.bus = LocalBus()
        self.bus.tap(self._saw)
        self.scheduler = Scheduler(self.bus, self.clock, self.store, ScheduleOptions(check=43_200.0))
        await self.scheduler.start()
        await _few()

    async def _pass(self, seconds: float) -> None:
        advancing = asyncio.ensure_future(self.clock.advance(seconds, _few))
        dying = asyncio.ensure_future(self.store.died.wait())
        await asyncio.wait({advancing, dying}, return_when=asyncio.FIRST_COMPLETED)
        dying.cancel()
        if self.store.died.is_set():
            await advancing
            await self._restart(self.chance.choice((10, 3_600)) * self.chance.random())
        await advancing
        self.latest = max(self.latest, self._now())

    async def _restart(self, seconds: float) -> None:
        """Kill the scheduler as a process is killed, and start another one."""
        self.outcome.kills += 1
        for task in asyncio.all_tasks():
            if task.get_name() == "scheduler":
                task.cancel()
        await self.bus.close()
        await _few()
        if self.store.died.is_set():
            self.torn[self.last_emitted] += 1
        self.store.dies = False
        self.store.died.clear()
        self.clock.pass_by(seconds)
        await self._begin()

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self.clock.wall(), UTC)

    last_emitted = ""

    def _saw(self, message: Message) -> None:
        if message.type == topics.SCHEDULER_MISSED:
            self.seen[message.data["id"]].missed.update(message.data["missed"])
        elif message.type.startswith(f"{OWNER}."):
            said = message.context["scheduler"]
            seen = self.seen[said["id"]]
            seen.fired[said["due"]] += 1
            seen.early += datetime.fromisoformat(said["due"]) > self._now() + timedelta(seconds=0.001)
            self.last_emitted = f"{said['id']} {said['due']}"

    def _judge(self) -> None:
        outcome = self.outcome
        for name, seen in self.seen.items():
            due = [one.isoformat() for one in instants(seen.record, seen.accepted, self.latest)]
            if "count" in seen.record:
                due = due[: seen.record["count"]]
            else:
                due = [one for one in due if datetime.fromisoformat(one) <= self.latest]
            expected = set(due)
            outcome.occurrences += len(expected)
            outcome.fires += sum(seen.fired.values())
            outcome.reported += len(seen.missed)
            outcome.lost += [f"{name} {one}" for one in expected - set(seen.fired) - seen.missed]
            outcome.wrong += [f"{name} {one} was never due" for one in (set(seen.fired) | seen.missed) - expected]
            outcome.wrong += [f"{name} was early"] * (seen.early > 0)
            for one, times in seen.fired.items():
                outcome.doubled += times - 1
                if times > 1 + self.torn[f"{name} {one}"]:
                    outcome.wrong.append(f"{name} {one} was fired {times} times")


async def _few() -> None:
    for _ in range(8):
        await asyncio.sleep(0)


async def simulate(seed: int, schedules: int, years: float, group: int = 10) -> Outcome:
    """The outcome of all groups."""
    total = Outcome()
    for number in range(0, schedules, group):
        chance = random.Random(f"{seed} {number}")
        total.add(await Simulation(chance, min(group, schedules - number), years).run())
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schedules", type=int, default=1_000)
    parser.add_argument("--years", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began = time.process_time()
    found = asyncio.run(simulate(options.seed, options.schedules, options.years))
    took = time.process_time() - began
    print(f"{found.schedules} schedules, {options.years:g} years, seed {options.seed}: {took:.0f} s")
    print(f"{found.kills} kills ({found.torn} meant to be within an event), {found.steps} clock steps")
    print(f"{found.occurrences} occurrences, {found.fires} fired, {found.reported} reported as missed")
    print(f"{len(found.lost)} lost, {found.doubled} fired twice by a kill, {len(found.wrong)} wrong")
    for line in [*found.lost, *found.wrong][:20]:
        print(" ", line)
    raise SystemExit(bool(found.lost or found.wrong))


if __name__ == "__main__":
    main()
