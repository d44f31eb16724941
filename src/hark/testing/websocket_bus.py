"""A bus over a real websocket, server and all, in one event loop."""

from __future__ import annotations

from typing import Final

from hark.bus import LocalBus, Receive, RemoteBus
from hark.bus.websocket import (
    Credential,
    Endpoint,
    Permissions,
    ServerLimits,
    WebSocketCarrier,
    WebSocketServer,
)
from hark.model import Clock, SystemClock
from hark.testing.quiet import QuietCarrier

_TOKEN: Final = "service"  # noqa: S105 - of tests


class WebSocketBus(RemoteBus):
    """Made without arguments, like `LocalBus`; `open` starts its server on a free port. `settle` waits for it."""

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__(QuietCarrier(_WithServer(clock or SystemClock())))


class _ServiceCredentials:
    """The assistant on this bus is one of Hark's own services."""

    def find(self, token: str) -> Credential | None:
        return Credential("a Hark service", Permissions(private=True)) if token == _TOKEN else None

    def is_valid(self, _credential: Credential) -> bool:
        return True


class _WithServer(WebSocketCarrier):
    """A carrier that brings its own server."""

    def __init__(self, clock: Clock) -> None:
        super().__init__("", clock, token=_TOKEN, private=True)
        self._relay = LocalBus()
        endpoint = Endpoint(port=0, credentials=_ServiceCredentials())
        self._server = WebSocketServer(self._relay, [endpoint], ServerLimits(), clock)

    async def open(self, receive: Receive) -> None:
        [self.url] = await self._server.start()
        await super().open(receive)

    async def close(self) -> None:
        await super().close()
        await self._server.close()
        await self._relay.close()
