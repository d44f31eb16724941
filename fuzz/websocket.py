"""Treat a websocket server badly, in large numbers: `python fuzz/websocket.py --connections 5000`.

The server is `hark bus` in a process of its own. Meanwhile two honest clients talk to each other by it; at the end the
server has to be there, everything they said has to have arrived in order, its memory has to be bounded, no client may
have been accepted with a wrong token, and nothing may have come through in the name of another. Ends with 1 when that
is not so. Needs nothing but Hark and its extra `websocket`.
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

from attacks.wire import ATTACKS, FORBIDDEN, MUST_BE_REFUSED, REGISTER_HONEST, bound_token, is_forged

from hark.bus import RemoteBus
from hark.bus.websocket import BusUnavailable, WebSocketCarrier
from hark.model import Message, SystemClock, decode

MEMORY = 400.0
"""MB that the server may have held at most."""


@contextmanager
def serving(settings: str) -> Iterator[tuple[str, int, dict[str, str]]]:
    """A server: its address, its process, and tokens for it: of an honest client, a bound one, and a service."""
    with tempfile.TemporaryDirectory() as home:
        Path(home, "hark.toml").write_text(f"[bus]\n{settings}\n")
        hark = [sys.executable, "-m", "hark"]
        places = ["--settings", f"{home}/hark.toml", "--state", home]
        tokens = {}
        for name, options in (("honest", []), ("bound", ["--source", "fuzz", "--session", "fuzz"])):
            add = [*hark, "token", *places, "add", name, *options]
            tokens[name] = subprocess.run(add, capture_output=True, text=True, check=True).stdout.strip()
        with Path(home, "log").open("wb") as log:
            server = subprocess.Popen(
                [*hark, "bus", "--port", "0", *places], stdout=subprocess.PIPE, stderr=log, text=True
            )
            try:
                assert server.stdout is not None
                url = server.stdout.readline().split()[-1]
                yield url, server.pid, {**tokens, "service": Path(home, "service.token").read_text().strip()}
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
    """Two clients; one says numbers and has a skill, the other hears them. A service looks out for forgeries."""

    def __init__(self, url: str, tokens: dict[str, str]) -> None:
        self.heard: list[int] = []
        self.forged: list[str] = []
        self.said = 0
        self._one, self._other, self._service = self._buses = [
            RemoteBus(WebSocketCarrier(url, SystemClock(), token=tokens[name], private=name == "service"))
            for name in ("honest", "honest", "service")
        ]

    async def begin(self) -> None:
        for bus in self._buses:
            await bus.open()
        self._one.emit(decode(REGISTER_HONEST))
        await self._one.carrier.flush()
        self._service.on(FORBIDDEN, self._look)
        await self._service.carrier.flush()
        self._other.on("fuzz.honest", lambda message: self.heard.append(message.data["n"]))
        await self._other.carrier.flush()

    async def go_on(self) -> None:
        """Talk until cancelled."""
        while True:
            self._one.emit(Message("fuzz.honest", {"n": self.said}))
            self.said += 1
            await asyncio.sleep(0.005)

    async def end(self) -> bool:
        """Whether everything arrived, in order, and nothing was forged."""
        async with asyncio.timeout(60):
            for bus in self._buses:
                await bus.carrier.flush()
            for bus in self._buses:
                await bus.close()
        return self.heard == list(range(self.said)) and not self.forged

    def _look(self, message: Message) -> None:
        if is_forged(message.type, message.data, message.context):
            self.forged.append(message.type)


async def attack(
    name: str, url: str, pid: int, tokens: dict[str, str], dice: random.Random, count: int, closed: bool
) -> bool:
    """One attack with honest clients beside it; whether all is well."""
    honest = Honest(url, tokens)
    await honest.begin()
    talking = asyncio.create_task(honest.go_on())
    if name == "bound token":
        inside = await bound_token(url, dice, count, tokens["bound"])
    else:
        inside = await ATTACKS[name](url, dice, count)
    talking.cancel()
    unharmed = await honest.end()
    held = memory(pid)
    well = unharmed and held < MEMORY and not (inside and (closed or name in MUST_BE_REFUSED))
    print(
        f"{'ok  ' if well else 'FAIL'} {name}: {count} times, {inside} accepted, "
        f"{len(honest.heard)} of {honest.said} honest messages arrived, {len(honest.forged)} forged, "
        f"{held:.0f} MB at most"
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
        with serving(settings) as (url, pid, tokens):
            for name in ATTACKS:
                count = {
                    "giant messages": options.connections // 50,
                    "slow readers": min(100, options.connections),
                    "slow followers": min(60, options.connections),
                    "long names": options.connections // 20,
                }
                try:
                    well = asyncio.run(
                        attack(name, url, pid, tokens, dice, count.get(name, options.connections), closed)
                    )
                except (BusUnavailable, TimeoutError, OSError) as error:
                    print(f"FAIL {name}: {error!r}")
                    well = False
                if not well:
                    found.append(name)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
