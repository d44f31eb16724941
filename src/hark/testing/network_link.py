"""A network between a test and a server that can fail: it can be cut, and it can hang."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from types import TracebackType


class NetworkLink:
    """`async with NetworkLink(server.port) as link: ...link.port...`: a port that leads to another on loopback."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._flows = asyncio.Event()
        self._flows.set()
        self.port = 0

    async def __aenter__(self) -> NetworkLink:
        await self.restore()
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.cut()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def cut(self) -> None:
        """Break every connection and accept no other: to the server it looks as if the client was killed."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in self._writers:
            writer.transport.abort()

    async def restore(self) -> None:
        """Accept connections, perhaps again."""
        if self._server is None:
            self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
            self.port = self._server.sockets[0].getsockname()[1]

    def hang(self) -> None:
        """Pass nothing on: to the server it looks as if the client was stopped."""
        self._flows.clear()

    def flow(self) -> None:
        """Pass on what has waited, and what comes."""
        self._flows.set()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            to_reader, to_writer = await asyncio.open_connection("127.0.0.1", self._to)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, to_writer}
        if self._server is None:
            self.cut()
        for source, target in ((reader, to_writer), (to_reader, writer)):
            task = asyncio.get_running_loop().create_task(self._pass_on(source, target))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pass_on(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError):
                while octets := await source.read(65_536):
                    await self._flows.wait()
                    target.write(octets)
                    await target.drain()
        finally:
            target.transport.abort()
            self._writers.discard(target)
