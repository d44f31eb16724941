"""A bus over a real websocket, server and all, in one event loop."""

from __future__ import annotations

from hark.bus import LocalBus, Receive, RemoteBus
from hark.bus.websocket import Endpoint, ServerLimits, WebSocketCarrier, WebSocketServer
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
        self._relay = LocalBus()
        self._server = WebSocketServer(self._relay, [Endpoint(port=0)], ServerLimits(), clock)

    async def open(self, receive: Receive) -> None:
        [self.url] = await self._server.start()
        await super().open(receive)

    async def close(self) -> None:
        await super().close()
        await self._server.close()
        await self._relay.close()
