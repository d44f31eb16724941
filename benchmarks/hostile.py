"""Turns among faulty plugins, with a memory check: `python benchmarks/hostile.py --turns 100000`.

Assistant after assistant in one process, each with faulty plugins drawn at random for every extension point; in each,
hundreds of turns, many at once, some over its limit of open turns, some cut short by its stop. Real time, short limits.
Every utterance has to get exactly one end marker, and memory must not grow.
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
HANG_LIMIT: Final = 0.3
"""Seconds after which a hanging thread ends."""

OFTEN: Final = 0.3
"""How likely a plugin misbehaves when it is called."""
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
"""Those that take a lot of memory for a moment: each of them once in an assistant."""

MORE_BLOCKS: Final = 0.10
"""How many more blocks of memory may be in use at the end than after a tenth."""
ENOUGH: Final = 50_000
"""Turns from which on a tenth of them is enough to be warm."""
MORE_MEMORY: Final = 0.10
"""How much more the process may hold at the end than half-way: allocators keep the pages of the busiest moment so far,
and the busiest of random assistants comes at any time, but not again and again."""


class Count:
    """What the whole run comes to."""

    def __init__(self) -> None:
        self.turns = 0
        self.markers = 0
        self.records: Counter[str] = Counter()
        self.ends: Counter[str] = Counter()
        self.assistants = 0
        self.most_threads = 0
        self.wrong: list[str] = []


async def one_assistant(rng: random.Random, turns: int, together: int, count: Count) -> None:
    """Start an assistant with random faulty plugins, run `turns` turns, and stop it in the middle of the last ones."""
    faulty_plugins = [
        faulty for point in FAULTY_PLUGINS for faulty in rng.sample(FAULTY_PLUGINS[point], rng.randint(0, 3))
    ]
    rng.shuffle(faulty_plugins)
    likely = {faulty.id: SELDOM.get(faulty.behaviour.name, OFTEN) for faulty in faulty_plugins}
    once = {faulty.id for faulty in faulty_plugins if faulty.behaviour.name in ONCE}

    def decide(plugin_id: str) -> bool:
        misbehaves = rng.random() < likely[plugin_id]
        if misbehaves and plugin_id in once:
            likely[plugin_id] = 0.0
        return misbehaves

    switch = FaultSwitch(SystemClock(), hang_limit=HANG_LIMIT, decide=decide)
    assistant = CountingAssistant(faulty_plugins, switch, rng.choice((LocalBus, WireBus)))
    with switch.on():
        async with assistant:
            said = 0
            while said < turns:
                wave = min(rng.randint(1, together), turns - said)
                for _ in range(wave):
                    session = rng.choice((None, Session(f"s{said % 7}")))
                    assistant.bus.emit(
                        Message(topics.UTTERANCE_HANDLE, {"utterances": [f"turn {said}"]}, session=session)
                    )
                    said += 1
                    if rng.random() < 0.2:
                        await asyncio.sleep(0)
                if said < turns:
                    await assistant.wait_for_room(together // 2)
    await switch.release()
    assistant.count_into(count)
    gc.collect()  # an assistant is not made to be discarded by the hundred
    count.most_threads = max(count.most_threads, threading.active_count())


class CountingAssistant(Assistant):
    """An assistant with faulty plugins, which counts Messages instead of keeping them."""

    def __init__(self, faulty_plugins: Sequence[FaultyPlugin], switch: FaultSwitch, bus: type[LocalBus]) -> None:
        settings = {"limits": LIMITS, "trace": {"size": 100}}
        plugins = [faulty.plugin(switch) for faulty in faulty_plugins]
        super().__init__(*plugins, *control_plugins(), settings=settings, clock=switch.clock, bus=bus)
        self.switch = switch
        self.entries = 0
        self.ended = 0
        self.markers: Counter[str | None] = Counter()
        self._ended = asyncio.Event()

    async def __aenter__(self) -> CountingAssistant:
        await super().__aenter__()
        self.bus.tap(self._count)
        return self

    def _count(self, message: Message) -> None:
        if message.type == topics.UTTERANCE_HANDLE:
            self.entries += 1
        elif message.type == topics.UTTERANCE_HANDLED:
            self.markers[message.utterance_id] += 1
            self.ended += 1
            self._ended.set()
        self.messages.clear()
        self.rendered.clear()

    async def wait_for_room(self, turns: int) -> None:
        """Wait until no more than `turns` are open."""
        async with asyncio.timeout(30):
            while self.entries - self.ended > turns:
                self._ended.clear()
                await self._ended.wait()

    def count_into(self, count: Count) -> None:
        """Add what happened here to the count, and what should not have happened."""
        doubled = [utterance_id for utterance_id, markers in self.markers.items() if markers != 1]
        if doubled:
            count.wrong.append(f"assistant {count.assistants}: more than one end marker for {doubled}")
        if self.ended != self.entries:
            count.wrong.append(f"assistant {count.assistants}: {self.entries} utterances, {self.ended} end markers")
        count.assistants += 1
        count.turns += self.entries
        count.markers += self.ended
        for record in self.switch.records:
            count.records[record.plugin_id] += 1


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


async def run(turns: int, per_assistant: int, together: int, seed: int) -> int:
    """Have the turns, print what they came to; how many promises were broken."""
    rng, count, began = random.Random(seed), Count(), time.monotonic()
    for faulty in every_faulty_plugin():
        logging.getLogger(f"hark.plugin.{faulty.id}")  # Python keeps them for ever, and there are two thousand kinds
    told: list[Memory] = []
    while count.turns < turns:
        await one_assistant(rng, min(per_assistant, turns - count.turns), together, count)
        if count.turns * 10 // turns > len(told):
            told.append(Memory.now())
            note = f"{count.turns} turns, {time.monotonic() - began:.0f} s, {told[-1]}"
            print(note, f"{threading.active_count()} threads", file=sys.stderr, flush=True)
    early, half, late, seconds = told[0], told[len(told) // 2 - 1], Memory.now(), time.monotonic() - began
    if turns < ENOUGH:
        print(f"(fewer than {ENOUGH} turns say nothing about memory)")
    elif late.blocks > early.blocks * (1 + MORE_BLOCKS) or late.megabytes > half.megabytes * (1 + MORE_MEMORY):
        count.wrong.append(f"memory grew from {early} to {half} to {late}")
    print(f"assistants        {count.assistants}")
    print(f"turns             {count.turns}")
    print(f"end markers       {count.markers}")
    print(f"faults            {count.records.total()} by {len(count.records)} kinds of faulty plugin")
    print(f"seconds           {seconds:.1f}")
    print(f"memory at 10 %    {early}")
    print(f"memory half-way   {half}")
    print(f"memory at the end {late}")
    print(f"allowed           {MORE_BLOCKS:.0%} more blocks than at 10 %, {MORE_MEMORY:.0%} more MB than half-way")
    print(f"threads           {count.most_threads} at most after an assistant, {threading.active_count()} at the end")
    for wrong in count.wrong:
        print(f"WRONG: {wrong}")
    return len(count.wrong)


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--each", type=int, default=250, help="turns in one assistant")
    parser.add_argument("--together", type=int, default=80, help="turns at once, at most")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    logging.getLogger("hark").addHandler(logging.NullHandler())
    logging.getLogger("hark").propagate = False
    return min(asyncio.run(run(given.turns, given.each, given.together, given.seed)), 1)


if __name__ == "__main__":
    sys.exit(main())
