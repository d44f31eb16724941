"""Treat a websocket server badly, in large numbers: `python fuzz/websocket.py --connections 5000`.

The server is `hark bus` in a process of its own. Meanwhile two honest clients talk to each other by it; at the end the
server has to be there, everything they said has to have arrived in order, its memory has to be bounded, and no client
may have been accepted with a wrong token. Ends with 1 when that is not so. Needs nothing but Hark and its extra
`websocket`.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attacks import ATTACKS

from hark.bus import RemoteBus
from hark.bus.websocket import BusUnavailable, WebSocketCarrier
from hark.model import Message, SystemClock

MEMORY = 400.0
"""MB that the server may have held at most."""


@contextmanager
def serving(settings: str) -> Iterator[tuple[str, int, str]]:
    """A server: its address, its process, and a token for it."""
    with tempfile.TemporaryDirectory() as home:
        Path(home, "hark.toml").write_text(f"[bus]\n{settings}\n")
        hark = [sys.executable, "-m", "hark"]
        places = ["--settings", f"{home}/hark.toml", "--state", home]
        made = subprocess.run([*hark, "token", *places, "add", "honest"], capture_output=True, text=True, check=True)
        with Path(home, "log").open("wb") as log:
            server = subprocess.Popen(
                [*hark, "bus", "--port", "0", *places], stdout=subprocess.PIPE, stderr=log, text=True
            )
            try:
                assert server.stdout is not None
                yield server.stdout.readline().split()[-1], server.pid, made.stdout.strip()
                if server.poll() is not None:
                    raise RuntimeError(f"the server is gone: {Path(home, 'log').read_text()[-2000:]}")
            finally:
                server.terminate()
                server.wait(10)
                lines = Path(home, "log").read_text().splitlines()
                print(f"  {len(lines)} lines in its log")
                for line in [line for line in lines if "Traceback" in line or "Error" in line][:5]:
                    print("   ", line)


def memory(pid: int) -> float:
    """The most a process ever held, in MB."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")


class Honest:
    """Two clients; one says numbers, the other hears them."""

    def __init__(self, url: str, token: str) -> None:
        self.heard: list[int] = []
        self.said = 0
        self._one, self._other = (RemoteBus(WebSocketCarrier(url, SystemClock(), token=token)) for _ in range(2))

    async def begin(self) -> None:
        for bus in (self._one, self._other):
            await bus.open()
        self._other.on("fuzz.honest", lambda message: self.heard.append(message.data["n"]))
        await self._other.carrier.flush()

    async def go_on(self) -> None:
        """Talk until cancelled."""
        while True:
            self._one.emit(Message("fuzz.honest", {"n": self.said}))
            self.said += 1
            await asyncio.sleep(0.005)

    async def end(self) -> bool:
        """Whether everything arrived, in order."""
        async with asyncio.timeout(60):
            await self._one.carrier.flush()
            await self._other.carrier.flush()
            await self._one.close()
            await self._other.close()
        return self.heard == list(range(self.said))


async def attack(name: str, url: str, pid: int, token: str, dice: random.Random, count: int, closed: bool) -> bool:
    """One attack with honest clients beside it; whether all is well."""
    honest = Honest(url, token)
    await honest.begin()
    talking = asyncio.create_task(honest.go_on())
    inside = await ATTACKS[name](url, dice, count)
    talking.cancel()
    unharmed = await honest.end()
    held = memory(pid)
    well = unharmed and held < MEMORY and not (closed and inside)
    print(
        f"{'ok  ' if well else 'FAIL'} {name}: {count} times, {inside} accepted, "
        f"{len(honest.heard)} of {honest.said} honest messages arrived, {held:.0f} MB at most"
    )
    return well


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--connections", type=int, default=2_000, help="how many each attack makes (2000)")
    parser.add_argument("--seed", type=int, default=1, help="for the dice (1)")
    options = parser.parse_args()
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # the attackers write to connections that are gone
    dice = random.Random(options.seed)
    found = []
    for closed in (False, True):
        print(
            "a server that needs a token from every client:"
            if closed
            else "a server that accepts local clients without a token:"
        )
        settings = "handshake = 1.0\nbacklog = 8000000\n" + ("ask_everybody = true" if closed else "")
        with serving(settings) as (url, pid, token):
            for name in ATTACKS:
                count = {"giant messages": options.connections // 50, "slow readers": min(100, options.connections)}
                try:
                    well = asyncio.run(
                        attack(name, url, pid, token, dice, count.get(name, options.connections), closed)
                    )
                except (BusUnavailable, TimeoutError, OSError) as error:
                    print(f"FAIL {name}: {error!r}")
                    well = False
                if not well:
                    found.append(name)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
