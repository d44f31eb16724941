"""Lines from standard input, without the event loop waiting for them."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Final

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


class Descriptor:
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
