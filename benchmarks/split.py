"""Hark and ovos-core side by side, each in processes of its own: Hark over NATS, ovos-core over its websocket bus.

    python benchmarks/split.py --skills 1,10 --turns 200

Hark: `hark run --split` (broker, edge, understand, act, speak, hear). ovos-core: ovos-messagebus, the intent service,
and the skills. A websocket client in another process says one thing after the other, each in a session of its own, and
waits for the end marker. Both have the same transformers, one template engine, the same skills and sentences, silent
handlers. The sides take turns. Prints both and the ratio, for each number of skills, what passes the broker in a turn,
and the load of the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "peer_ovos")]

import nats  # noqa: E402
from install import InstallError, ensure  # noqa: E402

from hark.app.bus_address import BusAddress  # noqa: E402
from hark.app.processes.claims import BusMembers, until_ready  # noqa: E402
from hark.app.settings.tables import BusTable  # noqa: E402
from hark.model import Message, Session, SystemClock  # noqa: E402
from hark.spec import topics  # noqa: E402
from workload import matched, unmatched  # noqa: E402

MESSAGEBUS = "ovos-messagebus==0.2.1a6"
REQUIRED = 20.0

PLUGINS = '''\
"""The skills of the workload."""
import sys
sys.path.insert(0, {here!r})
from hark.skills import Skill, intent
from workload import workload

def _silent(name):
    async def handler(self, turn):
        pass
    handler.__name__ = name
    return handler

for _skill in workload({skills}):
    _members = {{"id": _skill.skill_id, "__module__": __name__}}
    for _one in _skill.intents:
        _members[_one.name] = intent(*_one.samples)(_silent(_one.name))
    _name = "Skill_" + _skill.skill_id.replace(".", "_").replace("-", "_")
    globals()[_name] = type(_name, (Skill,), _members)
'''
SETTINGS = """\
[assistant]
pipeline = ["template"]
files = ["{file}"]
[bus]
port = {port}
[trace]
disk = {disk}
[deny]
intent_transformers = ["values"]
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def hark(skills: int, turns: int, warmup: int) -> dict[str, Any]:
    """A split Hark, talked to by a websocket client at its edge."""
    with tempfile.TemporaryDirectory() as folder:
        home, port = Path(folder), free_port()
        (home / "skills.py").write_text(PLUGINS.format(here=str(HERE), skills=skills))
        (home / "hark.toml").write_text(SETTINGS.format(file=home / "skills.py", disk="false", port=port))
        command = [sys.executable, "-m", "hark", "run", "--split", "--stay", "--no-plugins"]
        command += ["--state", str(home / "state"), "--settings", str(home / "hark.toml")]
        began = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            bus = await BusAddress(BusTable(port=port)).connect(SystemClock(), patience=60.0, private=False)
            async with asyncio.timeout(60):
                await until_ready(BusMembers(bus), ("understand", "act", "speak", "hear"), SystemClock())
            ready = time.perf_counter() - began
            talker = Talker(bus)
            await bus.carrier.flush()
            total = turns + warmup
            found: dict[str, Any] = {
                "matched": [await talker.turn(u.text, True) for u in matched(total, skills)][warmup:],
                "unmatched": [await talker.turn(u.text, False) for u in unmatched(total)][warmup:],
            }
            path = await broker_path(home / "state" / "nats", talker, [u.text for u in matched(total, skills)][-20:])
            await bus.close()
            return {**found, "ready": ready, "path": path}
        finally:
            process.terminate()
            process.wait()


async def broker_path(folder: Path, talker: Talker, texts: list[str]) -> list[tuple[float, str, str]]:
    """Everything that passes the broker in a matched turn: when (in ms), what, and whether it is waited for."""
    [listen] = [line for line in (folder / "server.conf").read_text().splitlines() if line.startswith("listen: ")]
    password = (folder / "supervisor.password").read_text()
    address = f"nats://{listen.removeprefix('listen: ')}"
    client = await nats.connect(address, user="supervisor", password=password, inbox_prefix="_INBOX.supervisor")
    seen: list[tuple[float, str, str]] = []

    async def saw(message: Any) -> None:
        seen.append((time.perf_counter(), message.subject, message.reply))

    await client.subscribe(">", cb=saw)
    await client.flush()
    turns: list[list[tuple[float, str, str]]] = []
    for text in texts:
        seen.clear()
        await talker.turn(text, True)
        await asyncio.sleep(0.05)
        began = seen[0][0]
        turns.append([((at - began) * 1e3, *_described(subject, reply)) for at, subject, reply in seen])
    await client.close()
    # Requests that stand for a while, and the life signs of services, fall into some turns: the shortest has fewest.
    return min(turns, key=len)


def _described(subject: str, reply: str) -> tuple[str, str]:
    kind = "the broker's answer" if subject.startswith("_INBOX") else re.sub(r"\b[0-9a-f]{32}\b", "<key>", subject)
    if subject.startswith("$JS.ACK"):
        return "acknowledgement of the utterance", ""
    if reply.startswith("$JS.ACK"):
        return f"{kind} is delivered", ""
    if not reply:
        return kind, ""
    return f"{kind} is stored", "awaited" if subject.startswith(("hark-ends", "$KV")) else "asked for, not awaited"


class Talker:
    """Says things and waits for their ends."""

    def __init__(self, bus: Any) -> None:
        self._bus = bus
        self._number = 0
        self._unmatched = 0
        self._ended: asyncio.Future[str] | None = None
        bus.on(topics.UTTERANCE_HANDLED, self._handled)
        bus.on(topics.INTENT_UNMATCHED, self._nobody)

    def _handled(self, message: Message) -> None:
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(message.session_id)

    def _nobody(self, _message: Message) -> None:
        self._unmatched += 1

    async def turn(self, text: str, is_match: bool) -> float:
        self._number += 1
        self._unmatched = 0
        self._ended = asyncio.get_running_loop().create_future()
        session = Session(f"bench-{self._number}")
        entry = Message(topics.UTTERANCE_HANDLE, {"utterances": [text], "lang": "en-US"}, {}, session)
        began = time.perf_counter()
        self._bus.emit(entry)
        ended = await asyncio.wait_for(self._ended, 30)
        took = time.perf_counter() - began
        if ended != session.session_id or bool(self._unmatched) == is_match:
            sys.exit(f"{text!r}: ended {ended}, unmatched {self._unmatched}")
        return took


def ovos(python: Path, skills: int, turns: int, warmup: int) -> dict[str, Any]:
    """The peer, measured by its own client."""
    script = [str(python), str(HERE / "peer_ovos" / "split.py"), "--skills", str(skills), "--turns", str(turns)]
    done = subprocess.run([*script, "--warmup", str(warmup)], capture_output=True, text=True, timeout=600)
    if done.returncode:
        sys.exit(f"ovos-core failed:\n{done.stderr[-3000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def numbers(text: str) -> list[int]:
    """Several numbers, with commas between them."""
    return [int(number) for number in text.split(",")]


def load() -> str:
    """How busy the machine is."""
    return ", ".join(f"{average:.1f}" for average in os.getloadavg())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skills", type=numbers, default=[1, 10], help="how many, one after the other: 1,10")
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--warmup", type=int, default=20)
    parser.add_argument("--runs", type=int, default=2)
    options = parser.parse_args()
    venv = HERE / ".venvs" / "ovos"
    try:
        ensure(venv)
    except InstallError as error:
        sys.exit(str(error))
    pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", MESSAGEBUS]
    subprocess.run(pip, check=True, stderr=subprocess.DEVNULL)
    print(f"{'in several processes':34} {'Hark':>10} {'ovos-core':>10}        ratio")
    for skills in options.skills:
        ours, theirs = [], []
        for _ in range(options.runs):
            ours.append(asyncio.run(hark(skills, options.turns, options.warmup)))
            theirs.append(ovos(venv / "bin" / "python", skills, options.turns, options.warmup))
        for kind in ("matched", "unmatched"):
            mine = statistics.median(seconds for run in ours for seconds in run[kind]) * 1e3
            peer = statistics.median(seconds for run in theirs for seconds in run[kind]) * 1e3
            verdict = "" if peer / mine >= REQUIRED else f"  MISSED: {REQUIRED:g} are required"
            label = f"{kind} turn p50, {skills} skills"
            print(f"{label:34} {mine:10.2f} {peer:10.2f} ms {peer / mine:8.1f}{verdict}")
            best = min(seconds for run in ours for seconds in run[kind]) * 1e3
            tail = sorted(seconds for run in ours for seconds in run[kind])
            print(f"{'':12} Hark: best {best:.2f} ms, p99 {tail[int(len(tail) * 0.99)] * 1e3:.2f} ms")
        print(f"{'':12} one matched turn at the broker:")
        for at, what, awaited in ours[-1]["path"]:
            print(f"{'':12} {at:8.2f} ms  {what:60} {awaited}")
        print(f"{'':12} Hark: ready after {statistics.median(run['ready'] for run in ours):.2f} s")
        print(f"{'':12} load average {load()} on {os.cpu_count()} cores", flush=True)


if __name__ == "__main__":
    main()
