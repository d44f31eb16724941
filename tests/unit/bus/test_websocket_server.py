"""One websocket server for any bus: what is on the bus reaches its clients, and the other way round."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from bus_fixtures import keep, note
from picows import WSMsgType
from websocket_fixtures import connected, eventually, raw, serving

from hark.bus import LocalBus, RemoteBus, WireBus
from hark.bus.websocket import Endpoint, EndpointError, ServerLimits, WebSocketServer
from hark.bus.websocket.protocol import SUBPROTOCOL
from hark.model import MalformedMessage, Message, SystemClock, decode, encode
from hark.spec import topics
from hark.testing import FakeClock
from hark.testing.memory_broker import MemoryBroker, MemoryCarrier


@pytest.fixture(params=["local", "wire", "remote"])
async def bus(request: pytest.FixtureRequest) -> AsyncIterator[LocalBus]:
    made = {"local": LocalBus, "wire": WireBus, "remote": lambda: RemoteBus(MemoryBroker().carrier())}[request.param]()
    await made.open()
    yield made
    await made.close()


async def test_listeners_in_the_process_and_clients_hear_each_other_in_order(bus: LocalBus) -> None:
    here: list[int] = []
    there: list[int] = []

    def answer(message: Message) -> None:
        here.append(message.data["n"])
        bus.emit(note(message.data["n"], topic="test.answer"))

    bus.on("test.ask", answer)
    async with serving(bus=bus) as (_, url), connected(url) as service:
        service.on("test.answer", keep(there))
        await service.carrier.flush()
        client = await raw(url)
        for n in range(100):
            client.send(b'{"type": "test.ask", "data": {"n": %d}}' % n)
        frames = await client.until(lambda frames: len(frames) == 201)
        await service.carrier.flush()
        assert here == there == list(range(100))
        answers = [message for message in map(decode, frames) if message.type == "test.answer"]
        assert [message.data["n"] for message in answers] == list(range(100))
        await client.end()


async def test_what_is_emitted_while_nothing_comes_in_reaches_clients(bus: LocalBus) -> None:
    async with serving(bus=bus) as (_, url):
        client = await raw(url)
        await client.until(lambda frames: len(frames) == 1)
        bus.emit(note(1))
        await asyncio.to_thread(bus.emit, note(2))
        frames = await client.until(lambda frames: len(frames) == 3)
        assert [decode(frame).data["n"] for frame in frames[1:]] == [1, 2]
        await client.end()


async def test_a_flush_is_answered_when_the_bus_has_carried_what_came_before(bus: LocalBus) -> None:
    heard: list[int] = []
    bus.on("test.note", keep(heard))
    async with serving(bus=bus) as (_, url), connected(url) as service:
        back: list[int] = []
        service.on("test.note", keep(back))
        for n in range(50):
            service.emit(note(n))
        await service.carrier.flush()
        assert heard == back == list(range(50))


async def test_closing_the_server_leaves_the_bus_open(bus: LocalBus) -> None:
    heard = asyncio.Event()
    bus.on("test.note", lambda _: heard.set())
    before = bus.topics
    async with serving(bus=bus):
        pass
    assert bus.topics == before
    bus.emit(note())
    await asyncio.wait_for(heard.wait(), 20)


class LossyCarrier(MemoryCarrier):
    """A carrier whose connection can be lost, and which takes no large frames."""

    is_lost = False

    def send(self, topic: str, frame: bytes) -> None:
        if len(frame) > 1_000:
            raise MalformedMessage("more than 1000 bytes")
        if not self.is_lost:
            super().send(topic, frame)

    def reconnected(self) -> None:
        self.is_lost = False
        self.deliver(topics.BUS_AGAIN, encode(Message(topics.BUS_AGAIN)), "")


async def test_a_flush_that_the_broker_lost_is_asked_again() -> None:
    carrier = LossyCarrier(MemoryBroker().exchange)
    bus = RemoteBus(carrier)
    await bus.open()
    async with serving(bus=bus) as (server, url):
        client = await raw(url, Sec_WebSocket_Protocol=SUBPROTOCOL)
        carrier.is_lost = True
        client.send(b'["flush",1]', WSMsgType.BINARY)
        client.send(b'["follow","test.note"]', WSMsgType.BINARY)
        await eventually(lambda: server.exchange.is_followed("test.note"))
        assert client.frames == []
        carrier.reconnected()
        await client.until(lambda frames: frames == [b'["flushed",1]'])
        await client.end()
    await bus.close()


async def test_what_the_bus_cannot_carry_is_dropped_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    bus = RemoteBus(LossyCarrier(MemoryBroker().exchange))
    await bus.open()
    async with serving(bus=bus) as (_, url):
        client = await raw(url)
        client.send(b'{"type": "test.large", "data": {"x": "%b"}}' % (b"x" * 1_000))
        client.send(b'{"type": "test.note"}')
        frames = await client.until(lambda frames: len(frames) == 2)
        assert decode(frames[1]).type == "test.note"
        assert "dropped a Message from a local client" in caplog.text
        assert "more than 1000 bytes" in caplog.text
        await client.end()
    await bus.close()


async def test_two_servers_on_one_bus_share_their_clients() -> None:
    bus = LocalBus()
    async with serving(bus=bus) as (_, first), serving(bus=bus) as (_, second):
        one, other = await raw(first), await raw(second)
        await other.until(lambda frames: len(frames) == 1)
        one.send(b'{"type": "test.note"}')
        frames = await other.until(lambda frames: len(frames) == 2)
        assert decode(frames[1]).type == "test.note"
        await one.end()
        await other.end()
    await bus.close()


async def test_a_server_that_cannot_listen_everywhere_listens_nowhere() -> None:
    bus = LocalBus()
    async with serving() as (_, url):
        taken = int(url.split(":")[2].split("/")[0])
        endpoints = [Endpoint(port=0), Endpoint(port=taken)]
        server = WebSocketServer(bus, endpoints, ServerLimits(), SystemClock())
        with pytest.raises(EndpointError) as caught:
            await server.start()
        assert caught.value.port_taken
        assert caught.value.endpoint is endpoints[1]
        assert bus.topics == frozenset()
    await eventually(lambda: len(server) == 0)
    await bus.close()


async def test_a_client_that_does_not_read_holds_up_the_end_of_the_server_for_a_second() -> None:
    clock = FakeClock()
    bus = LocalBus()
    async with serving(clock, bus=bus) as (server, url):
        deaf = await raw(url)
        await deaf.until(lambda frames: len(frames) == 1)
        line: Any = deaf.transport.underlying_transport
        line.pause_reading()
        for _ in range(100):
            bus.emit(note("x" * 100_000))
        closing = asyncio.create_task(server.close())
        await eventually(lambda: clock.due is not None)
        assert not closing.done()
        while not closing.done():
            await clock.advance(0.6)
        assert len(server) == 0
        await deaf.end()
    await bus.close()


async def test_flushes_that_wait_for_a_lost_broker_are_bounded(caplog: pytest.LogCaptureFixture) -> None:
    carrier = LossyCarrier(MemoryBroker().exchange)
    bus = RemoteBus(carrier)
    await bus.open()
    async with serving(bus=bus, limits=ServerLimits(rate=0)) as (_, url):
        client = await raw(url, Sec_WebSocket_Protocol=SUBPROTOCOL)
        carrier.is_lost = True
        for n in range(1_010):
            client.send(b'["flush",%d]' % n, WSMsgType.BINARY)
        await eventually(lambda: "too many flushes wait" in caplog.text)
        carrier.reconnected()
        await client.until(lambda frames: len(frames) >= 1_000)
        client.send(b'["flush",-1]', WSMsgType.BINARY)
        frames = await client.until(lambda frames: frames[-1] == b'["flushed",-1]')
        assert frames[:1_000] == [b'["flushed",%d]' % n for n in range(1_000)]
        await client.end()
    await bus.close()


async def test_what_answers_a_flush_is_not_sent_to_clients() -> None:
    async with serving() as (_, url):
        watcher = await raw(url)
        await watcher.until(lambda frames: len(frames) == 1)
        client = await raw(url, Sec_WebSocket_Protocol=SUBPROTOCOL)
        client.send(b'["flush",1]', WSMsgType.BINARY)
        await client.until(lambda frames: frames == [b'["flushed",1]'])
        client.send(b'{"type": "test.note"}')
        frames = await watcher.until(lambda frames: len(frames) == 2)
        assert decode(frames[1]).type == "test.note"
        await client.end()
        await watcher.end()
