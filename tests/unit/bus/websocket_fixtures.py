"""A server with clients on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from hark.bus import Bus, LocalBus, RemoteBus
from hark.bus.websocket import Endpoint, ServerLimits, WebSocketCarrier, WebSocketServer
from hark.bus.websocket.translation import TranslatorFactory
from hark.model import Clock, SystemClock


@asynccontextmanager
async def serving(
    clock: Clock | None = None,
    limits: ServerLimits | None = None,
    bus: Bus | None = None,
    reserved: Iterable[str] = (),
    translators: TranslatorFactory | None = None,
    has_assistant: bool = False,
    **endpoint: Any,
) -> AsyncIterator[tuple[WebSocketServer, str]]:
    """A server on a free port, with a bus of its own unless one is given, and its address."""
    own = LocalBus()
    endpoints = [Endpoint(**{"port": 0, **endpoint})]
    server = WebSocketServer(
        bus or own,
        endpoints,
        limits or ServerLimits(),
        clock or SystemClock(),
        reserved=reserved,
        translators=translators,
        has_assistant=has_assistant,
    )
    try:
        [url] = await server.start()
        yield server, url
    finally:
        await server.close()
        await own.close()


@asynccontextmanager
async def connected(url: str, clock: Clock | None = None, **options: Any) -> AsyncIterator[RemoteBus]:
    """A bus on that server."""
    bus = RemoteBus(WebSocketCarrier(url, clock or SystemClock(), **options))
    await bus.open()
    try:
        yield bus
    finally:
        await bus.close()


class Raw(WSListener):
    """A client that speaks the protocol of ovos-messagebus and nothing else."""

    def __init__(self) -> None:
        self.transport: WSTransport
        self.frames: list[bytes] = []
        self.closed = asyncio.Event()
        self.close_code = 0
        self._more = asyncio.Event()

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type in (WSMsgType.TEXT, WSMsgType.BINARY):
            self.frames.append(frame.get_payload_as_bytes())
            self._more.set()
        elif frame.msg_type == WSMsgType.CLOSE:
            self.close_code = int(frame.get_close_code())  # type: ignore[call-overload]

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        self.closed.set()

    def send(self, payload: bytes | str, kind: WSMsgType = WSMsgType.TEXT) -> None:
        self.transport.send(kind, payload)

    async def until(self, enough: Callable[[list[bytes]], bool]) -> list[bytes]:
        """Everything that came, once it is enough."""
        async with asyncio.timeout(20):
            while not enough(self.frames):
                self._more.clear()
                await self._more.wait()
        return self.frames

    async def end(self) -> None:
        self.transport.disconnect(graceful=False)
        async with asyncio.timeout(20):
            await self.closed.wait()


async def raw(url: str, **headers: str) -> Raw:
    """A connected raw client; header names with `_` for `-`."""
    extra = [(name.replace("_", "-"), value) for name, value in headers.items()]
    transport, listener = await ws_connect(Raw, url, extra_headers=extra)
    assert isinstance(listener, Raw)
    listener.transport = transport
    return listener


async def eventually(condition: Callable[[], bool]) -> None:
    """Wait until it is so; the network takes as long as it takes."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - nobody tells when the network is through
            await asyncio.sleep(0.001)
