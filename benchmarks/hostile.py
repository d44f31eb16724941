"""A long day at the zoo: `python benchmarks/hostile.py --turns 100000`.

House after house in one process, each with animals drawn at random for every extension point; in each, hundreds of
turns, many at once, some more than the house takes in, some cut short by its closing. Real time, short limits. Every
utterance has to get exactly one end marker, and memory must not grow.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import gc
import logging
import os
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from hark.model import Message, Session
from hark.model.clock import SystemClock
from hark.spec import topics
from hark.testing import Assistant, LocalBus, WireBus
from hark.testing.faults import FAULTY_PLUGINS, FaultSwitch, FaultyPlugin, control_plugins, every_faulty_plugin

LIMITS: Final = {
    "transformer": 0.05,
    "match": 0.05,
    "start": 0.2,
    "handler": 0.2,
    "failures": 5,
    "retry_after": 0.05,
    "open_turns": 60,
    "grace": 0.1,
}
PATIENCE: Final = 0.3
"""Seconds after which a thread that hangs goes home."""

OFTEN: Final = 0.3
"""How likely an animal misbehaves when it is called."""
SELDOM: Final = {
    "blocks_although_it_is_quick": 0.01,
    "blocks_in_async_def": 0.01,
    "spins": 0.05,
    "cancels_every_task": 0.01,
    "never_returns": 0.1,
    "ignores_cancellation": 0.02,
    "never_ends": 0.02,
    "leaves_tasks_behind": 0.05,
    "claims_for_nobody": 0.05,
    "claims_a_reserved_name": 0.05,
}
"""Those that cost everybody time."""
ONCE: Final = (
    "floods_the_bus",
    "registers_garbage",
    "allocates",
    "raises_a_novel",
    "returns_a_huge_list",
    "returns_a_huge_text",
)
"""Those that take a lot of memory for a moment: each of them once in a house."""

MORE_BLOCKS: Final = 0.10
"""How many more blocks of memory may be in use at the end than after a tenth."""
ENOUGH: Final = 50_000
"""Turns from which on a tenth of them is enough to be warm."""
MORE_MEMORY: Final = 0.10
"""How much more the process may hold at the end than half-way: allocators keep the pages of the busiest moment so far,
and the busiest of random houses comes at any time, but not again and again."""


class Count:
    """What a whole day comes to."""

    def __init__(self) -> None:
        self.turns = 0
        self.markers = 0
        self.misdeeds: Counter[str] = Counter()
        self.ends: Counter[str] = Counter()
        self.houses = 0
        self.most_threads = 0
        self.wrong: list[str] = []


async def one_house(rng: random.Random, turns: int, together: int, count: Count) -> None:
    """Open a house with random animals, have `turns` turns in it, close it in the middle of the last ones."""
    animals = [animal for point in FAULTY_PLUGINS for animal in rng.sample(FAULTY_PLUGINS[point], rng.randint(0, 3))]
    rng.shuffle(animals)
    likely = {animal.id: SELDOM.get(animal.behaviour.name, OFTEN) for animal in animals}
    once = {animal.id for animal in animals if animal.behaviour.name in ONCE}

    def mood(animal_id: str) -> bool:
        misbehaves = rng.random() < likely[animal_id]
        if misbehaves and animal_id in once:
            likely[animal_id] = 0.0
        return misbehaves

    cage = FaultSwitch(SystemClock(), patience=PATIENCE, mood=mood)
    house = HostileHouse(animals, cage, rng.choice((LocalBus, WireBus)))
    with cage.provoked():
        async with house:
            said = 0
            while said < turns:
                wave = min(rng.randint(1, together), turns - said)
                for _ in range(wave):
                    house.say(f"turn {said}", session=rng.choice((None, Session(f"s{said % 7}"))))
                    said += 1
                    if rng.random() < 0.2:
                        await asyncio.sleep(0)
                if said < turns:
                    await house.room(together // 2)
    await cage.open()
    house.count_into(count)
    gc.collect()  # a house is not made to be thrown away by the hundred
    count.most_threads = max(count.most_threads, threading.active_count())


class HostileHouse(Assistant):
    """An assistant with animals in it, which counts Messages instead of keeping them."""

    def __init__(self, animals: Sequence[FaultyPlugin], cage: FaultSwitch, bus: type[LocalBus]) -> None:
        settings = {"limits": LIMITS, "trace": {"size": 100}}
        plugins = [animal.plugin(cage) for animal in animals]
        super().__init__(*plugins, *control_plugins(), settings=settings, clock=cage.clock, bus=bus)
        self.cage = cage
        self.entries = 0
        self.ended = 0
        self.markers: Counter[str | None] = Counter()
        self._ended = asyncio.Event()

    def _saw(self, message: Message) -> None:
        if message.type == topics.UTTERANCE_HANDLE:
            self.entries += 1
        elif message.type == topics.UTTERANCE_HANDLED:
            self.markers[message.utterance_id] += 1
            self.ended += 1
            self._ended.set()
        super()._saw(message)
        self.messages.clear()
        self._turns.clear()

    async def room(self, turns: int) -> None:
        """Wait until no more than `turns` are open."""
        async with asyncio.timeout(30):
            while self.entries - self.ended > turns:
                self._ended.clear()
                await self._ended.wait()

    def count_into(self, count: Count) -> None:
        """Add what happened here to the day's count, and what should not have happened."""
        doubled = [utterance_id for utterance_id, markers in self.markers.items() if markers != 1]
        if doubled:
            count.wrong.append(f"house {count.houses}: more than one end marker for {doubled}")
        if self.ended != self.entries:
            count.wrong.append(f"house {count.houses}: {self.entries} utterances, {self.ended} end markers")
        count.houses += 1
        count.turns += self.entries
        count.markers += self.ended
        for misdeed in self.cage.misdeeds:
            count.misdeeds[misdeed.animal_id] += 1


class Memory(NamedTuple):
    """What this process holds."""

    megabytes: float
    blocks: int
    """Of Python's own allocator, in use."""

    def __str__(self) -> str:
        return f"{self.megabytes:.1f} MB, {self.blocks} blocks in use"

    @classmethod
    def now(cls) -> Memory:
        """As it is, once garbage is collected and what the C library keeps in reserve is given back."""
        gc.collect()
        with suppress(AttributeError):  # not every C library can
            ctypes.CDLL(None).malloc_trim(0)
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return cls(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, sys.getallocatedblocks())


async def the_day(turns: int, per_house: int, together: int, seed: int) -> int:
    """Have the turns, print what they came to; how many promises were broken."""
    rng, count, began = random.Random(seed), Count(), time.monotonic()
    for animal in every_faulty_plugin():
        logging.getLogger(f"hark.plugin.{animal.id}")  # Python keeps them for ever, and there are two thousand kinds
    told: list[Memory] = []
    while count.turns < turns:
        await one_house(rng, min(per_house, turns - count.turns), together, count)
        if count.turns * 10 // turns > len(told):
            told.append(Memory.now())
            note = f"{count.turns} turns, {time.monotonic() - began:.0f} s, {told[-1]}"
            print(note, f"{threading.active_count()} threads", file=sys.stderr, flush=True)
    early, half, late, seconds = told[0], told[len(told) // 2 - 1], Memory.now(), time.monotonic() - began
    if turns < ENOUGH:
        print(f"(fewer than {ENOUGH} turns say nothing about memory)")
    elif late.blocks > early.blocks * (1 + MORE_BLOCKS) or late.megabytes > half.megabytes * (1 + MORE_MEMORY):
        count.wrong.append(f"memory grew from {early} to {half} to {late}")
    print(f"houses            {count.houses}")
    print(f"turns             {count.turns}")
    print(f"end markers       {count.markers}")
    print(f"misdeeds          {count.misdeeds.total()} by {len(count.misdeeds)} kinds of animal")
    print(f"seconds           {seconds:.1f}")
    print(f"memory at 10 %    {early}")
    print(f"memory half-way   {half}")
    print(f"memory at the end {late}")
    print(f"allowed           {MORE_BLOCKS:.0%} more blocks than at 10 %, {MORE_MEMORY:.0%} more MB than half-way")
    print(f"threads           {count.most_threads} at most after a house, {threading.active_count()} at the end")
    for wrong in count.wrong:
        print(f"WRONG: {wrong}")
    return len(count.wrong)


def main() -> int:
    """Read the command line and have a day."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--house", type=int, default=250, help="turns in one house")
    parser.add_argument("--together", type=int, default=80, help="turns at once, at most")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    logging.getLogger("hark").addHandler(logging.NullHandler())
    logging.getLogger("hark").propagate = False
    return min(asyncio.run(the_day(given.turns, given.runtime, given.together, given.seed)), 1)


if __name__ == "__main__":
    sys.exit(main())
