"""Real `hark` processes, each test's in a world of its own."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any, Final, TypeVar

T = TypeVar("T")

_BUSY: Final = re.compile(
    r"^(?P<room>(?:[a-z0-9-]+: )?)[\d-]+ [\d:,]+ ERROR hark\.watchdog: .*\n"
    r"(?:(?P=room)it blocked .*\n)?(?:(?P=room) .*\n|(?P=room)\n)*",
    re.MULTILINE,
)

_READY: Final = re.compile(r"^hark: ready[;:] .*\n", re.MULTILINE)

PATIENCE: Final = 30.0
"""Seconds after which a test is lost; what it waits for takes a fraction of one."""


class World:
    """A home directory, and what can be done in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.state = home / "state" / "hark"
        self.settings = home / "config" / "hark" / "hark.toml"
        self.site = home / "site"
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "PYTHON"))},
            "HOME": str(home),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "PYTHONPATH": str(self.site),
            "PYTHONWARNINGS": "error",
            # Compiled once for all tests: most of the time goes there otherwise.
            "PYTHONPYCACHEPREFIX": str(home.parent / "compiled"),
        }

    def write_settings(self, text: str) -> None:
        """Put a settings file where it is looked for."""
        self.settings.parent.mkdir(parents=True, exist_ok=True)
        # The port is one for all tests that run at the same time.
        self.settings.write_text(text if "[bus]" in text else f"{text}\n[bus]\nserve = false\n")

    def install(self, module: str, source: str, *entry_points: str) -> None:
        """Install a package with plugins: `skill: Name` for each entry point."""
        directory = self.site / f"{module}-1.0.dist-info"
        directory.mkdir(parents=True)
        (self.site / f"{module}.py").write_text(source)
        (directory / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        points = ""
        for point in entry_points:
            group, _, name = point.partition(": ")
            points += f"[hark.{group}]\n{name.lower()} = {module}:{name}\n"
        (directory / "entry_points.txt").write_text(points)

    def hark(self, *arguments: str, said: str | bytes = b"") -> subprocess.CompletedProcess[str]:
        """Run `hark` to its end, with this on its standard input."""
        octets = said.encode() if isinstance(said, str) else said
        done = subprocess.run(
            self._command(*arguments), input=octets, capture_output=True, timeout=PATIENCE, env=self.environment
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(errors="replace"), complaints(done.stderr)
        )

    @contextmanager
    def running(self, *arguments: str) -> Iterator[Running]:
        """A `hark` that runs meanwhile, its standard input held open."""
        with subprocess.Popen(
            self._command(*arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
        ) as process:
            try:
                yield Running(process)
            finally:
                process.kill()

    @contextmanager
    def at_terminal(self, *arguments: str) -> Iterator[Typing]:
        """A `hark` that runs in a terminal meanwhile."""
        ours, theirs = pty.openpty()
        environment = {**self.environment, "TERM": "dumb", "INPUTRC": os.devnull}
        with subprocess.Popen(
            self._command(*arguments),
            stdin=theirs,
            stdout=theirs,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
            preexec_fn=_take_terminal,
        ) as process:
            os.close(theirs)
            try:
                yield Typing(process, ours)
            finally:
                process.kill()
                os.close(ours)

    def _command(self, *arguments: str) -> list[str]:
        if arguments[:1] == ("run",) and not self.settings.exists():
            self.write_settings("")
        return [sys.executable, "-m", "hark", *arguments]


class Running:
    """A process under way."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._received = b""
        self.errors = ""
        """Everything it wrote to standard error, once it has ended."""

    @property
    def pid(self) -> int:
        return self._process.pid

    def say(self, text: str) -> str:
        """Put a line to its standard input; the line it answers with."""
        self.write(text)
        return self.line()

    def write(self, text: str) -> None:
        """Put a line to its standard input."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{text}\n".encode())
        self._process.stdin.flush()

    def line(self) -> str:
        """The next line of its standard output."""
        return self.until("\n").rstrip("\n")

    def until(self, text: str) -> str:
        """What comes up to this text, and the text."""
        wanted, deadline = text.encode(), monotonic() + PATIENCE
        while wanted not in self._received:
            ready, _, _ = select.select([self._out], [], [], max(deadline - monotonic(), 0))
            chunk = os.read(self._out, 65_536) if ready else b""
            assert chunk, f"{text!r} never came, only {self._received!r}; errors: {self._errors()}"
            self._received += chunk
        found, _, self._received = self._received.partition(wanted)
        return (found + wanted).decode()

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def close_output(self) -> None:
        """Read no more of what it says."""
        assert self._process.stdout is not None
        self._process.stdout.close()

    def end(self, *, hang_up: bool = True) -> tuple[int, str]:
        """Wait for its end, its input closed first; the exit status, and what it wrote to standard error."""
        if hang_up and self._process.stdin is not None:
            self._process.stdin.close()
        status = self._process.wait(PATIENCE)
        assert self._process.stderr is not None
        written = self._process.stderr.read()
        self.errors = written.decode(errors="replace")
        return status, complaints(written)

    @property
    def _out(self) -> int:
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def _errors(self) -> str:
        self._process.kill()
        assert self._process.stderr is not None
        return self._process.stderr.read().decode()


class Typing(Running):
    """A process in a terminal."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int) -> None:
        super().__init__(process)
        self._terminal = terminal

    def write(self, text: str) -> None:
        os.write(self._terminal, f"{text}\n".encode())

    def press(self, key: str) -> None:
        """Press a key, such as Ctrl-C."""
        os.write(self._terminal, key.encode())

    @property
    def _out(self) -> int:
        return self._terminal


def complaints(errors: bytes) -> str:
    """What was written to standard error, but for remarks about a busy machine, and about being ready."""
    return _READY.sub("", _BUSY.sub("", errors.decode(errors="replace")))


def eventually(find: Callable[[], T | None]) -> T:
    """What `find` returns as soon as it returns something, for what another process writes to disk."""
    deadline, pause = monotonic() + PATIENCE, threading.Event()
    while monotonic() < deadline:
        found = find()
        if found:
            return found
        pause.wait(0.005)
    raise AssertionError("it never came to be")


def free_port() -> int:
    """A port on which no process listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def free_url() -> str:
    """The address of a bus that is not there yet."""
    return f"ws://127.0.0.1:{free_port()}/core"


def processes(word: str) -> dict[str, int]:
    """The processes of an assistant that were started with this word, by service; workers by their names.

    The NATS server is the `broker`: its configuration is in the state directory, if that is the word.
    """
    found: dict[str, int] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            is_dead = (entry / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            continue
        if is_dead:
            continue
        if f"{word}/nats/server.conf" in words:
            found["broker"] = int(entry.name)
        elif word in words and "--service" in words:
            option = "--part" if "--part" in words else "--service"
            found[words[words.index(option) + 1]] = int(entry.name)
    return found


def _take_terminal() -> Any:
    # So that Ctrl-C in it reaches the process.
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
