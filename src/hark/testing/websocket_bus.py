"""A bus over a real websocket, server and all, in one event loop."""

from __future__ import annotations

from hark.bus import Receive, RemoteBus
from hark.bus.websocket import Door, WebSocketCarrier, WebSocketServer
from hark.model import Clock, SystemClock
from hark.testing.quiet import QuietCarrier


class WebSocketBus(RemoteBus):
    """Made without arguments, like `LocalBus`; `open` starts its server on a free port. `settle` waits for it."""

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__(QuietCarrier(_WithServer(clock or SystemClock())))


class _WithServer(WebSocketCarrier):
    """A carrier that brings its own server."""

    def __init__(self, clock: Clock) -> None:
        super().__init__("", clock)
        self._server = WebSocketServer(clock)

    async def open(self, receive: Receive) -> None:
        self.url = await self._server.listen(Door(port=0))
        await super().open(receive)

    async def close(self) -> None:
        await super().close()
        await self._server.close()
