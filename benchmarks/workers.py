"""Workers that share the work, over NATS: `python benchmarks/workers.py throughput|kill-worker|kill-workers|...`.

Every worker is a process of its own, skills live in another one, and this process says things and counts end markers.
`throughput` compares one worker with two: bound by waiting ("remote": a matcher with few connections to somewhere
else) and by computing ("worker": the builtin matchers; on two cores, everything here shares them). All on loopback,
with a broker that is started here, and bounded in time; whatever it starts, it stops.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hark.app.house import House
from hark.app.settings import settings_from
from hark.app.state.turns_file import TurnsFile
from hark.builtin import MATCHERS
from hark.bus import RemoteBus
from hark.bus.nats import NatsCarrier, NatsOptions
from hark.model import Message, Session, SystemClock
from hark.plugins import Match, PipelinePlugin, Turn, handles
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing.nats_server import NatsServer
from hark.understand import Pace, Worker

HERE = Path(__file__).resolve()
PIPELINE = [matcher.id for matcher in MATCHERS]
MARK = "hark_bench"


class Waiting(Skill):
    """Its handler waits, as handlers do that ask somebody else."""

    id = "waiting.skill"

    @intent("wait for {thing}")
    async def wait(self, turn: Turn) -> None:
        await self.host.clock.sleep(0.02)

    @intent("linger over {thing}")
    async def linger(self, turn: Turn) -> None:
        await self.host.clock.sleep(1.0)


class Remote(PipelinePlugin):
    """A matcher whose knowledge is elsewhere, at the end of four connections; its handler asks there too.

    What a worker can do is then bounded by waiting, as it is with a model behind an API.
    """

    id = "remote"

    async def start(self) -> None:
        self._connections = asyncio.Semaphore(4)

    async def match(self, utterances: Sequence[str], lang: str, session: Session) -> Match | None:
        async with self._connections:
            await self.host.clock.sleep(0.02)
        return self.claim("answer", lang=lang, utterance=utterances[0])

    @handles("answer")
    async def answer(self, turn: Turn) -> None:
        async with self._connections:
            await self.host.clock.sleep(0.02)


async def room(url: str, what: str, state: Path) -> None:
    """One process: a worker, or the skills."""
    bus = RemoteBus(NatsCarrier(NatsOptions((url,), name=what, patience=Pace().patience if what != "act" else 30.0)))
    await bus.open()
    clock = SystemClock()
    worker = Worker(bus, clock, journal=TurnsFile(state)) if what != "act" else None
    remote = what.startswith("remote")
    plugins = [Waiting()] if what == "act" else [Remote()] if remote else [matcher() for matcher in MATCHERS]
    pipeline = ["remote"] if remote else PIPELINE
    house = House(
        settings_from({"assistant": {"pipeline": pipeline}, "limits": {"open_turns": 100_000}}),
        bus, clock, plugins, rooms=("act" if what == "act" else "understand",),
        render=lambda _: None, serves=lambda _: True, worker=worker,
    )  # fmt: skip
    await house.start()
    print("ready", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)  # until whoever started us is gone
    await house.stop()
    await bus.close()


class Rooms:
    """The processes."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._state = TemporaryDirectory()
        self.processes: list[subprocess.Popen[str]] = []

    def start(self, what: str) -> subprocess.Popen[str]:
        state = Path(self._state.name) / what
        state.mkdir(exist_ok=True)
        command = [sys.executable, str(HERE), "room", "--url", self._url, "--what", what, "--state", str(state)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            raise SystemExit(f"{what} did not start")
        return process

    def __enter__(self) -> Rooms:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            if process.stdin is not None:
                process.stdin.close()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._state.cleanup()


class Client:
    """Says things, and notes how and when each of them ended."""

    def __init__(self, url: str, words: str = "wait for") -> None:
        self.bus = RemoteBus(NatsCarrier(NatsOptions((url,))))
        self._words = words
        self.said: dict[str, float] = {}
        self.ended: dict[str, float] = {}
        self.how: dict[str, str] = {}
        self.markers: Counter[str] = Counter()
        self._changed = asyncio.Event()
        outcomes = (topics.HANDLER_COMPLETE, topics.HANDLER_ERROR, topics.INTENT_UNMATCHED)
        self.bus.on(outcomes, self._outcome)
        self.bus.on(topics.UTTERANCE_HANDLED, self._marker)

    def say(self) -> None:
        number = len(self.said)
        mark = f"m{number}"
        self.said[mark] = time.perf_counter()
        data = {"utterances": [f"{self._words} number {number}"], "lang": "en-US"}
        session = None if number % 20 == 0 else Session(f"client-{number}")
        self.bus.emit(Message(topics.UTTERANCE_HANDLE, data, {MARK: mark}, session))

    def _outcome(self, message: Message) -> None:
        error = message.data.get("exception")
        self.how[message.context.get(MARK, "")] = str(error) if error else message.type.rpartition(".")[2]

    def _marker(self, message: Message) -> None:
        mark = message.context.get(MARK, "")
        self.markers[mark] += 1
        self.ended.setdefault(mark, time.perf_counter())
        self._changed.set()

    async def until_ended(self, seconds: float) -> bool:
        """Whether everything ended within a time."""
        end = time.perf_counter() + seconds
        while len(self.ended) < len(self.said) and time.perf_counter() < end:
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), 0.1)
            except TimeoutError:
                continue
        return len(self.ended) == len(self.said)

    def report(self, broke: float | None = None) -> dict[str, Any]:
        took = sorted(self.ended[mark] - self.said[mark] for mark in self.ended)
        ways = Counter(self.how.get(mark, "marker alone") for mark in self.ended)
        told: dict[str, Any] = {
            "said": len(self.said), "ended": len(self.ended), "never ended": len(self.said) - len(self.ended),
            "markers twice": sum(number > 1 for number in self.markers.values()), "ways": dict(ways),
            "p50 ms": round(statistics.median(took) * 1000, 1), "p99 ms": round(took[int(len(took) * 0.99)] * 1000, 1),
            "longest s": round(took[-1], 2),
        }  # fmt: skip
        if broke is not None:
            others = [self.ended[mark] - broke for mark in self.ended if self.how.get(mark) != "complete"]
            told["last that did not complete, s after the break"] = round(max(others), 2) if others else None
        return told


async def burst(url: str, turns: int, at_once: int) -> float:
    """Turns a second, with this many open at once."""
    client = Client(url)
    await client.bus.open()
    await client.bus.carrier.flush()
    began = time.perf_counter()
    while len(client.said) < turns:
        while len(client.said) < turns and len(client.said) - len(client.ended) < at_once:
            client.say()
        client._changed.clear()
        await asyncio.wait_for(client._changed.wait(), 20)
    if not await client.until_ended(20):
        raise SystemExit(f"turns did not end: {client.report()}")
    elapsed = time.perf_counter() - began
    await client.bus.close()
    return turns / elapsed


def throughput(kind: str, repeat: int, turns: int, at_once: int) -> None:
    """One worker against two, in turns."""
    figures: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(repeat):
        for workers in (1, 2):
            with NatsServer() as server, Rooms(server.url) as rooms:
                for number in range(workers):
                    rooms.start(f"{kind}-{number}")
                rooms.start("act")
                time.sleep(2.5)  # one of them holds the lease by then
                asyncio.run(burst(server.url, turns // 4, at_once))
                figures[workers].append(asyncio.run(burst(server.url, turns, at_once)))
    one, two = (sorted(figures[number]) for number in (1, 2))
    ratios = sorted(second / first for first, second in zip(figures[1], figures[2], strict=True))
    print(f"{kind}: one worker {one[len(one) // 2]:.0f} turns/s ({one[0]:.0f} to {one[-1]:.0f}), two workers "
          f"{two[len(two) // 2]:.0f} ({two[0]:.0f} to {two[-1]:.0f}); {statistics.median(ratios):.2f} times "
          f"({ratios[0]:.2f} to {ratios[-1]:.2f} in {repeat} pairs)", flush=True)  # fmt: skip


async def steadily(url: str, rate: float, seconds: float, at: float, then: Any, words: str = "wait for") -> None:
    client = Client(url, words)
    await client.bus.open()
    loop, began, broke = asyncio.get_running_loop(), time.perf_counter(), None
    number = 0
    while (now := time.perf_counter() - began) < seconds:
        if broke is None and now >= at:
            broke = time.perf_counter()
            await loop.run_in_executor(None, then)
        while number < now * rate:
            client.say()
            number += 1
        await asyncio.sleep(1 / rate)
    await client.until_ended(30)
    print(json.dumps(client.report(broke), indent=1))
    await client.bus.close()


def kill_worker(rate: float, seconds: float, away: float) -> None:
    """Kill the worker that holds the lease, in the middle of things, and start it again while they go on."""
    with NatsServer() as server, Rooms(server.url) as rooms:
        workers = [rooms.start("worker-0")]
        time.sleep(2.5)  # it holds the lease by then
        rooms.start("worker-1")
        rooms.start("act")
        time.sleep(1.0)

        def restart() -> None:
            workers[0].kill()
            again.start()

        again = threading.Timer(away, rooms.start, ["worker-0"])
        asyncio.run(steadily(server.url, rate, seconds, seconds / 3, restart))
        again.join()


def kill_workers(rate: float, seconds: float, away: float) -> None:
    """Kill all of them at once, with as many turns open as are said in a second, and start them again."""
    with NatsServer() as server, Rooms(server.url) as rooms:
        workers = [rooms.start(what) for what in ("worker-0", "worker-1", "act")][:2]
        time.sleep(2.5)

        def restart() -> None:
            time.sleep(0.05)  # what was said last has arrived: nothing more is said until they are back
            for worker in workers:
                worker.kill()
            time.sleep(away)
            for what in ("worker-0", "worker-1"):
                rooms.start(what)

        asyncio.run(steadily(server.url, rate, seconds, seconds / 3, restart, "linger over"))


def kill_broker(rate: float, seconds: float, away: float) -> None:
    """Kill the broker and start it again."""
    with NatsServer() as server, Rooms(server.url) as rooms:
        for what in ("worker-0", "worker-1", "act"):
            rooms.start(what)
        time.sleep(2.5)

        def restart() -> None:
            server.kill()
            time.sleep(away)
            server.start()

        asyncio.run(steadily(server.url, rate, seconds, seconds / 3, restart))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("throughput", "kill-worker", "kill-workers", "kill-broker", "room"))
    parser.add_argument("--url", default="")
    parser.add_argument("--what", dest="room", default="act")
    parser.add_argument("--state", type=Path, default=None)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--turns", type=int, default=2_000)
    parser.add_argument("--at-once", type=int, default=64)
    parser.add_argument("--rate", type=float, default=100.0)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--away", type=float, default=1.0)
    given = parser.parse_args()
    if given.what == "room":
        asyncio.run(room(given.url, given.room, given.state))
    elif given.what == "throughput":
        throughput("remote", given.repeat, given.turns // 2, given.at_once)
        throughput("worker", given.repeat, given.turns, given.at_once)
    elif given.what == "kill-worker":
        kill_worker(given.rate, given.seconds, given.away)
    elif given.what == "kill-workers":
        kill_workers(given.rate, given.seconds, given.away)
    else:
        kill_broker(given.rate, given.seconds, given.away)


if __name__ == "__main__":
    main()
