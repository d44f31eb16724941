"""The carrier: connections that come and go."""

from __future__ import annotations

import asyncio
import random
from urllib.parse import urlsplit

import pytest
from bus_fixtures import keep, note
from picows import WSListener, ws_create_server
from websocket_fixtures import connected, eventually, serving

from hark.bus import EVERYTHING, RemoteBus
from hark.bus.websocket import Door, NoBus, WebSocketCarrier, WebSocketServer
from hark.bus.websocket.backoff import Backoff
from hark.bus.websocket.outbox import Outbox
from hark.model import Message, SystemClock
from hark.testing import FakeClock


def carrier_of(bus: RemoteBus) -> WebSocketCarrier:
    assert isinstance(bus.carrier, WebSocketCarrier)
    return bus.carrier


async def started_again(url: str) -> WebSocketServer:
    """Another server at the address of one that was closed."""
    server = WebSocketServer(SystemClock())
    await server.listen(Door(port=urlsplit(url).port or 0))
    return server


async def test_what_is_followed_and_what_was_emitted_meanwhile_survive_a_restart() -> None:
    clock = FakeClock()
    heard: list[int] = []
    async with serving() as (first, url), connected(url, clock) as bus:
        bus.on("test.note", keep(heard))
        bus.emit(note(1))
        await bus.carrier.flush()
        await first.close()
        await eventually(lambda: not carrier_of(bus).connected)
        bus.emit(note(2))
        second_listener = bus.on("test.other", keep(heard))
        bus.emit(note(3, topic="test.other"))
        second = await started_again(url)
        flushed = asyncio.create_task(bus.carrier.flush())
        await clock.advance(60)
        await asyncio.wait_for(flushed, 20)
        bus.emit(note(4))
        second_listener.close()
        await bus.carrier.flush()
        assert heard == [1, 2, 3, 4]
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
        assert caplog.text.count("trying again") == 2  # once that it is lost, once that nobody answers


def test_backoff_is_short_for_some_seconds_then_doubles_up_to_a_bound_with_jitter() -> None:
    backoff = Backoff(random.Random(7))
    waits = [backoff.next() for _ in range(60)]
    assert waits[0] <= 0.1
    assert all(0.125 <= wait <= 0.25 for wait in waits[1:24])
    assert 4 <= sum(waits[:24]) <= 6
    assert all(0.125 * 2**n <= wait <= 0.25 * 2**n for n, wait in enumerate(waits[24:30]))
    assert all(15 <= wait <= 30 for wait in waits[32:])
    assert len(set(waits[32:])) > 20
    backoff.reset()
    assert backoff.next() <= 0.1


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
    with pytest.raises(NoBus, match="start one with: hark bus"):
        await opening


async def test_what_is_no_bus_of_hark_is_told_at_once() -> None:
    async with serving(path="/elsewhere") as (_, url):
        wrong = WebSocketCarrier(url.replace("elsewhere", "core"), SystemClock())
        with pytest.raises(NoBus, match="its path is another one"):
            await wrong.open(lambda _frame, _way: None)


async def test_flush_means_that_the_server_has_it() -> None:
    async with serving() as (server, url), connected(url) as bus:
        bus.on("test.note", keep([]))
        bus.on("test.work", keep([]), group="workers")
        bus.tap(lambda _: None)
        await bus.carrier.flush()
        assert [server.relay.exchange.count(client) for client in server.relay.exchange] == [3]


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
        with pytest.raises(NoBus):
            await flushing
        with pytest.raises(NoBus):
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


def test_an_outbox_drops_the_oldest_messages_and_never_a_command(caplog: pytest.LogCaptureFixture) -> None:
    outbox = Outbox()
    outbox.put_command(b"follow")
    for n in range(5):
        outbox.put(b"message %d." % n, 30)
    assert "the oldest Messages are dropped" in caplog.text
    assert [outbox.take() for _ in range(len(outbox))] == [
        (b"follow", True),
        (b"message 2.", False),
        (b"message 3.", False),
        (b"message 4.", False),
    ]
    assert "2 Messages could not be sent" in caplog.text
    outbox.put_command(b"flush")
    outbox.put(b"message", 30)
    outbox.forget_commands()
    assert (len(outbox), outbox.clear(), len(outbox)) == (1, 1, 0)


async def test_a_tap_far_away_sees_what_everybody_emits() -> None:
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


async def test_another_websocket_server_is_no_bus() -> None:
    server = await ws_create_server(lambda _request: WSListener(), "127.0.0.1", 0)
    url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/core"
    with pytest.raises(NoBus, match="is no bus of Hark"):
        await WebSocketCarrier(url, SystemClock()).open(lambda _frame, _way: None)
    server.close()


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 500 Oops\r\n\r\n", b"what?\r\n\r\n"])
async def test_a_server_that_hangs_up_is_no_bus(answer: bytes) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/core"
    with pytest.raises(NoBus):
        await WebSocketCarrier(url, SystemClock(), patience=0.0).open(lambda _frame, _way: None)
    server.close()


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
    opening = asyncio.create_task(WebSocketCarrier(url, clock, patience=0.0).open(lambda _frame, _way: None))
    await connected_to.wait()
    await clock.advance(11)
    with pytest.raises(NoBus, match="no answer"):
        await opening
    # An answer that comes too late is for nobody.
    writers[0].write(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
    writers[0].close()
    await writers[0].wait_closed()
    server.close()


async def test_a_good_connection_is_tried_again_soon_when_it_breaks() -> None:
    clock = FakeClock()
    backoff = Backoff(random.Random(1))
    for _ in range(10):
        backoff.next()
    async with serving() as (server, url), connected(url, clock, backoff=backoff) as bus:
        clock.pass_by(60)
        await server.close()
        await eventually(lambda: clock.due is not None)
        assert (clock.due or 9) <= 0.1
        assert not carrier_of(bus).connected
