"""Sound from a microphone that may fail and is opened again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from types import CoroutineType
from typing import Any, Final

from hark.hear.options import HearOptions
from hark.hosting import Engines, Loaded, Runner
from hark.hosting.runner import CANCEL_TIMEOUT
from hark.plugins.engines import Microphone

log = logging.getLogger("hark.hear")

_END: Final[Any] = object()


class AudioSource:
    """Blocks of sound of the requested size.

    When a microphone fails the next one is tried, and the first again after a while. When one ends, the source ends.
    """

    def __init__(
        self, runner: Runner, microphones: Engines[Microphone], options: HearOptions, on_lost: Callable[[], None]
    ) -> None:
        self._runner = runner
        self._microphones = microphones
        self._options = options
        self._on_lost = on_lost
        self._entry: Loaded[Microphone] | None = None
        self._pieces: AsyncIterator[Any] | None = None
        self._tried: set[str] = set()
        """The microphones that failed since the last wait."""
        self._lost = False
        self._wait = options.reopen_after
        self._held = bytearray()
        self._ended = False

    @property
    def microphone(self) -> str:
        """The id of the microphone in use; empty while there is none."""
        return "" if self._entry is None else self._entry.id

    async def block(self, size: int) -> bytes | None:
        """The next `size` bytes, at the end filled up with silence; None when the sound has ended."""
        while len(self._held) < size and not self._ended:
            piece = await self._piece()
            if piece is None:
                self._ended = True
            elif piece:
                self._held += piece
            else:
                await asyncio.sleep(0)  # a microphone that yields nothing must not keep other tasks waiting
        if not self._held:
            return None
        self._held.extend(bytes(max(0, size - len(self._held))))
        block = bytes(self._held[:size])
        del self._held[:size]
        return block

    async def close(self) -> None:
        pieces, self._pieces = self._pieces, None
        if pieces is not None:
            await self._runner.guard(self._close_pieces(pieces), f"microphone {self.microphone}")
        self._entry = None

    async def _piece(self) -> bytes | None:
        """The next piece of sound from the first microphone that works; None at its end."""
        while True:
            if self._pieces is None:
                await self._open()
            if self._pieces is None or self._entry is None:
                await self._runner.clock.sleep(self._wait)
                self._wait = min(2 * self._wait, self._options.reopen_at_most)
                self._tried.clear()
                continue
            piece = await self._next_piece(self._entry, self._pieces)
            if piece is _END:
                return None
            if type(piece) is bytes:
                self._recovered()
                return piece
            await self._lose()

    async def _open(self) -> None:
        """Open the first microphone that has not failed just now."""
        for entry in list(self._microphones.usable()):
            if entry.id in self._tried:
                continue
            self._pieces = await self._runner.guard(_opened(entry), f"microphone {entry.id}")
            if self._pieces is not None:
                self._entry = entry
                return
            self._tried.add(entry.id)
        self._lost = True

    async def _next_piece(self, entry: Loaded[Microphone], pieces: AsyncIterator[Any]) -> Any:
        """The next piece from the microphone: bytes, `_END`, or something else when it failed."""
        name = f"microphone {entry.id}"
        piece = self._runner.guard(_next(pieces), name)
        if not entry.plugin.steady:
            return await piece
        try:
            async with self._runner.clock.timeout(self._options.stall):
                return await piece
        except TimeoutError:
            log.warning("%s gave no sound for %g s", name, self._options.stall)
            return None

    async def _lose(self) -> None:
        """The microphone failed: report it, and try another."""
        self._tried.add(self.microphone)
        self._lost = True
        log.warning("microphone %s failed and will be opened again", self.microphone)
        await self.close()
        self._held.clear()
        self._on_lost()

    async def _close_pieces(self, pieces: AsyncIterator[Any]) -> None:
        close = getattr(pieces, "aclose", None)
        if close is not None:
            async with self._runner.clock.timeout(CANCEL_TIMEOUT):
                await close()

    def _recovered(self) -> None:
        if self._lost:
            log.warning("microphone %s works again", self.microphone)
            self._lost = False
            self._tried.clear()
            self._wait = self._options.reopen_after


async def _opened(entry: Loaded[Microphone]) -> AsyncIterator[Any]:
    pieces = entry.call()
    if type(pieces) is CoroutineType:
        pieces.close()
        raise TypeError("blocks() must yield, not return")
    return aiter(pieces)


async def _next(pieces: AsyncIterator[Any]) -> Any:
    try:
        piece = await anext(pieces)
    except StopAsyncIteration:
        return _END
    if not isinstance(piece, (bytes, bytearray, memoryview)):
        raise TypeError(f"it yielded a {type(piece).__name__} for sound")
    return bytes(piece)
