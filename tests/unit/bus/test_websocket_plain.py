"""Hark on a websocket bus without its subprotocol, such as the stock ovos-messagebus: every client gets everything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from bus_fixtures import keep, note
from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_create_server
from websocket_fixtures import connected, eventually, raw

from hark.bus import RemoteBus, ask
from hark.bus.websocket import WebSocketCarrier
from hark.model import Message, SystemClock, decode
from hark.testing import FakeClock


class PlainBus:
    """Sends every text frame to every client, also back to its sender."""

    def __init__(self, *, echoes: bool = True) -> None:
        self.clients: set[WSTransport] = set()
        self.frames: list[bytes] = []
        self.commands = 0
        self.echoes = echoes

    def send_all(self, sender: WSTransport, payload: bytes) -> None:
        self.frames.append(payload)
        half = len(payload) // 2
        for client in self.clients if self.echoes else self.clients - {sender}:
            client.send(WSMsgType.TEXT, payload[:half], fin=False)  # a server may send a Message in fragments
            client.send(WSMsgType.CONTINUATION, payload[half:])


class PlainClient(WSListener):
    def __init__(self, bus: PlainBus) -> None:
        self._bus = bus

    def on_ws_connected(self, transport: WSTransport) -> None:
        transport.send(WSMsgType.TEXT, b'{"type": "connected", "data": {}, "context": {}}')
        self._bus.clients.add(transport)

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        self._bus.clients.discard(transport)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type == WSMsgType.TEXT:
            self._bus.send_all(transport, frame.get_payload_as_bytes())
        elif frame.msg_type == WSMsgType.BINARY:
            self._bus.commands += 1
        elif frame.msg_type == WSMsgType.CLOSE:
            transport.disconnect()


@asynccontextmanager
async def plain_bus(port: int = 0, *, echoes: bool = True) -> AsyncIterator[tuple[PlainBus, str]]:
    bus = PlainBus(echoes=echoes)
    server = await ws_create_server(lambda _request: PlainClient(bus), "127.0.0.1", port)
    try:
        yield bus, f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/core"
    finally:
        server.close()
        for client in list(bus.clients):
            client.disconnect(graceful=False)
        await eventually(lambda: not bus.clients)
        assert bus.commands == 0, "a plain bus does not know our commands"


async def test_hark_services_and_plain_clients_hear_each_other() -> None:
    heard: list[int] = []
    async with plain_bus() as (_, url), connected(url) as one, connected(url) as other:
        one.on("test.note", keep(heard))
        one.on("test.ask", lambda message: one.emit(message.response({"n": message.data["n"] + 1})))
        client = await raw(url)
        for n in range(5):
            client.send(b'{"type": "test.note", "data": {"n": %d}}' % n)
            client.send(b'{"type": "test.other", "data": {"n": -1}}')
        await eventually(lambda: heard == [0, 1, 2, 3, 4])
        answer = await ask(other, SystemClock(), note(7, topic="test.ask"), window=20.0)
        assert answer.data == {"n": 8}
        await eventually(lambda: one.topics == {"test.note", "test.ask"})
        await client.end()


async def test_flush_waits_until_everything_has_come_back() -> None:
    heard: list[int] = []
    async with plain_bus() as (bus, url), connected(url) as one:
        one.on("test.note", keep(heard))
        for n in range(200):
            one.emit(note(n))
        await one.carrier.flush()
        assert heard == list(range(200))
        assert len(bus.frames) == 201, "one private Message more"


async def test_what_only_looks_like_the_answer_to_a_flush_is_an_ordinary_message() -> None:
    seen: list[str] = []
    async with plain_bus(echoes=False) as (bus, url), connected(url) as one:
        one.tap(lambda message: seen.append(message.type))
        flushing = asyncio.create_task(one.carrier.flush())
        await eventually(lambda: len(bus.frames) == 1)
        topic = decode(bus.frames[0]).type.encode()
        client = await raw(url)
        client.send(b'{"type": "test.quotes", "data": {"topic": "%b"}}' % topic)
        client.send(b'{"type": "%b", "data": {"number": "one"}}' % topic)
        client.send(b"not a Message: %b" % topic)
        client.send(bus.frames[0])
        await asyncio.wait_for(flushing, 2)
        assert [kind for kind in seen if kind != "connected"] == ["test.quotes", topic.decode()]
        await client.end()


async def test_settled_works_as_on_any_bus() -> None:
    go_on, handled = asyncio.Event(), []

    async def slow(message: Message) -> None:
        await go_on.wait()
        handled.append(message.data["n"])

    async with plain_bus() as (_, url), connected(url) as one:
        one.on("test.note", slow, name="slow one")
        one.emit(note(1))
        assert await one.settled(patience=0.05) == ["slow one"]
        go_on.set()
        assert await one.settled(patience=20.0) == []
        assert handled == [1]


async def test_taps_see_everything_once_and_groups_are_local() -> None:
    seen: list[str] = []
    group: list[int] = []
    async with plain_bus() as (_, url), connected(url) as one:
        one.tap(lambda message: seen.append(message.type))
        for _ in range(2):
            one.on("test.note", keep(group), group="workers")
        one.emit(note(1))
        one.emit(note(2))
        await one.carrier.flush()
        assert [topic for topic in seen if topic != "connected"] == ["test.note", "test.note"]
        assert group == [1, 2]


async def test_a_bus_that_sends_nothing_back_ends_a_flush_after_a_while() -> None:
    clock = FakeClock()
    async with plain_bus(echoes=False) as (_, url), connected(url, clock) as one:
        flushing = asyncio.create_task(one.carrier.flush())
        await eventually(lambda: clock.due is not None)
        await clock.advance(4.9)
        assert not flushing.done()
        await clock.advance(0.2)
        await asyncio.wait_for(flushing, 20)
        assert await one.settled(patience=0.01) == ["the bus itself"]
        closing = asyncio.create_task(one.close())
        while not closing.done():
            await clock.advance(1.0)
            await asyncio.sleep(0.001)


async def test_it_reconnects_and_a_flush_that_waited_is_asked_again() -> None:
    clock = FakeClock()
    heard: list[int] = []
    async with plain_bus() as (_, url):
        carrier = WebSocketCarrier(url, clock)
        one = RemoteBus(carrier)
        await one.open()
        one.on("test.note", keep(heard))
    await eventually(lambda: not carrier.connected)
    one.emit(note(1))
    flushing = asyncio.create_task(carrier.flush())
    async with plain_bus(int(url.split(":")[2].split("/")[0])):
        while not carrier.connected:
            await clock.advance(0.5)
            await asyncio.sleep(0.001)
        await asyncio.wait_for(flushing, 20)
        assert heard == [1]
        await one.close()


async def test_what_the_stock_bus_would_not_take_is_not_sent(caplog: pytest.LogCaptureFixture) -> None:
    async with plain_bus() as (bus, url), connected(url) as one:
        one.emit(Message("test.large", {"x": "x" * 10_485_760}))
        one.emit(note(1))
        await one.carrier.flush()
        assert [decode(frame).type for frame in bus.frames[:1]] == ["test.note"]
        assert "dropped test.large" in caplog.text
