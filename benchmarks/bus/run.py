"""Hark's bus and ovos-messagebus side by side: `make bench-bus`.

Each server is a process of its own, and so is what loads it. The rows "same clients" compare the servers: the same bare
clients, which speak the protocol of ovos-messagebus, on both. The rows "own clients" compare what a program gets: each
side's client on its own server. The sides take turns, so that whatever else the machine does hits both. `--libraries`
also measures the barest relays that three libraries allow, and Hark's server beside them.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import statistics
import subprocess
import sys
import venv
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from load import echo, round_trip, throughput  # noqa: E402
from servers import Server, hark, ovos, relay  # noqa: E402

VENV = HERE.parent / ".venvs" / "bus"
SUBSCRIBERS = (1, 10, 50)
Figures = dict[str, list[float]]


def prepare() -> Path:
    """The Python of the other side; makes its venv where it is missing."""
    wanted = HERE / "requirements.txt"
    digest = hashlib.sha256(wanted.read_bytes()).hexdigest()
    stamp, python = VENV / "hark-bench.stamp", VENV / "bin" / "python"
    if not (stamp.is_file() and stamp.read_text() == digest):
        print("preparing the venv of ovos-messagebus", file=sys.stderr)
        venv.create(VENV, with_pip=True, clear=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", wanted]
        subprocess.run(install, check=True)
        stamp.write_text(digest)
    return python


def delays(servers: Sequence[tuple[Server, Figures]], quick: bool, greets: bool = True) -> None:
    """How long a Message takes, in small slices in turn: what else the machine does hits all alike."""
    for label, work, slices, rounds in (
        ("its own message back", echo, 40, 500),
        ("question and answer", round_trip, 20, 40),
    ):
        times: list[list[float]] = [[] for _ in servers]
        for _ in range(slices // 10 if quick else slices):
            for number, (server, _figures) in enumerate(servers):
                times[number] += asyncio.run(work(server.url, rounds, greets))
        for number, (_server, figures) in enumerate(servers):
            cuts = statistics.quantiles(times[number], n=100)
            note(figures, f"same clients: {label}, median (µs)", cuts[49] * 1e6)
            note(figures, f"same clients: {label}, 99 of 100 (µs)", cuts[98] * 1e6)


def rates(server: Server, quick: bool, figures: Figures, greets: bool = True) -> None:
    """How much one server takes."""
    for subscribers in SUBSCRIBERS:
        messages = {1: 20_000, 10: 6_000, 50: 2_000}[subscribers] // (10 if quick else 1)
        before = server.processor()
        rate = asyncio.run(throughput(server.url, subscribers, messages, greets))
        note(figures, f"same clients: messages a second, {subscribers} subscribers", rate)
        # This hardly depends on what else the machine does.
        spent = (server.processor() - before) / messages * 1e6
        note(figures, f"same clients: work of the server for a message, {subscribers} subscribers (µs)", spent)
    note(figures, "memory of the server at most (MB)", server.memory())


def own(command: list[str], server: Server, quick: bool, figures: Figures) -> None:
    """Each side's own client."""
    share = 10 if quick else 1
    for subscribers in (1, 10):
        messages = {1: 4_000, 10: 1_000}[subscribers] // share
        numbers = [str(subscribers), str(messages), str(300 // share)]
        done = subprocess.run([*command, server.url, *numbers], capture_output=True, text=True, timeout=280, check=True)
        found = json.loads(done.stdout.splitlines()[-1])
        if subscribers == 1:
            note(figures, "own clients: question and answer, median (µs)", found["p50"])
            note(figures, "own clients: question and answer, 99 of 100 (µs)", found["p99"])
        note(figures, f"own clients: messages a second, {subscribers} subscribers", found["rate"])


def note(figures: Figures, label: str, value: float) -> None:
    figures.setdefault(label, []).append(value)
    print(f"    {label}: {value:,.0f}", file=sys.stderr)


def compare(rounds: int, quick: bool) -> int:
    """Both sides; the exit status is 1 when Hark is behind anywhere, or not as far ahead as it has to be."""
    python = prepare()
    ours: Figures = {}
    theirs: Figures = {}
    sides: list[tuple[str, Callable[[], AbstractContextManager[Server]], list[str], Figures]] = [
        ("hark", hark, [sys.executable, str(HERE / "own_hark.py")], ours),
        ("ovos-messagebus", lambda: ovos(python), [str(python), str(HERE / "own_ovos.py")], theirs),
    ]
    with hark() as one, ovos(python) as other:
        delays([(one, ours), (other, theirs)], quick)
    for number in range(rounds):
        for name, start, client, figures in sides if number % 2 == 0 else sides[::-1]:
            print(f"  round {number + 1}, {name}", file=sys.stderr)
            with start() as server:
                rates(server, quick, figures)
            with start() as server:
                own(client, server, quick, figures)
    print("| | Hark | ovos-messagebus | better by | required |\n|---|---:|---:|---:|---:|")
    behind = 0
    for label in ours:
        mine, other = statistics.median(ours[label]), statistics.median(theirs[label])
        factor = mine / other if "a second" in label else other / mine
        required = 3.0 if label.startswith("same clients: messages") and " 1 sub" not in label else 1.0
        behind += factor < required
        verdict = "" if factor >= required else " **no**"
        print(f"| {label} | {mine:,.0f} | {other:,.0f} | {factor:.1f} | {required:.0f}{verdict} |")
    return 1 if behind else 0


def libraries(quick: bool) -> int:
    """What each library could do at best, and what Hark's server makes of one of them."""
    python = prepare()
    table: dict[str, Figures] = {}
    for name in ("picows", "picows+uvloop", "websockets", "aiohttp", "hark"):
        print(f"  {name}", file=sys.stderr)
        with hark() if name == "hark" else relay(python, name) as server:
            delays([(server, table.setdefault(name, {}))], quick, greets=name == "hark")
            rates(server, quick, table[name], greets=name == "hark")
    labels = next(iter(table.values())).keys()
    print("| | " + " | ".join(table) + " |\n|---|" + "---:|" * len(table))
    for label in labels:
        print(f"| {label} | " + " | ".join(f"{figures[label][0]:,.0f}" for figures in table.values()) + " |")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="how often each side is measured")
    parser.add_argument("--quick", action="store_true", help="a tenth of the load, to see whether it works")
    parser.add_argument("--libraries", action="store_true", help="measure libraries instead of ovos-messagebus")
    options = parser.parse_args()
    return libraries(options.quick) if options.libraries else compare(options.rounds, options.quick)


if __name__ == "__main__":
    sys.exit(main())
