"""Standard input and output: lines in, answers out."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final, TextIO

from hark.app.text import one_line

PROMPT: Final = "> "


class Screen:
    """Standard output, one answer per line, wrapped at the width of a terminal.

    `gone` is called once when the reading end is closed.
    """

    def __init__(self, out: TextIO, gone: Callable[[], None], *, prompts: bool = False) -> None:
        self._out = out
        self._gone = gone
        self._is_gone = False
        self._prompts = prompts
        self.prompting = False
        """Whether a prompt is on the screen, waiting for a line."""

    def show(self, text: str) -> None:
        """Show an answer."""
        line = wrapped(one_line(text), self._out)
        if self._prompts and self.prompting:
            # Replaces the prompt, which is then shown again with what was typed so far.
            self._write(f"\r\x1b[K{line}\n{PROMPT}{_typed()}")
        else:
            self._write(f"{line}\n")

    def _write(self, text: str) -> None:
        if self._is_gone:
            return
        try:
            self._out.write(text)
            self._out.flush()
        except UnicodeEncodeError:
            self._write(text.encode("ascii", "replace").decode())
        except OSError:
            self._is_gone = True
            self._gone()


def wrapped(line: str, out: TextIO) -> str:
    """A line, broken between words where `out` is a terminal and too narrow for it."""
    if not out.isatty():
        return line
    from shutil import get_terminal_size
    from textwrap import fill

    width = get_terminal_size((0, 0)).columns
    return fill(line, width, break_long_words=False, break_on_hyphens=False) if 0 < width < len(line) else line


def _typed() -> str:
    readline = sys.modules.get("readline")
    return readline.get_line_buffer() if readline is not None else ""


class Terminal:
    """Standard input and output; where a user types, the terminal modes are restored at the end."""

    def __init__(self, source: TextIO, out: TextIO) -> None:
        self.is_interactive = source.isatty()
        self._shows_prompt = out.isatty()
        self._source = source
        self._modes: Any = None

    def __enter__(self) -> Terminal:
        if self.is_interactive:
            import termios

            self._modes = termios.tcgetattr(self._source)
            _load_editing()
        return self

    def __exit__(self, *_: object) -> None:
        if self._modes is not None:
            import termios

            # The line editor has changed the modes while a line was being typed.
            termios.tcsetattr(self._source, termios.TCSADRAIN, self._modes)
            print(file=sys.stderr)

    def read(self) -> str | None:
        """A line from the user; raises `EOFError` at the end of input."""
        if self._shows_prompt:
            return input(PROMPT)
        print(PROMPT, end="", file=sys.stderr, flush=True)
        return input()


def _load_editing() -> None:
    """Load line editing and history, where the system has them."""
    try:
        import readline  # noqa: F401 - input() uses it from now on
    except ImportError:
        return


_CHUNK: Final = 65_536


class LineReader:
    """Calls `read` on a thread of its own, once for each call of `line`.

    The thread is a daemon: a process does not wait for a line that never comes.
    """

    def __init__(self, read: Callable[[], str | None]) -> None:
        self._read = read
        self._wanted: SimpleQueue[asyncio.Future[str | None]] = SimpleQueue()
        threading.Thread(target=self._serve, name="hark-stdin", daemon=True).start()

    async def line(self) -> str | None:
        """The next line without its line break, or None at the end; raises `UnicodeError` if it is not UTF-8."""
        wanted: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._wanted.put(wanted)
        return await wanted

    def _serve(self) -> None:
        while True:
            wanted = self._wanted.get()
            line: str | None = None
            error: UnicodeError | None = None
            try:
                line = self._read()
            except UnicodeError as raised:
                error = raised
            except (EOFError, OSError, KeyboardInterrupt):
                pass  # treated as the end of input
            try:
                wanted.get_loop().call_soon_threadsafe(_settle, wanted, line, error)
            except RuntimeError:
                return  # the loop is closed


def _settle(wanted: asyncio.Future[str | None], line: str | None, error: UnicodeError | None) -> None:
    if wanted.done():
        return
    if error is not None:
        wanted.set_exception(error)
    else:
        wanted.set_result(line)


class DescriptorReader:
    """Reads lines of UTF-8 from a file descriptor.

    It does not use `sys.stdin`, whose lock the waiting thread would still hold when the interpreter exits.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._buffer = b""
        self._ended = False

    def __call__(self) -> str | None:
        """The next line, or None at the end; a last line needs no line break."""
        while b"\n" not in self._buffer and not self._ended:
            chunk = os.read(self._descriptor, _CHUNK)
            self._ended = not chunk
            self._buffer += chunk
        if not self._buffer:
            return None
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode()
