"""The websocket client: connections that come and go."""

from __future__ import annotations

import asyncio
import gc
import random
from base64 import b64encode
from hashlib import sha1
from urllib.parse import urlsplit

import pytest
from bus_fixtures import keep, note
from websocket_fixtures import connected, eventually, serving

from hark.bus import EVERYTHING, Backoff, LocalBus, RemoteBus
from hark.bus.websocket import BusUnavailable, Endpoint, ServerLimits, WebSocketCarrier, WebSocketServer
from hark.model import Message, SystemClock
from hark.spec import topics
from hark.testing import FakeClock


def carrier_of(bus: RemoteBus) -> WebSocketCarrier:
    assert isinstance(bus.carrier, WebSocketCarrier)
    return bus.carrier


async def started_again(url: str) -> WebSocketServer:
    """Another server at the address of one that was closed."""
    endpoint = Endpoint(port=urlsplit(url).port or 0)
    server = WebSocketServer(LocalBus(), [endpoint], ServerLimits(), SystemClock())
    await server.start()
    return server


async def test_what_is_followed_and_what_was_emitted_meanwhile_survive_a_restart() -> None:
    clock = FakeClock()
    heard: list[int] = []
    again: list[str] = []
    async with serving() as (first, url), connected(url, clock) as bus:
        bus.on("test.note", keep(heard))
        bus.on(topics.BUS_AGAIN, lambda message: again.append(message.type))
        bus.emit(note(1))
        await bus.carrier.flush()
        await first.close()
        await eventually(lambda: not carrier_of(bus).connected)
        bus.emit(note(2))
        second_listener = bus.on("test.other", keep(heard))
        bus.emit(note(3, topic="test.other"))
        second = await started_again(url)
        flushed = asyncio.create_task(bus.carrier.flush())
        await clock.advance(20)
        await asyncio.wait_for(flushed, 20)
        bus.emit(note(4))
        second_listener.close()
        await bus.carrier.flush()
        assert heard == [1, 2, 3, 4]
        assert again == [topics.BUS_AGAIN]
        await bus.close()
        await second.close()


async def test_tries_come_less_and_less_often_and_go_on_for_ever(caplog: pytest.LogCaptureFixture) -> None:
    clock = FakeClock()
    async with serving() as (server, url), connected(url, clock, backoff=Backoff(random.Random(1))) as bus:
        await server.close()
        await eventually(lambda: not carrier_of(bus).connected)
        waits: list[float] = []
        while len(waits) < 64:
            await eventually(lambda: clock.due is not None)
            waits.append(clock.due or 0.0)
            await clock.advance(waits[-1])
            await eventually(lambda: clock.due is None or clock.due > 0)
        # Connecting has a timer too, which is called off as the answer comes.
        tries = [wait for wait in waits if wait != 10.0]
        assert tries[0] <= 0.1
        assert max(tries) <= 30.0
        assert tries[-1] > 10 * tries[0]
        assert caplog.text.count("reconnecting") == 1
        assert caplog.text.count("trying again") == 1  # the same refusal again says nothing new


async def test_opening_waits_for_a_server_and_gives_up_in_the_end() -> None:
    async with serving() as (_, url):
        pass
    clock = FakeClock()
    bus = RemoteBus(WebSocketCarrier(url, clock, patience=5.0))
    opening = asyncio.create_task(bus.open())
    await eventually(lambda: clock.due is not None)
    server = await started_again(url)
    while not opening.done():
        await clock.advance(0.2)
    await opening
    await bus.close()
    await server.close()
    opening = asyncio.create_task(RemoteBus(WebSocketCarrier(url, clock, patience=5.0)).open())
    while not opening.done():
        await clock.advance(0.2)
    with pytest.raises(BusUnavailable, match="a bus alone with: hark bus"):
        await opening


async def test_a_wrong_path_is_reported_at_once() -> None:
    async with serving(path="/elsewhere") as (_, url):
        wrong = WebSocketCarrier(url.replace("elsewhere", "core"), SystemClock())
        with pytest.raises(BusUnavailable, match="its path is another one"):
            await wrong.open(lambda _frame, _via: None)


async def test_flush_means_that_the_server_has_it() -> None:
    async with serving() as (server, url), connected(url) as bus:
        bus.on("test.note", keep([]))
        bus.on("test.work", keep([]), group="workers")
        bus.tap(lambda _: None)
        await bus.carrier.flush()
        assert [server.exchange.count(client) for client in server.exchange] == [3]


async def test_closing_sends_what_was_emitted_and_leaves_nothing_behind() -> None:
    async with serving() as (server, url), connected(url) as listener:
        heard: list[int] = []
        listener.on("test.note", keep(heard))
        await listener.carrier.flush()
        async with connected(url) as bus:
            for n in range(1_000):
                bus.emit(note(n))
        await listener.carrier.flush()
        assert heard == list(range(1_000))
        await eventually(lambda: len(server) == 1)
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def test_closing_while_there_is_no_server_is_quick_and_tells_what_was_lost(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with serving() as (server, url):
        bus = RemoteBus(WebSocketCarrier(url, FakeClock()))
        await bus.open()
        await server.close()
        await eventually(lambda: not carrier_of(bus).connected)
        bus.emit(note())
        flushing = asyncio.create_task(bus.carrier.flush())
        await asyncio.sleep(0)
        await bus.close()
        await bus.close()
        assert "1 Messages were not sent" in caplog.text
        with pytest.raises(BusUnavailable):
            await flushing
        with pytest.raises(BusUnavailable):
            await bus.carrier.flush()


async def test_more_than_the_network_takes_at_once_arrives_in_order() -> None:
    heard: list[int] = []
    async with serving() as (_, url), connected(url) as bus:
        bus.on("test.note", keep(heard))
        padding = "x" * 100_000
        for n in range(60):
            bus.emit(Message("test.note", {"n": n, "padding": padding}))
            if n == 50:
                bus.on("test.late", keep(heard))
        bus.emit(note(60, topic="test.late"))
        await bus.carrier.flush()
    assert heard == list(range(61))


async def test_a_tap_sees_what_every_client_emits() -> None:
    seen: list[str] = []
    async with serving() as (_, url), connected(url) as one, connected(url) as other:
        one.tap(lambda message: seen.append(message.type))
        await one.carrier.flush()
        other.emit(Message("test.a"))
        other.emit(Message("test.b"))
        await other.carrier.flush()
        await one.carrier.flush()
        carrier_of(one).unfollow(EVERYTHING)
        other.emit(Message("test.c"))
        await other.carrier.flush()
        await one.carrier.flush()
    assert seen == ["test.a", "test.b"]


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 500 Oops\r\n\r\n", b"what?\r\n\r\n"])
async def test_a_server_that_hangs_up_is_no_bus(answer: bytes) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/core"
    with pytest.raises(BusUnavailable):
        await WebSocketCarrier(url, SystemClock(), patience=0.0).open(lambda _frame, _via: None)
    server.close()


@pytest.mark.parametrize("closes", [True, False])
async def test_a_server_that_breaks_the_protocol_is_lost_without_a_traceback(
    caplog: pytest.LogCaptureFixture, *, closes: bool
) -> None:
    async def promise_too_much(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        key = request.partition(b"Sec-WebSocket-Key: ")[2].partition(b"\r\n")[0]
        accept = b64encode(sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n")
        writer.write(b"Sec-WebSocket-Accept: %b\r\n\r\n\x81\x7f" % accept + (2**40).to_bytes(8))
        await reader.read(-1)
        writer.close()

    server = await asyncio.start_server(promise_too_much, "127.0.0.1", 0)
    url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/core"
    carrier = WebSocketCarrier(url, SystemClock())
    await carrier.open(lambda _frame, _via: None)
    if not closes:
        server.close()
        await asyncio.sleep(0)
        await eventually(lambda: not carrier.connected)
    await carrier.close()
    server.close()
    gc.collect()
    assert "Traceback" not in caplog.text
    assert "never retrieved" not in caplog.text


async def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    connected_to = asyncio.Event()
    writers: list[asyncio.StreamWriter] = []

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await reader.readuntil(b"\r\n\r\n")
        connected_to.set()

    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/core"
    clock = FakeClock()
    opening = asyncio.create_task(WebSocketCarrier(url, clock, patience=0.0).open(lambda _frame, _via: None))
    await connected_to.wait()
    await clock.advance(11)
    with pytest.raises(BusUnavailable, match="no answer"):
        await opening
    # An answer that comes too late is for nobody.
    writers[0].write(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
    writers[0].close()
    await writers[0].wait_closed()
    server.close()


async def test_a_good_connection_is_tried_again_soon_when_it_breaks() -> None:
    clock = FakeClock()
    backoff = Backoff(random.Random(1), steady=5.0)
    for _ in range(10):
        backoff.after()
    async with serving() as (server, url), connected(url, clock, backoff=backoff) as bus:
        clock.pass_by(60)
        await server.close()
        await eventually(lambda: clock.due is not None)
        assert (clock.due or 9) <= 0.1
        assert not carrier_of(bus).connected


async def test_what_waits_for_a_connection_is_bounded_in_bytes_and_in_seconds(caplog: pytest.LogCaptureFixture) -> None:
    clock = FakeClock()
    heard: list[int] = []
    async with serving() as (first, url), connected(url, clock, outbox=1_000) as bus:
        bus.on("test.note", keep(heard))
        await bus.carrier.flush()
        await first.close()
        await eventually(lambda: not carrier_of(bus).connected)
        bus.emit(note(0))
        clock.pass_by(31)
        for n in range(1, 100):
            bus.emit(note(n))
        second = await started_again(url)
        flushed = asyncio.create_task(bus.carrier.flush())
        await clock.advance(20)
        await asyncio.wait_for(flushed, 20)
        assert 5 < len(heard) < 50
        assert heard == list(range(1, len(heard) + 1)), "the first was too old, the last were too many"
        assert "too much waits to be sent" in caplog.text
        assert f"{100 - len(heard)} Messages could not be sent and were dropped" in caplog.text
        await bus.close()
        await second.close()


async def test_a_broken_connection_brings_nothing_twice() -> None:
    heard: list[int] = []
    async with serving() as (server, url), connected(url) as one, connected(url) as two:
        two.on("test.note", keep(heard))
        await two.carrier.flush()
        for n in range(5):
            one.emit(note(n))
        await one.carrier.flush()
        await two.carrier.flush()
        for connection in server.exchange:
            connection.abort()
        await eventually(lambda: not carrier_of(one).connected and not carrier_of(two).connected)
        await two.carrier.flush()
        one.emit(note(5))
        await one.carrier.flush()
        await two.carrier.flush()
        assert heard == [0, 1, 2, 3, 4, 5]
        assert len(server) == 2


async def test_a_client_gets_each_message_once_also_where_it_taps_and_follows() -> None:
    heard: list[int] = []
    seen: list[int] = []
    async with serving() as (_, url), connected(url) as bus:
        bus.on("test.note", keep(heard))
        end = bus.tap(lambda message: seen.append(message.data["n"]))
        bus.on("test.note", keep(heard), group="one")
        for n in range(3):
            bus.emit(note(n))
        await bus.carrier.flush()
        end()
        bus.emit(note(3))
        await bus.carrier.flush()
    assert heard == [0, 0, 1, 1, 2, 2, 3, 3]
    assert seen == [0, 1, 2]
