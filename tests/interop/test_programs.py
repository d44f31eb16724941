"""Programs outside, in real time: those of the page, and two that think for long."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from flow.hark_process import eventually
from interop.conftest import FOLDER, ROOT, Assistant, Peer, peers

EXAMPLES = {
    "program-python": ("coffee.py", "make me strong coffee", "Here is your strong coffee."),
    "program-node": ("coffee.mjs", "brew me strong coffee", "Here is your strong coffee."),
}
THINKER = Path(__file__).parent / "programs" / "thinker.py"
THINKS = 30.0
ENDS = ("ovos.intent.handler.complete", "ovos.intent.handler.error", "ovos.intent.unmatched")


@contextmanager
def program(*command: str | Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    with subprocess.Popen([str(one) for one in command], env={**kept, **environment}) as process:
        try:
            yield process
        finally:
            process.kill()


class Bus:
    """A client of the assistant's bus, by way of `hark bus pipe`."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._unread = b""
        self.messages: list[dict[str, Any]] = []
        self.until(lambda one: one["type"] == "connected")

    def say(self, text: str, session: dict[str, Any]) -> None:
        self.emit("ovos.utterance.handle", {"utterances": [text]}, session)

    def emit(self, topic: str, data: dict[str, Any], session: dict[str, Any] | None = None) -> None:
        context = {} if session is None else {"session": session}
        message = {"type": topic, "data": data, "context": context}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def until(self, wanted: Any, seconds: float = 60.0) -> dict[str, Any]:
        """The next Message that is wanted; those before it are in `messages` as well."""
        assert self._process.stdout is not None
        out, deadline = self._process.stdout.fileno(), monotonic() + seconds
        while True:
            while b"\n" in self._unread:
                line, _, self._unread = self._unread.partition(b"\n")
                self.messages.append(json.loads(line))
                if wanted(self.messages[-1]):
                    return self.messages[-1]
            ready, _, _ = select.select([out], [], [], max(deadline - monotonic(), 0))
            chunk = os.read(out, 65_536) if ready else b""
            assert chunk, f"it never came, only {[one['type'] for one in self.messages][-20:]}"
            self._unread += chunk

    def topic(self, topic: str, seconds: float = 60.0) -> dict[str, Any]:
        return self.until(lambda one: one["type"] == topic, seconds)

    def count(self, *topics: str) -> int:
        return sum(one["type"] in topics for one in self.messages)


@contextmanager
def piped(world: Assistant, url: str) -> Iterator[subprocess.Popen[bytes]]:
    """`hark bus pipe` on a bus."""
    command = [sys.executable, "-m", "hark", "bus", "pipe", "--bus", url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=world.environment) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def listening(world: Assistant) -> Iterator[Bus]:
    """An assistant that runs, and a client on its bus."""
    with world.running("run") as hark:
        eventually((world.state / "control.sock").exists)
        eventually(lambda: world.hark("bus", "pipe", "--bus", world.url).returncode == 0)
        with piped(world, world.url) as process:
            yield Bus(process)
        hark.signal(signal.SIGTERM)
        assert hark.end()[0] == 0


@pytest.mark.peers("program")
def test_the_example_answers_and_comes_back(world: Assistant, peer: Peer, tmp_path: Path) -> None:
    file, words, answer = EXAMPLES[peer.name]
    path = ROOT / "examples" / "outside" / file
    if peer.name == "program-node":  # a module looks for others beside itself
        (tmp_path / "node_modules").symlink_to(peer.folder / "node_modules")
        path = Path(shutil.copy(path, tmp_path))
    command = [peer.python if peer.name == "program-python" else "node", path, world.url]
    with world.running("run") as hark:
        eventually((world.state / "control.sock").exists)
        with program(*command):
            eventually(lambda: world.hark("say", words).stdout == f"{answer}\n")
        assert answer not in world.hark("say", words).stdout, "it was killed"
        with program(*command):
            eventually(lambda: world.hark("say", words).stdout == f"{answer}\n")
            hark.signal(signal.SIGTERM)
            assert hark.end()[0] == 0
            with world.running("run"):
                eventually((world.state / "control.sock").exists)
                eventually(lambda: world.hark("say", words).stdout == f"{answer}\n")


def test_a_program_that_follows_only_the_specifications(world: Assistant) -> None:
    [peer] = [one for one in peers("program") if one.name == "program-python"]
    with listening(world) as bus, program(peer.python, THINKER, world.url, str(THINKS), "specifications"):
        bus.topic("ovos.intent.register.template")
        began = monotonic()
        bus.say("think about the specifications", {"session_id": "a"})
        spoken = bus.topic("ovos.utterance.speak")
        assert spoken["data"]["utterance"] == "I have thought."
        assert THINKS <= monotonic() - began < THINKS + 2
        assert bus.count("ovos.utterance.handled", *ENDS) == 0
        bus.topic("ovos.utterance.handled")
        assert THINKS + 10 <= monotonic() - began < THINKS + 13, "the quiet time"
        assert bus.count("ovos.intent.handler.complete") == 1
        began = monotonic()
        bus.say("what time is it", {"session_id": "b"})
        bus.topic("ovos.utterance.handled")
        assert monotonic() - began < 1.0
        assert bus.count("ovos.utterance.handled") == 2


def test_a_program_that_follows_the_page(world: Assistant) -> None:
    [peer] = [one for one in peers("program") if one.name == "program-python"]
    command = (peer.python, THINKER, world.url)
    with listening(world) as bus:
        with program(*command, str(THINKS), "page") as process:
            bus.topic("ovos.intent.register.template")
            began = monotonic()
            bus.say("think about the page", {"session_id": "a"})
            asked = bus.topic("ovos.utterance.speak")
            bus.topic("ovos.utterance.handled")
            assert THINKS <= monotonic() - began < THINKS + 2, "no quiet time: it says when it is done"
            session = [one for one in bus.messages if one["type"] == "ovos.utterance.handled"][-1]["context"]["session"]
            assert session["response_mode"] == asked["context"]["session"]["response_mode"]
            bus.say("yes", session)
            assert bus.topic("ovos.utterance.speak")["data"]["utterance"] == "You said yes."
            bus.topic("ovos.utterance.handled")
            bus.say("think about the page", {"session_id": "a"})
            bus.topic("thinker.page:think")
            began = monotonic()
            process.kill()
            bus.topic("ovos.utterance.handled")
            assert monotonic() - began < 1.0, "no time is lost on a program that is gone"
        bus.say("think about the page", {"session_id": "a"})
        calls = bus.count("thinker.page:think")
        bus.topic("ovos.utterance.handled")
        assert bus.count("thinker.page:think") == calls, "its intents stopped matching when it was killed"
        with program(*command, "0", "page"):
            bus.topic("ovos.intent.register.template")
            bus.say("think about the page", {"session_id": "c"})
            assert bus.topic("ovos.utterance.speak")["data"]["utterance"] == "Do you want to know?"
            bus.topic("ovos.utterance.handled")
        assert bus.count("ovos.utterance.handled") == bus.count(*ENDS) == 5


def test_the_environments_are_there() -> None:
    assert [one.name for one in peers("client", "bus", "program") if not (FOLDER / one.name / ".ready").exists()] == []
