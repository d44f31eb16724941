"""`hark run --split` under load, while its processes are killed and stopped.

    python benchmarks/split_kills.py --workers 1,2,4
    python benchmarks/split_kills.py --quick

A websocket client at the edge, which reconnects like any other, says something `rate` times a second. A third into it
one process is killed (SIGKILL), or stopped for 8 s (SIGSTOP). *Accepted* is what the broker has acknowledged: what
entered its work queue, and the acknowledgement reached the process that published it. Every accepted utterance must
have exactly one end marker at the client. Only when the edge itself dies may markers be read from the broker's log;
their number is in a column of its own.

Late is the longest time from the fault (or from the utterance, if that was later) to the marker; allowed are 3 s after
a kill and 6 s after a stop. Where nothing else can serve, 6 s from when the process serves again; that is the column
"after return". Everything is on loopback, bounded in time, and stopped at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import socket
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from hark.app.bus_address import BusAddress
from hark.app.processes.connection import ProcessConnection, connect
from hark.app.settings.tables import BusTable, NatsTable
from hark.bus import RemoteBus
from hark.bus.nats import StoredEntry, StreamReader
from hark.model import Message, Session, SystemClock, decode
from hark.spec import topics

MARK = "hark_bench"
STOPPED = 8.0
"""Seconds for which a process is stopped."""
PATIENCE = 25.0
"""Seconds after the last utterance in which every marker must have come."""
TURNS, ENDS = "hark-turns", "hark-ends"

PLUGINS = '''\
"""What the load is made of."""
import asyncio
import os
import time
from hark.plugins import PipelinePlugin
from hark.skills import Skill, intent
from hark.spec import topics

RUNS = os.open({runs!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


class Load(Skill):
    id = "load.skill"

    async def start(self):
        await super().start()
        self._inner = {{}}
        self.host.on(topics.UTTERANCE_HANDLED, self._ended)

    def _ended(self, message):
        waiting = self._inner.pop(message.session_id, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    @intent("be quick")
    def quick(self, turn):
        self._ran(turn)

    @intent("take a moment")
    async def moment(self, turn):
        self._ran(turn)
        await asyncio.sleep(0.2)

    @intent("ask within")
    async def within(self, turn):
        self._ran(turn)
        inner = turn.session.session_id + "-inner"
        waiting = self._inner[inner] = asyncio.get_running_loop().create_future()
        session = turn.session.replace(session_id=inner)
        self.host.emit(topics.UTTERANCE_HANDLE, {{"utterances": ["take a moment"]}}, session=session)
        await asyncio.wait_for(waiting, 20)

    def _ran(self, turn):
        os.write(RUNS, (str(turn.message.context.get("{mark}", "")) + "\\n").encode())


class Stalling(PipelinePlugin):
    """Blocks the event loop of the worker that is asked."""

    id = "stalling"

    async def match(self, utterances, lang, session):
        if utterances[0] == "stall the worker":
            time.sleep(3.0)
        return None
'''
SETTINGS = """\
[assistant]
pipeline = ["stalling", "template"]
files = ["{folder}/load.py"]
[bus]
port = {port}
"""


class Case(msgspec.Struct, frozen=True):
    """One fault, and what is said while it happens."""

    process: str
    """Which one; "workers" for all that understand, "" for none."""
    fault: str
    """kill, stop or stall."""
    talk: str = "mixed"
    """mixed, identical or nested."""

    @property
    def name(self) -> str:
        what = f"{self.fault} {self.process}".strip()
        return what if self.talk == "mixed" else f"{what}, {self.talk}"

    def is_alone(self, workers: int) -> bool:
        """Whether nothing else can serve while the process is away."""
        worker = self.process.startswith("understand") and workers == 1
        return worker or self.process in ("broker", "edge", "workers") or (self.fault == "stall" and workers == 1)


class Result(msgspec.Struct):
    """What became of the utterances of one case."""

    case: Case
    workers: int
    said: int
    accepted: int
    at_client: int
    """Utterances with a marker at the client."""
    from_log: int
    """Utterances whose marker is in the broker's log alone."""
    twice: int
    missing: int
    ran_twice: int
    errors: Counter[str]
    late: float
    after_return: float
    p50: float

    @property
    def verdict(self) -> str:
        """What is not as it must be."""
        wrong = []
        if self.missing:
            wrong.append("markers missing")
        if self.twice:
            wrong.append("markers twice")
        if self.from_log and self.case.process != "edge":
            wrong.append("markers in the log alone")
        if self.ran_twice:
            wrong.append("handlers ran twice")
        if self.case.fault == "stall" and self.errors:
            wrong.append("errors")
        allowed = 3.0 if self.case.fault == "kill" else 6.0
        if self.late > allowed and not (self.case.is_alone(self.workers) and self.after_return <= 6.0):
            wrong.append("late")
        return ", ".join(wrong) or "ok"


class Crowd:
    """A websocket client that says things, and notes when each of them ended."""

    def __init__(self, bus: RemoteBus, case: Case, number: int) -> None:
        self._bus = bus
        self._case = case
        self._prefix = f"c{number}-"
        self.said: dict[str, float] = {}
        self.markers: dict[str, list[float]] = {}
        self.errors: Counter[str] = Counter()
        self._subscriptions = [
            bus.on(topics.UTTERANCE_HANDLED, self._handled),
            bus.on(topics.HANDLER_ERROR, self._error),
        ]

    def say(self, text: str | None = None) -> None:
        number = len(self.said)
        mark = f"{self._prefix}{number}"
        if text is None:
            text = "take a moment" if number % 2 else "be quick"
        session = Session(mark)
        if self._case.talk == "identical":
            text, session = "be quick", Session(f"{self._prefix}all")
        elif self._case.talk == "nested":
            text = "ask within"
        elif number % 20 == 0:
            session = Session()  # the default session
        self.said[mark] = time.monotonic()
        context = {} if self._case.talk == "identical" else {MARK: mark}
        self._bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": [text]}, context, session))

    def name_of(self, message: Message) -> str | None:
        """Which utterance a marker is of; identical ones are counted in the order they were said."""
        if self._case.talk == "identical":
            return self._prefix if message.session_id == f"{self._prefix}all" else None
        if message.session_id.endswith("-inner"):
            return f"inner {message.session_id}" if message.session_id.startswith(self._prefix) else None
        mark = message.context.get(MARK, "")
        return mark if isinstance(mark, str) and mark.startswith(self._prefix) else None

    def close(self) -> None:
        for subscription in self._subscriptions:
            subscription.close()

    def _handled(self, message: Message) -> None:
        name = self.name_of(message)
        if name is not None:
            self.markers.setdefault(name, []).append(time.monotonic())

    def _error(self, message: Message) -> None:
        if self.name_of(message) is not None:
            self.errors[str(message.data.get("exception"))[:60]] += 1


class Log:
    """The broker's log of markers, and the count of its work queue, read beside the assistant."""

    def __init__(self, connection: ProcessConnection) -> None:
        self._connection = connection
        assert connection.streams is not None
        self._jetstream = connection.streams.jetstream
        self.markers: list[Message] = []
        self._reader = StreamReader(self._jetstream, ENDS, f"{ENDS}.*.end", self._entry)

    async def open(self) -> None:
        found = await self._jetstream.ask(f"STREAM.INFO.{ENDS}", {})
        await self._reader.open(found.state.last_seq)

    def close(self) -> None:
        self._reader.close()

    async def accepted(self) -> int:
        """How many utterances have ever entered the work queue."""
        return (await self._jetstream.ask(f"STREAM.INFO.{TURNS}", {})).state.last_seq

    async def ready(self) -> dict[int, set[str]]:
        """The services of each process that is ready, by its id."""
        present = await self._connection.members.present()
        return {info.pid: set(info.services) for info in present if info.is_ready}

    def _entry(self, entry: StoredEntry) -> None:
        frames = msgspec.json.decode(entry.data, type=list[msgspec.Raw])
        self.markers.append(decode(bytes(frames[-1])))


class Split:
    """`hark run --split`, and its processes."""

    def __init__(self, process: asyncio.subprocess.Process, home: Path, port: int, workers: int) -> None:
        self.process = process
        self.home = home
        self.workers = workers
        self.url = f"ws://127.0.0.1:{port}/core"

    @property
    def names(self) -> list[str]:
        """Every process but the supervisor."""
        workers = [f"understand-{n}" for n in range(1, self.workers + 1)] if self.workers > 1 else ["understand"]
        return ["broker", *workers, "act", "speak", "hear", "edge"]

    def pids(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
                    words = (entry / "cmdline").read_bytes().decode().split("\0")
                except OSError:
                    continue
                if int(parent) != self.process.pid:
                    continue
                if "--service" in words:
                    found[words[words.index("--part" if "--part" in words else "--service") + 1]] = int(entry.name)
                elif any(word.endswith("server.conf") for word in words):
                    found["broker"] = int(entry.name)
        return found

    def broker_table(self) -> NatsTable:
        folder = self.home / "state" / "nats"
        [listen] = [line for line in (folder / "server.conf").read_text().splitlines() if line.startswith("listen: ")]
        password = str(folder / "supervisor.password")
        return NatsTable(servers=(f"nats://{listen.removeprefix('listen: ')}",), user="supervisor", password=password)

    async def all_ready(self, log: Log) -> None:
        """Wait until every process serves."""
        async with asyncio.timeout(60):
            while True:
                pids, ready = self.pids(), await log.ready()
                if set(self.names) <= pids.keys() and all(pids[n] in ready for n in self.names if n != "broker"):
                    return
                await asyncio.sleep(0.2)


@asynccontextmanager
async def split(workers: int, verbose: bool) -> AsyncIterator[Split]:
    """An assistant in processes of its own."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
        (home / "load.py").write_text(PLUGINS.format(runs=str(home / "runs"), mark=MARK))
        (home / "hark.toml").write_text(SETTINGS.format(folder=folder, port=port))
        command = [sys.executable, "-m", "hark", "run", "--split", "--stay", "--no-plugins"]
        command += ["--state", str(home / "state"), "--settings", str(home / "hark.toml")]
        command += ["--workers", str(workers)] if workers > 1 else []
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.DEVNULL, stderr=None if verbose else asyncio.subprocess.DEVNULL
        )
        try:
            yield Split(process, home, port, workers)
        finally:
            with suppress(ProcessLookupError):
                process.terminate()
            try:
                await asyncio.wait_for(process.wait(), 60)
            except TimeoutError:
                process.kill()
                await process.wait()


class Fault:
    """Does something to processes, and notes when they serve again."""

    def __init__(self, case: Case, assistant: Split, log: Log) -> None:
        self._case = case
        self._assistant = assistant
        self._log = log
        self.at = float("inf")
        self.returned = float("inf")

    async def happen(self, say: Callable[[str], None]) -> None:
        before = self._assistant.pids()
        names = [n for n in self._assistant.names if n.startswith("understand")]
        names = names if self._case.process == "workers" else [self._case.process]
        self.at = time.monotonic()
        if self._case.fault == "stall":
            say("stall the worker")
            self.returned = self.at + 3.0
            return
        number = signal.SIGKILL if self._case.fault == "kill" else signal.SIGSTOP
        for name in names:
            os.kill(before[name], number)
        if number == signal.SIGSTOP:
            await asyncio.sleep(STOPPED)
            for name in names:
                with suppress(ProcessLookupError):  # the supervisor has killed it meanwhile
                    os.kill(before[name], signal.SIGCONT)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and not await self._serve(names, before, number):
            await asyncio.sleep(0.05)
        self.returned = time.monotonic()

    async def _serve(self, names: list[str], before: dict[str, int], number: signal.Signals) -> bool:
        pids = self._assistant.pids()
        if number == signal.SIGKILL and any(pids.get(name) in (None, before[name]) for name in names):
            return False
        ready = await self._log.ready()
        return all(name == "broker" or pids.get(name) in ready for name in names)


async def measure(case: Case, number: int, assistant: Split, bus: RemoteBus, log: Log, options: Any) -> Result:
    """Talk, do it, talk on, and count."""
    await assistant.all_ready(log)
    crowd, fault = Crowd(bus, case, number), Fault(case, assistant, log)
    (assistant.home / "runs").write_bytes(b"")
    log.markers.clear()
    accepted = await log.accepted()
    await bus.carrier.flush()
    began = time.monotonic()
    happening: asyncio.Task[None] | None = None
    rate = options.rate / 2 if case.talk == "nested" else options.rate
    seconds = options.seconds + (STOPPED if case.fault == "stop" else 0.0)
    while (now := time.monotonic() - began) < seconds:
        if happening is None and now > options.seconds / 3:
            happening = asyncio.ensure_future(fault.happen(crowd.say))
        while len(crowd.said) < now * rate:
            crowd.say()
        await asyncio.sleep(0.002)
    assert happening is not None
    await happening
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        total = await log.accepted() - accepted
        if sum(map(len, crowd.markers.values())) >= total and total:
            break
        await asyncio.sleep(0.1)
    await asyncio.sleep(0.5)  # a second marker would come about now
    crowd.close()
    total = await log.accepted() - accepted
    return result(case, assistant, crowd, fault, log, total)


def result(case: Case, assistant: Split, crowd: Crowd, fault: Fault, log: Log, accepted: int) -> Result:
    logged = Counter(name for message in log.markers if (name := crowd.name_of(message)) is not None)
    runs = (assistant.home / "runs").read_text().splitlines()
    if case.talk == "identical":  # they cannot be told apart: each is the next one that was said
        times = sorted(at for found in crowd.markers.values() for at in found)
        pairs = list(zip(crowd.said.values(), times, strict=False))
        in_log = logged.total()
        client, twice = len(times), max(len(times) - accepted, 0) + max(in_log - accepted, 0)
        from_log, missing = max(in_log - len(times), 0), max(accepted - in_log, 0)
        ran_twice = max(len(runs) - accepted, 0)
    else:
        pairs = [(at, crowd.markers[mark][0]) for mark, at in crowd.said.items() if mark in crowd.markers]
        client = len(crowd.markers)
        twice = sum(len(found) > 1 for found in crowd.markers.values()) + sum(n > 1 for n in logged.values())
        from_log = len(logged.keys() - crowd.markers.keys())
        missing = max(accepted - len(logged.keys() | crowd.markers.keys()), 0)
        ran_twice = sum(n > 1 for mark, n in Counter(runs).items() if mark)  # turns within turns have no mark
    late = max((ended - max(said, fault.at) for said, ended in pairs if ended > fault.at), default=0.0)
    after = max((ended - max(said, fault.returned) for said, ended in pairs if ended > fault.returned), default=0.0)
    return Result(
        case=case,
        workers=assistant.workers,
        said=len(crowd.said),
        accepted=accepted,
        at_client=client,
        from_log=from_log,
        twice=twice,
        missing=missing,
        ran_twice=ran_twice,
        errors=crowd.errors,
        late=late,
        after_return=after,
        p50=statistics.median(ended - said for said, ended in pairs) * 1000 if pairs else 0.0,
    )


def cases(assistant: Split, quick: bool) -> list[Case]:
    """Every process killed and stopped; and what else must hold."""
    worker = assistant.names[1]
    if quick:
        return [Case(name, "kill") for name in (worker, "act", "broker", "edge")] + [Case(worker, "stop")]
    names = ["broker", worker, "act", "speak", "hear", "edge"]
    found = [Case(name, fault) for fault in ("kill", "stop") for name in names]
    found += [Case(worker, fault, "identical") for fault in ("kill", "stop")]
    if assistant.workers > 1:
        found += [Case("workers", "kill"), Case("workers", "kill", "identical")]
    found += [Case(name, "kill", "nested") for name in (worker, "act", "broker")]
    return [*found, Case("", "stall")]


HEAD = ("workers", "fault", "said", "accepted", "client", "log only", "none", "twice", "ran twice", "errors",
        "late s", "after return s", "p50 ms", "")  # fmt: skip


def row(one: Result) -> tuple[str, ...]:
    return (
        str(one.workers), one.case.name, str(one.said), str(one.accepted), str(one.at_client), str(one.from_log),
        str(one.missing), str(one.twice), str(one.ran_twice), str(one.errors.total()), f"{one.late:.2f}",
        f"{one.after_return:.2f}", f"{one.p50:.1f}", one.verdict,
    )  # fmt: skip


def table(rows: list[tuple[str, ...]]) -> str:
    lines = [HEAD, tuple("---" for _ in HEAD), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


async def run(workers: int, options: Any) -> list[Result]:
    found: list[Result] = []
    async with split(workers, options.verbose) as assistant:
        clock = SystemClock()
        bus = await BusAddress(BusTable(url=assistant.url)).connect(clock, patience=60.0, private=False)
        monitor = await connect(BusAddress(nats=assistant.broker_table()), clock)
        log = Log(monitor)
        await log.open()
        try:
            chosen = cases(assistant, options.quick)
            for number, case in enumerate(chosen):
                if options.only and not any(word in case.name for word in options.only):
                    continue
                found.append(await measure(case, number, assistant, bus, log, options))
                print(f"# {' '.join(row(found[-1]))} {dict(found[-1].errors) or ''}", file=sys.stderr, flush=True)
        finally:
            log.close()
            await bus.close()
            await monitor.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=100.0, help="utterances a second")
    parser.add_argument("--seconds", type=float, default=6.0, help="for how long; a stop adds its 8 s")
    parser.add_argument("--workers", default="1,2,4", help="how many understand, one run after the other")
    parser.add_argument("--only", nargs="+", default=[], metavar="WORDS", help="cases named so, as in 'kill act'")
    parser.add_argument("--quick", action="store_true", help="a few cases with one and two workers")
    parser.add_argument("--verbose", action="store_true", help="show the log of the assistant")
    options = parser.parse_args()
    found: list[Result] = []
    for workers in (1, 2) if options.quick else map(int, options.workers.split(",")):
        found += asyncio.run(run(workers, options))
    print(table([row(one) for one in found]))
    print(f"load average {', '.join(f'{average:.1f}' for average in os.getloadavg())} on {os.cpu_count()} cores")
    if any(one.verdict != "ok" for one in found):
        sys.exit(1)


if __name__ == "__main__":
    main()
