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
    """Standard output, an answer a line. When nobody reads it any more, `gone` is called, once and quietly."""

    def __init__(self, out: TextIO, gone: Callable[[], None], *, prompts: bool = False) -> None:
        self._out = out
        self._gone = gone
        self._is_gone = False
        self._prompts = prompts
        self.prompting = False
        """Whether a prompt is on the screen, waiting for a line."""

    def show(self, text: str) -> None:
        """Show an answer."""
        told = one_line(text)
        if self._prompts and self.prompting:
            # Over the prompt, which then comes again with what was typed so far.
            told = f"\r\x1b[K{told}\n{PROMPT}{_typed()}"
            self._write(told)
        else:
            self._write(f"{told}\n")

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


def _typed() -> str:
    readline = sys.modules.get("readline")
    return readline.get_line_buffer() if readline is not None else ""


class Terminal:
    """Standard input and output, if there is a person; puts the terminal back in order at the end."""

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

            # A line that was being typed has left the terminal in the state of the line editor.
            termios.tcsetattr(self._source, termios.TCSADRAIN, self._modes)
            print(file=sys.stderr)

    def read(self) -> str | None:
        """A line from the person; raises `EOFError` when they leave."""
        if self._shows_prompt:
            return input(PROMPT)
        print(PROMPT, end="", file=sys.stderr, flush=True)
        return input()


def _load_editing() -> None:
    """Editing and history of what is typed, where the system has it."""
    try:
        import readline  # noqa: F401 - input() uses it from now on
    except ImportError:
        return


_CHUNK: Final = 65_536


class LineReader:
    """Calls `read` on a thread of its own, once for each line somebody wants.

    The thread is a daemon: a process does not wait for a line that never comes.
    """

    def __init__(self, read: Callable[[], str | None]) -> None:
        self._read = read
        self._wanted: SimpleQueue[asyncio.Future[str | None]] = SimpleQueue()
        threading.Thread(target=self._serve, name="hark-stdin", daemon=True).start()

    async def line(self) -> str | None:
        """The next line without its end, or None when there is no more; raises `UnicodeError` for what is no text."""
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
                pass  # as good as the end
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

    Not by `sys.stdin`, whose lock a thread that waits for input would still hold when the interpreter ends.
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
