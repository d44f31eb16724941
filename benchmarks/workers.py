"""How many turns a second one, two or more workers get through: `python benchmarks/workers.py --workers 1,2`.

Starts `hark run --split --workers N` and has a websocket client keep a number of turns open. Bound by waiting: a
matcher that asks elsewhere over four connections, 20 ms a question. Bound by computing: the builtin template matcher;
broker, skills, client and workers share the cores of this machine. The numbers of workers take turns.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import time
from typing import Any

import split_kills
from hark.app.bus_address import BusAddress
from hark.app.processes.connection import connect
from hark.app.settings.tables import BusTable
from hark.bus import RemoteBus
from hark.model import Message, Session, SystemClock
from hark.spec import topics

WAITING = '''

class Elsewhere(PipelinePlugin):
    """A matcher whose knowledge is at the end of four connections, as with a model behind an API."""

    id = "elsewhere"

    async def start(self):
        self._connections = asyncio.Semaphore(4)

    async def match(self, utterances, lang, session):
        async with self._connections:
            await asyncio.sleep(0.02)
        return None
'''
BOUND = {"waiting": '["elsewhere", "template"]', "computing": '["template"]'}


async def burst(bus: RemoteBus, turns: int, at_once: int) -> float:
    """Turns a second, with this many open at once."""
    ended = asyncio.Event()
    number = done = 0

    def handled(_message: Message) -> None:
        nonlocal done
        done += 1
        ended.set()

    subscription = bus.on(topics.UTTERANCE_HANDLED, handled)
    began = time.perf_counter()
    async with asyncio.timeout(120):
        while done < turns:
            while number < turns and number - done < at_once:
                number += 1
                session = Session(f"burst-{number}")
                bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": ["be quick"]}, {}, session))
            ended.clear()
            await ended.wait()
    subscription.close()
    return turns / (time.perf_counter() - began)


async def measure(workers: int, bound: str, options: Any) -> float:
    """One assistant with this many workers."""
    async with split_kills.split(workers, verbose=False) as assistant:
        clock = SystemClock()
        bus = await BusAddress(BusTable(url=assistant.url)).connect(clock, patience=60.0, private=False)
        monitor = await connect(BusAddress(nats=assistant.broker_table()), clock)
        try:
            await assistant.all_ready(split_kills.Log(monitor))
            turns = options.turns // 4 if bound == "waiting" else options.turns
            await burst(bus, turns // 4, options.at_once)
            return await burst(bus, turns, options.at_once)
        finally:
            await bus.close()
            await monitor.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--turns", type=int, default=2_000)
    parser.add_argument("--at-once", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    numbers = [int(number) for number in options.workers.split(",")]
    plugins, settings = split_kills.PLUGINS + WAITING.replace("{", "{{").replace("}", "}}"), split_kills.SETTINGS
    print("| bound by | workers | turns/s (lowest to highest) |\n| --- | --- | --- |")
    for bound, pipeline in BOUND.items():
        split_kills.PLUGINS = plugins
        split_kills.SETTINGS = settings.replace('["stalling", "template"]', pipeline)
        found: dict[int, list[float]] = {number: [] for number in numbers}
        for _ in range(options.repeat):
            for number in numbers:
                found[number].append(asyncio.run(measure(number, bound, options)))
        for number, rates in found.items():
            middle = statistics.median(rates)
            print(f"| {bound} | {number} | {middle:.0f} ({min(rates):.0f} to {max(rates):.0f}) |", flush=True)
    print(f"load average {', '.join(f'{average:.1f}' for average in os.getloadavg())} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
