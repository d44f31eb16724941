"""`settle` waits for a network."""

from __future__ import annotations

import asyncio

from hark.bus import LocalBus, RemoteBus
from hark.bus.websocket import Endpoint, ServerLimits, WebSocketCarrier, WebSocketServer
from hark.model import Message, SystemClock
from hark.testing import FakeClock, settle
from hark.testing.quiet import QuietCarrier


async def test_what_leads_to_more_and_more_has_all_happened_when_it_is_quiet() -> None:
    server = WebSocketServer(LocalBus(), [Endpoint(port=0)], ServerLimits(), SystemClock())
    [url] = await server.start()
    one, other = (RemoteBus(QuietCarrier(WebSocketCarrier(url, SystemClock()))) for _ in range(2))
    heard: list[int] = []

    def pass_on(bus: RemoteBus, topic: str, message: Message) -> None:
        heard.append(message.data["n"])
        if message.data["n"] < 100:
            bus.emit(Message(topic, {"n": message.data["n"] + 1}))

    for bus in (one, other):
        await bus.open()
    one.on("test.ping", lambda message: pass_on(one, "test.pong", message))
    other.on("test.pong", lambda message: pass_on(other, "test.ping", message))
    await settle()
    one.emit(Message("test.pong", {"n": 0}))
    await settle()
    assert heard == list(range(101))
    await one.close()
    await other.close()
    await server.close()


async def test_a_network_that_is_gone_is_not_waited_for() -> None:
    clock = FakeClock()
    server = WebSocketServer(LocalBus(), [Endpoint(port=0)], ServerLimits(), SystemClock())
    [url] = await server.start()
    bus = RemoteBus(QuietCarrier(WebSocketCarrier(url, clock)))
    await bus.open()
    closing = asyncio.create_task(server.close())
    bus.emit(Message("test.note"))
    async with asyncio.timeout(20):
        await settle()
        await closing
        await clock.advance(3)
    await bus.close()
