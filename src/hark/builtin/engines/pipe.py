"""Raw sound from a pipe: `arecord -t raw -f S16_LE -r 16000 | hark ...`."""

from __future__ import annotations

import os
import select
from collections.abc import AsyncIterator
from dataclasses import dataclass
from threading import BoundedSemaphore, Thread
from typing import Annotated, Final

from msgspec import Meta

from hark.builtin.engines.thread_queue import ThreadQueue
from hark.model import Audio
from hark.model.audio import as_mono
from hark.model.resample import Resampler
from hark.plugins.engines import SAMPLE_RATE, Microphone

_PIECE: Final = 4_096
_AHEAD: Final = 32
"""Pieces that are read ahead: a whole file must not end up in memory."""


class PipeMicrophone(Microphone):
    """Listens to raw samples (16 bits, little-endian) on standard input, another descriptor or a named pipe."""

    id = "pipe"

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        path: str = ""
        """A named pipe or a file; else the descriptor."""
        descriptor: Annotated[int, Meta(ge=0)] = 0
        """The file descriptor to read; 0 is standard input."""
        rate: Annotated[int, Meta(ge=8_000, le=192_000)] = SAMPLE_RATE
        """Samples a second."""
        channels: Annotated[int, Meta(ge=1, le=8)] = 1
        """Channels, which are mixed into one."""

    settings: Settings

    async def blocks(self) -> AsyncIterator[bytes]:
        settings = self.settings
        frame = 2 * settings.channels
        resampler = Resampler(settings.rate, SAMPLE_RATE) if settings.rate != SAMPLE_RATE else None
        rest = b""
        reader = _ReaderThread(settings.path, settings.descriptor)
        try:
            async for piece in reader.queue:
                whole = rest + piece
                cut = len(whole) // frame * frame
                whole, rest = whole[:cut], whole[cut:]
                samples = as_mono(Audio(whole, settings.rate, 2, settings.channels)).samples
                if samples := resampler.feed(samples) if resampler else samples:
                    yield samples
            if resampler and (last := resampler.finish()):
                yield last
        finally:
            reader.close()

    def about(self) -> str:
        where = self.settings.path or f"file descriptor {self.settings.descriptor}"
        return f"{where}, {self.settings.rate} Hz, {self.settings.channels} channel(s)"


class _ReaderThread:
    """A thread that reads, up to `_AHEAD` pieces ahead, until it is closed."""

    def __init__(self, path: str, descriptor: int) -> None:
        # Without O_NONBLOCK, opening a named pipe would wait for its writer, and nothing could interrupt that.
        self._own = bool(path)
        self._source = os.open(os.path.expanduser(path), os.O_RDONLY | os.O_NONBLOCK) if path else descriptor  # noqa: PTH111
        self._ended, self._end = os.pipe()
        self._ahead = BoundedSemaphore(_AHEAD)
        self.queue = ThreadQueue(_AHEAD + 1)
        self.queue.taken = self._ahead.release
        self._closed = False
        self._thread = Thread(target=self._run, name="pipe microphone", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop reading; returns when the thread has ended."""
        self._closed = True
        os.write(self._end, b"x")
        self._thread.join(timeout=2)
        for descriptor in (self._end, self._ended, *((self._source,) if self._own else ())):
            os.close(descriptor)

    def _run(self) -> None:
        try:
            while not self._closed:
                if not self._ahead.acquire(timeout=0.05):
                    continue
                ready, _, _ = select.select([self._source, self._ended], [], [])
                if self._ended in ready:
                    return
                piece = os.read(self._source, _PIECE)
                if not piece:
                    break
                self.queue.put(piece)
            self.queue.end()
        except (OSError, ValueError) as error:
            self.queue.end(error)
