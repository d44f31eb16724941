"""Servers in processes of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent


class Server(NamedTuple):
    """A server that listens."""

    url: str
    pid: int

    def memory(self) -> float:
        """The most it ever held, in MB."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        return int(found[1]) / 1024 if found else float("nan")

    def processor(self) -> float:
        """Seconds of processor time it used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def hark(settings: str = "[bus]\nrate = 0\n") -> Iterator[Server]:
    """`hark bus`. The rate limit is off: it would be what is measured."""
    with tempfile.TemporaryDirectory() as home:
        port = free_port()
        file = Path(home, "hark.toml")
        file.write_text(settings)
        command = [sys.executable, "-m", "hark", "bus", "--port", str(port), "--state", home, "--settings", str(file)]
        with _running(command, port, {"HOME": home}) as pid:
            yield Server(f"ws://127.0.0.1:{port}/core", pid)


@contextmanager
def ovos(python: Path) -> Iterator[Server]:
    """`ovos-messagebus`, as it comes, in a home of its own."""
    with tempfile.TemporaryDirectory() as home:
        port = free_port()
        config = Path(home, "config", "mycroft", "mycroft.conf")
        config.parent.mkdir(parents=True)
        config.write_text(json.dumps({"websocket": {"host": "127.0.0.1", "port": port, "route": "/core"}}))
        places = {"HOME": home, "XDG_CONFIG_HOME": f"{home}/config", "XDG_DATA_HOME": f"{home}/data"}
        places |= {"XDG_CACHE_HOME": f"{home}/cache", "XDG_STATE_HOME": f"{home}/state", "TMPDIR": home}
        with _running([str(python), "-m", "ovos_messagebus"], port, places) as pid:
            yield Server(f"ws://127.0.0.1:{port}/core", pid)


@contextmanager
def relay(python: Path, library: str) -> Iterator[Server]:
    """The barest relay that a library allows; see relays.py."""
    port = free_port()
    with _running([str(python), str(HERE / "relays.py"), library, str(port)], port, {}) as pid:
        yield Server(f"ws://127.0.0.1:{port}/core", pid)


@contextmanager
def _running(command: Sequence[str], port: int, environment: dict[str, str]) -> Iterator[int]:
    log = tempfile.TemporaryFile()  # noqa: SIM115 - closed below
    process = subprocess.Popen(command, env={**os.environ, **environment}, stdout=log, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + 30
        while True:
            with socket.socket() as probe:
                if not probe.connect_ex(("127.0.0.1", port)):
                    break
            if process.poll() is not None or time.monotonic() > deadline:
                log.seek(0)
                raise RuntimeError(f"{command} does not listen:\n{log.read().decode(errors='replace')[-2000:]}")
            time.sleep(0.05)
        time.sleep(0.3)
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.close()
