"""What is attacked: an assistant in processes of its own, and honest clients that must not notice."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from attacks.wire import Line, frame
from hark.bus import RemoteBus
from hark.bus.websocket import WebSocketCarrier
from hark.model import Message, SystemClock

HARK = (sys.executable, "-m", "hark")
MARK = "fuzz_client"
ANSWER_WITHIN = 5.0
"""Seconds in which an honest client must have its answer, on a machine that is busy with attacks."""


class Broken(Exception):
    """A promise was broken; the text says which."""


def promise(holds: object, text: str) -> None:
    """Raise `Broken` unless it holds."""
    if not holds:
        raise Broken(text)


@dataclass(frozen=True)
class Attack:
    """One attack: what is attacked, how it is called, and what does it. It raises `Broken`, or says what came of it."""

    surface: str
    name: str
    run: Callable[[Target], Awaitable[str]]


def memory(pid: int) -> float:
    """What a process holds, in MB."""
    with suppress(OSError, ValueError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    return 0.0


def descriptors(pid: int) -> int:
    """How many files and sockets a process has open."""
    with suppress(OSError):
        return len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208
    return 0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Target:
    """An assistant that runs, in a home of its own."""

    def __init__(self, home: Path, *more: str) -> None:
        self.home = home
        self.state = home / "state"
        self.port = free_port()
        self.url = f"ws://127.0.0.1:{self.port}/core"
        self.settings = home / "hark.toml"
        self.settings.write_text(f"[bus]\nport = {self.port}\nhandshake = 1.0\n")
        self.log = home / "log"
        self._more = more
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def places(self) -> list[str]:
        """The options that lead a command here."""
        return ["--settings", str(self.settings), "--state", str(self.state)]

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def pids(self) -> list[int]:
        """The assistant, and its processes."""
        with suppress(OSError):
            children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
            return [self.pid, *map(int, children)]
        return [self.pid]

    @property
    def memory(self) -> float:
        return sum(map(memory, self.pids))

    @property
    def descriptors(self) -> int:
        return sum(map(descriptors, self.pids))

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*HARK, "run", "--stay", "--no-plugins", *self._more, *self.places],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self._process.poll() is None:
            if b"hark: ready" in self.log.read_bytes():
                with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 0.2):
                    return
            time.sleep(0.05)
        raise Broken(f"the assistant does not start: {self.log.read_text()[-500:]}")

    def stop(self) -> None:
        assert self._process is not None
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise Broken("the assistant does not stop") from None

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    async def hark(
        self, *words: str, stdin: bytes = b"", within: float = 30.0, folder: Path | None = None
    ) -> tuple[int, str]:
        """Run a command; its exit status and what it printed on both streams."""
        process = await asyncio.create_subprocess_exec(
            *HARK,
            *words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=folder or self.home,
            env={**os.environ, "XDG_STATE_HOME": str(self.home / "xdg"), "XDG_CONFIG_HOME": str(self.home / "xdg")},
        )
        try:
            out, _ = await asyncio.wait_for(process.communicate(stdin), within)
        except TimeoutError:
            process.kill()
            await process.wait()
            raise Broken(f"hark {words[0]} hangs") from None
        text = out.decode(errors="replace")
        promise("Traceback" not in text, f"hark {words[0]} shows a traceback: {text[-300:]}")
        return process.returncode or 0, text


@contextmanager
def running(*more: str) -> Iterator[Target]:
    """An assistant, started and stopped."""
    with tempfile.TemporaryDirectory(prefix="hark-attacks-") as home:
        target = Target(Path(home), *more)
        target.start()
        try:
            yield target
        finally:
            if target.is_alive:
                target.stop()


class HonestClient:
    """A client that says things in sessions of its own, and counts what comes back."""

    def __init__(self, url: str) -> None:
        self._bus = RemoteBus(WebSocketCarrier(url, SystemClock()))
        self.markers: dict[str, int] = {}
        self.markers_at: dict[str, float] = {}
        self._spoken: dict[str, list[str]] = {}
        self._waiting: dict[str, asyncio.Event] = {}
        self.mark = uuid4().hex
        """In the context of what it says, and of the replies: attackers talk in the session of the device as well."""

    async def __aenter__(self) -> HonestClient:
        await self._bus.open()
        self._bus.on("ovos.utterance.handled", self._ended)
        self._bus.on("ovos.utterance.speak", self._heard)
        await self._bus.carrier.flush()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._bus.close()

    def say(self, text: str, session_id: str = "", data: Mapping[str, object] | None = None) -> str:
        """Say something; the id of the session, which counts its markers from now on."""
        session_id = session_id or f"honest-{uuid4().hex}"
        self.markers.setdefault(session_id, 0)
        self._waiting[session_id] = asyncio.Event()
        said = {"utterances": [text], "lang": "en-US"} if data is None else dict(data)
        context = {"session": {"session_id": session_id}, MARK: self.mark}
        self._bus.emit(Message("ovos.utterance.handle", said, context))
        return session_id

    async def ended(self, session_id: str, within: float = ANSWER_WITHIN) -> list[str]:
        """Wait for the end of what was said last in a session; what was answered."""
        try:
            await asyncio.wait_for(self._waiting[session_id].wait(), within)
        except TimeoutError:
            raise Broken(f"an honest turn had no end within {within:g} s") from None
        return self._spoken.get(session_id, [])

    async def ask(self, text: str, within: float = ANSWER_WITHIN) -> tuple[list[str], float]:
        """Say something in a new session; the answers, and the seconds it took."""
        began = time.perf_counter()
        session_id = self.say(text)
        answers = await self.ended(session_id, within)
        taken = time.perf_counter() - began
        self._waiting.pop(session_id)
        self._spoken.pop(session_id, None)
        return answers, taken

    def _ended(self, message: Message) -> None:
        session_id = message.session_id
        if session_id in self.markers and message.context.get(MARK) == self.mark:
            self.markers[session_id] += 1
            self.markers_at[session_id] = time.perf_counter()
            if session_id in self._waiting:
                self._waiting[session_id].set()

    def _heard(self, message: Message) -> None:
        if message.session_id in self._waiting and message.context.get(MARK) == self.mark:
            self._spoken.setdefault(message.session_id, []).append(str(message.data.get("utterance")))


async def still_answers(target: Target) -> None:
    """Raise `Broken` unless the assistant lives, and answers an honest client once."""
    promise(target.is_alive, "the assistant is gone")
    async with HonestClient(target.url) as honest:
        answers, _ = await honest.ask("say all is well")
        promise(answers == ["all is well"], f"an honest client was answered {answers!r}")
        promise(set(honest.markers.values()) == {1}, "an honest turn had more than one marker")


@contextmanager
def _closing(lines: list[Line]) -> Iterator[None]:
    try:
        yield
    finally:
        for line in lines:
            line.writer.transport.abort()


async def send(target: Target, *messages: Mapping[str, object] | bytes, pause: float = 0.1) -> None:
    """Send Messages as a plain websocket client without any library."""
    line = await Line.open(target.url)
    with _closing([line]):
        promise(await line.ask(target.url), "a local client is not accepted")
        for message in messages:
            payload = message if isinstance(message, bytes) else json.dumps(message).encode()
            line.writer.write(frame(payload))
        with suppress(OSError, TimeoutError):
            await asyncio.wait_for(line.writer.drain(), 10)
        await asyncio.sleep(pause)


def utterance(text: object, session: Mapping[str, object] | None = None, **context: object) -> dict[str, object]:
    """An entry Message."""
    return {
        "type": "ovos.utterance.handle",
        "data": {"utterances": text if isinstance(text, list) else [text], "lang": "en-US"},
        "context": {**({"session": dict(session)} if session is not None else {}), **context},
    }
