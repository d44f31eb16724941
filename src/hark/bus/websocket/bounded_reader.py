"""What a connection reads at once is bounded, and measured: one client cannot keep the event loop busy by sending."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from hark.model import Clock

MOST_AT_ONCE: Final = 32_768
"""Bytes that are read from one client before the event loop does other things. Without this bound a client that sends
fast makes the library double its buffer, up to megabytes, and handle all that is in it in one go."""


class BoundedReader(asyncio.BufferedProtocol):
    """Stands between a transport and the protocol that reads it: small reads, and how many seconds each one took."""

    def __init__(self, protocol: Any, clock: Clock, was_read: Callable[[float], None]) -> None:
        self._protocol = protocol
        self._monotonic = clock.monotonic
        self._was_read = was_read

    @classmethod
    def put_before(cls, transport: Any, clock: Clock, was_read: Callable[[float], None]) -> None:
        """Let a reader take what comes in on this transport from now on."""
        transport.set_protocol(cls(transport.get_protocol(), clock, was_read))

    def get_buffer(self, sizehint: int) -> memoryview:
        """See `asyncio.BufferedProtocol`."""
        buffer: memoryview = self._protocol.get_buffer(sizehint)
        return buffer[:MOST_AT_ONCE]

    def buffer_updated(self, nbytes: int) -> None:
        """See `asyncio.BufferedProtocol`."""
        began = self._monotonic()
        self._protocol.buffer_updated(nbytes)
        self._was_read(self._monotonic() - began)

    def eof_received(self) -> bool | None:
        """See `asyncio.BufferedProtocol`."""
        answer: bool | None = self._protocol.eof_received()
        return answer

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.BufferedProtocol`."""
        self._protocol.connection_lost(exc)

    def pause_writing(self) -> None:
        """See `asyncio.BufferedProtocol`."""
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        """See `asyncio.BufferedProtocol`."""
        self._protocol.resume_writing()
