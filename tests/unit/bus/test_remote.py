"""Buses that share a broker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from hark.bus import LocalBus, RemoteBus
from hark.bus.nats import NatsCarrier
from hark.bus.websocket import Endpoint, ServerLimits, WebSocketCarrier, WebSocketServer
from hark.model import Message, SystemClock
from hark.testing.clock import settle
from hark.testing.memory_broker import MemoryBroker
from hark.testing.quiet import QuietCarrier


@pytest.fixture(params=["memory", "websocket", "nats"])
async def buses(request: pytest.FixtureRequest) -> AsyncIterator[tuple[RemoteBus, RemoteBus]]:
    broker = MemoryBroker()
    server = WebSocketServer(LocalBus(), [Endpoint(port=0)], ServerLimits(), SystemClock())
    if request.param == "memory":
        one, other = RemoteBus(broker.carrier()), RemoteBus(broker.carrier())
    elif request.param == "nats":
        options = request.getfixturevalue("nats_options")
        one, other = (RemoteBus(QuietCarrier(NatsCarrier(options))) for _ in range(2))
    else:
        [url] = await server.start()
        one, other = (RemoteBus(QuietCarrier(WebSocketCarrier(url, SystemClock()))) for _ in range(2))
    await one.open()
    await other.open()
    yield one, other
    await one.close()
    await other.close()
    await settle()
    assert (len(broker.exchange), len(server)) == (0, 0)
    await server.close()


async def test_all_listeners_hear_in_the_same_order(buses: tuple[RemoteBus, RemoteBus]) -> None:
    heard: dict[str, list[str]] = {"one": [], "other": []}
    buses[0].on(("a", "b"), lambda message: heard["one"].append(message.type))
    buses[1].on(("a", "b"), lambda message: heard["other"].append(message.type))
    await settle()
    buses[0].emit(Message("a"))
    await settle()
    buses[1].emit(Message("b"))
    buses[0].emit(Message("b"))
    await settle()
    assert heard == {"one": ["a", "b", "b"], "other": ["a", "b", "b"]}


async def test_one_listener_of_a_group_hears(
    buses: tuple[RemoteBus, RemoteBus], request: pytest.FixtureRequest
) -> None:
    heard: list[str] = []
    for name, bus in zip(("one", "other"), buses, strict=True):
        for _ in range(2):
            bus.on("work", lambda _, name=name: heard.append(name), group="workers")  # type: ignore[misc]
    buses[0].on("work", lambda _: heard.append("everybody"))
    await settle()
    for _ in range(4):
        buses[0].emit(Message("work"))
    await settle()
    assert heard.count("everybody") == 4
    if request.node.callspec.params["buses"] == "websocket":  # its server knows no groups: one in each process
        assert heard.count("one") == heard.count("other") == 4
    else:
        assert heard.count("one") + heard.count("other") == 4  # which one it is, is the broker's decision


async def test_a_tap_sees_each_message_once_also_where_there_are_listeners(buses: tuple[RemoteBus, RemoteBus]) -> None:
    seen: list[str] = []
    heard: list[str] = []
    end = buses[0].tap(lambda message: seen.append(message.type))
    buses[0].on("a", lambda message: heard.append(message.type))
    await settle()  # the broker hears two clients in whichever order it likes
    buses[1].emit(Message("a"))
    buses[1].emit(Message("b"))
    await settle()
    end()
    end()
    await settle()
    buses[1].emit(Message("a"))
    await settle()
    assert (seen, heard) == (["a", "b"], ["a", "a"])


async def test_a_bus_that_closed_its_last_listener_gets_nothing(buses: tuple[RemoteBus, RemoteBus]) -> None:
    heard: list[str] = []
    first = buses[0].on("a", lambda _: heard.append("first"))
    second = buses[0].on("a", lambda _: heard.append("second"))
    first.close()
    await settle()
    buses[1].emit(Message("a"))
    await settle()
    second.close()
    await settle()
    buses[1].emit(Message("a"))
    await settle()
    assert heard == ["second"]


async def test_what_is_no_message_is_dropped(
    buses: tuple[RemoteBus, RemoteBus], caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[Message] = []
    buses[0].on("a", heard.append)
    await settle()
    buses[1].carrier.send("a", b"no message")
    buses[1].emit(Message("a"))
    await settle()
    assert [message.type for message in heard] == ["a"]
    assert "that is not a Message" in caplog.text


async def test_a_bus_says_when_its_listeners_have_dealt_with_what_was_emitted_elsewhere() -> None:
    broker = MemoryBroker()
    here, there = RemoteBus(broker.carrier()), RemoteBus(broker.carrier())
    await here.open()
    await there.open()
    go_on, dealt_with = asyncio.Event(), []

    async def slow(message: Message) -> None:
        await go_on.wait()
        dealt_with.append(message.type)

    here.on("test.slow", slow, name="slow one")
    there.emit(Message("test.slow"))
    assert await there.settled() == []
    assert await here.settled(patience=0.01) == ["slow one"]
    go_on.set()
    assert await here.settled() == []
    assert dealt_with == ["test.slow"]
    await here.close()
    await there.close()
