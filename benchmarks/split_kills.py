"""An assistant in several processes, each of which is killed in turn while people talk to it.

    python benchmarks/split_kills.py --rate 100 --seconds 6

Starts `hark run --split`, says something `rate` times a second over its bus, each time in a session of its own, and in
the middle of it kills one process with SIGKILL. Tells for each process that was killed: how many utterances got no end
marker, or more than one, how many ended with an error, how long the longest took, and when answers came again.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

from hark.app.connecting import connected

from hark.app.processes.claims import Members
from hark.app.settings.tables import BusTable
from hark.model import Message, Session, SystemClock
from hark.spec import topics

ROOMS = ("understand", "act", "speak", "hear", "bus")
PATIENCE = 12.0


class Crowd:
    """Many people who each say one thing, and what became of it."""

    def __init__(self, bus) -> None:  # type: ignore[no-untyped-def]
        self.bus = bus
        self.said: dict[str, float] = {}
        self.markers: dict[str, list[float]] = {}
        self.errors: dict[str, str] = {}
        self.unmatched: set[str] = set()
        bus.on(topics.UTTERANCE_HANDLED, self._ended)
        bus.on(topics.HANDLER_ERROR, lambda m: self.errors.__setitem__(m.session_id, str(m.data.get("exception"))))
        bus.on(topics.INTENT_UNMATCHED, lambda m: self.unmatched.add(m.session_id))

    def say(self, session_id: str, text: str = "say hello") -> None:
        self.said[session_id] = time.monotonic()
        self.bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": [text]}, {}, Session(session_id)))

    def _ended(self, message: Message) -> None:
        self.markers.setdefault(message.session_id, []).append(time.monotonic())


def children_of(pid: int) -> dict[str, int]:
    """The process of each room."""
    found: dict[str, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = (entry / "stat").read_text().rpartition(")")[2].split()
                words = (entry / "cmdline").read_bytes().decode().split("\0")
            except OSError:
                continue
            if int(status[1]) == pid and "--room" in words:
                found[words[words.index("--room") + 1]] = int(entry.name)
    return found


async def one(room: str, supervisor: int, url: str, rate: int, seconds: float) -> dict[str, object]:
    """Talk, kill, talk on, and look."""
    bus = await connected(BusTable(url=url), SystemClock())
    crowd = Crowd(bus)
    await bus.settled()
    number, began, killed = 0, time.monotonic(), 0.0
    while (now := time.monotonic() - began) < seconds:
        if not killed and now > seconds / 3:
            os.kill(children_of(supervisor)[room], signal.SIGKILL)
            killed = time.monotonic()
        while number < now * rate:
            crowd.say(f"{room}-{number}")
            number += 1
        await asyncio.sleep(0.002)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and len(crowd.markers) < len(crowd.said):
        await asyncio.sleep(0.05)
    answered = [
        crowd.markers[one][0]
        for one, at in crowd.said.items()
        if at > killed and one in crowd.markers and one not in crowd.errors and one not in crowd.unmatched
    ]
    took = [crowd.markers[one][0] - at for one, at in crowd.said.items() if one in crowd.markers]
    result: dict[str, object] = {
        "killed": room,
        "said": len(crowd.said),
        "no marker": len(crowd.said) - len(crowd.markers),
        "two markers": sum(len(found) > 1 for found in crowd.markers.values()),
        "errors": len(crowd.errors),
        "unmatched": len(crowd.unmatched),
        "longest s": round(max(took), 2),
        "p50 ms": round(statistics.median(took) * 1000, 2),
        "answers again after s": round(min(answered) - killed, 2) if answered else None,
        "why": sorted({text[:60] for text in crowd.errors.values()}),
    }
    await bus.close()
    return result


async def main(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as state:
        url = f"ws://127.0.0.1:{options.port}/core"
        command = [sys.executable, "-m", "hark", "run", "--split", "--stay", "--bus", url, "--state", state]
        command += ["--workers", str(options.workers)] if options.workers else []
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.DEVNULL, stderr=None if options.verbose else asyncio.subprocess.DEVNULL
        )
        try:
            bus = await connected(BusTable(url=url), SystemClock(), 30.0)
            roster = Members(bus)
            roster.ask()
            for room in options.rooms:
                async with asyncio.timeout(60):
                    await roster.ready([name for name in ROOMS if name != "bus"])
                print(await one(room, process.pid, url, options.rate, options.seconds), flush=True)
                await asyncio.sleep(2.0)
            await bus.close()
        finally:
            process.terminate()
            await process.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--port", type=int, default=18_199)
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=ROOMS)
    parser.add_argument("--workers", type=int, default=0, help="so many share the work of understand; one is killed")
    parser.add_argument("--verbose", action="store_true")
    asyncio.run(main(parser.parse_args()))
