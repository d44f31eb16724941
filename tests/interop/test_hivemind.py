"""A satellite of HiveMind, its own terminal program, behind a hub that is a client of Hark's bus."""

from __future__ import annotations

import json
import os
import re
import select
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

import pytest

from flow.hark_process import eventually, free_port
from interop.conftest import Assistant, Peer
from interop.test_programs import listening

KEY = "0123456789abcdef0123456789abcdef"
PASSWORD = "a lamp, a kettle and 9174 other things"
ALLOWED = ("recognizer_loop:utterance", "ovos.utterance.handle")


class Satellite:
    """The terminal program: what is typed is said, and what is spoken is printed."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._unread = ""

    def say(self, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{text}\n".encode())
        self._process.stdin.flush()

    def hears(self, pattern: str) -> None:
        """Wait until this is spoken."""
        self.prints(rf">  [^\n]*({pattern})")

    def prints(self, pattern: str, seconds: float = 60.0) -> None:
        assert self._process.stdout is not None
        out, deadline = self._process.stdout.fileno(), monotonic() + seconds
        while not (found := re.search(pattern, self._unread)):
            ready, _, _ = select.select([out], [], [], max(deadline - monotonic(), 0))
            chunk = os.read(out, 65_536) if ready else b""
            assert chunk, f"it printed only {self._unread[-500:]!r}"
            self._unread += chunk.decode(errors="replace")
        self._unread = self._unread[found.end() :]


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def hub(world: Assistant, peer: Peer) -> Iterator[tuple[int, dict[str, str]]]:
    """A hub with one client, on the bus of the assistant; its port, and the environment for its satellite."""
    port, home = free_port(), world.home
    kept = {name: value for name, value in world.environment.items() if not name.startswith("PYTHON")}
    made = {"XDG_DATA_HOME": str(home / "data"), "XDG_CACHE_HOME": str(home / "cache"), "PYTHONUNBUFFERED": "1"}
    environment = {**kept, **made}
    folder = home / "config" / "hivemind-core"
    folder.mkdir(parents=True)
    agent, network = "hivemind-ovos-agent-plugin", "hivemind-websocket-plugin"
    configured = {
        "agent_protocol": {"module": agent, agent: {"host": "127.0.0.1", "port": world.port}},
        "network_protocol": {network: {"host": "127.0.0.1", "port": port, "ssl": False}},
        "presence": {"enabled": False},
    }
    (folder / "server.json").write_text(json.dumps(configured))
    command = str(peer.folder / "bin" / "hivemind-core")
    allowed = [word for topic in ALLOWED for word in ("--allow", topic)]
    client = ["add-client", "--name", "satellite", "--access-key", KEY, "--password", PASSWORD, *allowed]
    subprocess.run([command, *client], env=environment, check=True, capture_output=True, timeout=120)
    with (home / "hub.log").open("wb") as log:
        process = subprocess.Popen([command, "listen"], env=environment, stdout=log, stderr=log)
    try:
        eventually(lambda: is_open(port))
        yield port, environment
    finally:
        process.kill()
        process.wait()


@contextmanager
def satellite(peer: Peer, port: int, environment: dict[str, str]) -> Iterator[Satellite]:
    where = ["--host", "ws://127.0.0.1", "--port", str(port)]
    command = [str(peer.folder / "bin" / "hivemind-client"), "terminal", "--key", KEY, "--password", PASSWORD, *where]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        try:
            made = Satellite(process)
            made.prints("Utterance:", 120.0)
            yield made
        finally:
            process.kill()


@pytest.mark.peers("hivemind")
def test_a_satellite_is_answered_and_answers_a_question(world: Assistant, peer: Peer) -> None:
    with (
        listening(world),
        hub(world, peer) as (port, environment),
        satellite(peer, port, environment) as terminal,
    ):
        terminal.say("what is two plus three")
        terminal.hears("5")
        terminal.say("set a timer")
        terminal.hears("For how long")
        terminal.say("ten minutes")
        terminal.hears("Timer set for 10 minutes")
        terminal.say("what is two plus two")
        terminal.hears("4")
