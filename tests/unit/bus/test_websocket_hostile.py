"""Malformed frames, floods, and clients that do not read."""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import Any
from urllib.parse import urlsplit

import pytest
from picows import WSMsgType
from websocket_fixtures import Raw, connected, eventually, raw, serving

from hark.bus import LocalBus, RemoteBus
from hark.bus.websocket import ServerLimits
from hark.bus.websocket.limits import TokenBucket
from hark.bus.websocket.protocol import SUBPROTOCOL, MalformedCommand, read_command
from hark.model import Message, SystemClock
from hark.testing import FakeClock

NOTE = b'{"type":"test.note"}'

MALFORMED = [
    b"",
    b"no json",
    b"[]",
    b"7",
    b"null",
    b"{}",
    b'{"type":""}',
    b'{"type":7}',
    b'{"type":"a b"}',
    b'{"type":"a","data":null}',
    b'{"type":"a","data":[]}',
    b'{"type":"a","context":7}',
    b'{"type":"a"',
    b'{"type":"a","data":{"x":NaN}}',
    b'{"type":"\xff"}',
    b"\x00\x01\x02",
    b"[" * 100_000,
    b'{"type":"a","data":' + b'{"x":' * 5_000 + b"1" + b"}" * 5_000 + b"}",
]


async def survives(url: str, listener: RemoteBus, client: Raw) -> None:
    """The same connection still works, and all others."""
    heard = asyncio.Event()
    subscription = listener.on("test.note", lambda _: heard.set())
    await listener.carrier.flush()
    client.send(NOTE)
    async with asyncio.timeout(20):
        await heard.wait()
    subscription.close()


@pytest.mark.spec("MSG-1/6.1.a")
@pytest.mark.spec("MSG-1/6.1.b")
@pytest.mark.spec("MSG-1/6.1.c")
@pytest.mark.spec("MSG-1/6.1.d")
@pytest.mark.parametrize("kind", [WSMsgType.TEXT, WSMsgType.BINARY])
async def test_malformed_messages_reach_no_client_and_harm_none(
    kind: WSMsgType, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving() as (server, url), connected(url) as listener:
        seen: list[str] = []
        listener.tap(lambda message: seen.append(message.type))
        client = await raw(url)
        for garbage in MALFORMED:
            client.send(garbage, kind)
        await survives(url, listener, client)
        assert seen == ["test.note"]
        assert caplog.text.count("that is not a Message") == 1, "one line for all of them"
        assert [b"connected" in frame for frame in client.frames[:1]] == [True]
        assert [frame for frame in client.frames[1:] if frame != NOTE] == []
        assert len(server) == 2
        await client.end()


async def test_malformed_commands_are_dropped() -> None:
    async with serving() as (server, url):
        client = await raw(url, Sec_WebSocket_Protocol=SUBPROTOCOL)
        for garbage in (b"", b"[]", b'["dance"]', b'["follow"]', b'["follow",7]', b'["follow","a b"]', b"\xff"):
            client.send(garbage, WSMsgType.BINARY)
        client.send(b'["flush",1]', WSMsgType.BINARY)
        await client.until(lambda frames: frames == [b'["flushed",1]'])
        assert [server.exchange.count(connection) for connection in server.exchange] == [0]
        await client.end()


@pytest.mark.parametrize(
    "frame",
    [
        b"", b"{}", b"7", b"[]", b'["follow"]', b'["follow",7]', b'["follow","a b"]', b'["follow","a",""]',
        b'["unfollow",1]', b'["flush"]', b'["flush","x"]', b'["flush",1,2]', b'["flushed"]', b'[1,"a"]',
        b'["dance","a"]', b'[["follow"]]', b'["follow",["a"]]',
    ],
)  # fmt: skip
def test_a_malformed_command_is_an_error(frame: bytes) -> None:
    with pytest.raises(MalformedCommand):
        read_command(frame)


@pytest.mark.parametrize(
    ("bytes_sent", "code"),
    [
        (b"\x81\x05hello", 1002),  # not masked
        (b"\xf1\x80aaaa", 1002),  # reserved bits
        (b"\x83\x80aaaa", 1002),  # no such kind of frame
        (b"\x80\x80aaaa", 1002),  # the end of nothing
        (b"\x01\x80aaaa\x81\x80aaaa", 1002),  # a message in the middle of another
        (b"\x09\x80aaaa", 1002),  # a ping in parts
        (b"\x81\xff\x00\x00\x00\x01\x00\x00\x00\x00aaaa", 1009),  # 4 GiB
        (b"\x81\xff\xff\xff\xff\xff\xff\xff\xff\xffaaaa", 1002),
    ],
)
async def test_a_client_that_breaks_the_protocol_is_disconnected_alone(bytes_sent: bytes, code: int) -> None:
    async with serving() as (server, url), connected(url) as listener:
        client, other = await raw(url), await raw(url)
        client.transport.underlying_transport.write(bytes_sent)
        await eventually(client.closed.is_set)
        assert client.close_code == code
        await survives(url, listener, other)
        await eventually(lambda: len(server) == 2)
        await other.end()


async def test_a_message_that_is_too_large_disconnects_its_sender_alone() -> None:
    async with serving(limits=ServerLimits(message=1_000)) as (_, url), connected(url) as listener:
        whole, parts, fitting = [await raw(url) for _ in range(3)]
        whole.send(b"x" * 1_001)
        for n in range(11):
            parts.transport.send(WSMsgType.CONTINUATION if n else WSMsgType.TEXT, b"x" * 100, fin=False)
        for client in (whole, parts):
            await eventually(client.closed.is_set)
            assert client.close_code == 1009
        fitting.send(b'{"type":"test.large","data":{"x":"%b"}}' % (b"x" * 900))
        await survives(url, listener, fitting)
        await fitting.end()


async def test_our_own_clients_do_not_send_what_is_too_large(caplog: pytest.LogCaptureFixture) -> None:
    async with serving(limits=ServerLimits(message=1_000)) as (_, url), connected(url) as bus:
        heard: list[str] = []
        bus.on(("test.large", "test.small"), lambda message: heard.append(message.type))
        bus.emit(Message("test.large", {"x": "x" * 1_000}))
        bus.emit(Message("test.small"))
        await bus.carrier.flush()
        assert heard == ["test.small"]
        assert "dropped test.large: 1" in caplog.text


async def test_a_client_that_does_not_read_is_disconnected_alone(caplog: pytest.LogCaptureFixture) -> None:
    heard = 0

    def count(_: Message) -> None:
        nonlocal heard
        heard += 1

    async with serving(limits=ServerLimits(backlog=1_000_000)) as (server, url), connected(url) as bus:
        bus.on("test.note", count)
        deaf = await raw(url)
        line: Any = deaf.transport.underlying_transport
        line.pause_reading()
        message = Message("test.note", {"x": "x" * 50_000})
        for n in range(200):
            bus.emit(message)
            if n % 10 == 9:
                await bus.carrier.flush()
        await eventually(lambda: len(server) == 1)
        assert heard == 200
        assert "bytes unread" in caplog.text
        await deaf.end()


async def test_when_too_much_waits_in_all_the_slowest_client_is_disconnected() -> None:
    async with serving(limits=ServerLimits(backlogs=2_000_000)) as (server, url), connected(url) as bus:
        deaf = [await raw(url) for _ in range(4)]
        for client in deaf:
            line: Any = client.transport.underlying_transport
            line.pause_reading()
        message = Message("test.note", {"x": "x" * 100_000})
        for _ in range(100):
            bus.emit(message)
            await bus.carrier.flush()
        assert 1 <= len(server) < 5
        assert sum(client.backlog() for client in server.exchange) <= 2_000_000
        for client in deaf:
            await client.end()


async def test_more_clients_than_allowed_are_refused() -> None:
    async with serving(limits=ServerLimits(connections=3)) as (server, url):
        clients = [await raw(url) for _ in range(3)]
        refused = await raw(url)
        await refused.closed.wait()
        await eventually(lambda: len(server) == 3)
        assert not any(client.closed.is_set() for client in clients)
        await clients[0].end()
        await eventually(lambda: len(server) == 2)
        clients[0] = await raw(url)
        for client in clients:
            await client.end()


_HOARDER = """
import asyncio, sys
from picows import WSListener, ws_connect
async def main():
    kept = [await ws_connect(WSListener, sys.argv[1]) for _ in range(int(sys.argv[2]))]
    print(len(kept), flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""


async def test_a_local_program_with_every_connection_gives_one_up_to_another_program() -> None:
    async with serving(limits=ServerLimits(connections=8, client_connections=4)) as (server, url):
        hoarder = await asyncio.create_subprocess_exec(
            sys.executable, "-c", _HOARDER, url, "4", stdout=asyncio.subprocess.PIPE
        )
        try:
            assert hoarder.stdout is not None
            await hoarder.stdout.readline()
            ours = [await raw(url) for _ in range(3)]
            await ours[2].closed.wait()
            assert not any(client.closed.is_set() for client in ours[:2]), "two programs, two connections each"
            await eventually(lambda: len(server) == 4)
            for client in ours[:2]:
                await client.end()
        finally:
            hoarder.kill()
            await hoarder.wait()


async def test_a_client_over_its_rate_is_read_more_slowly_and_nothing_is_lost(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = FakeClock()
    heard: list[int] = []
    async with serving(clock, ServerLimits(rate=10, burst=20)) as (_, url), connected(url) as listener:
        listener.on("test.note", lambda message: heard.append(message.data["n"]))
        await listener.carrier.flush()
        flood = await raw(url)
        for n in range(5_000):
            flood.send(b'{"type":"test.note","data":{"n":%d,"x":"%b"}}' % (n, b"x" * 200))
        await eventually(lambda: len(heard) > 20)
        before = 0
        while before != len(heard):
            before = len(heard)
            for _ in range(3):
                await asyncio.sleep(0.01)
        assert before < 2_000
        while len(heard) < 5_000:
            await clock.advance(30)
            await asyncio.sleep(0)
        assert heard == list(range(5_000))
        assert caplog.text.count("exceeds its rate") >= 1
        await flood.end()


class CostlyClock(SystemClock):
    """A clock on which handling a Message can be made to take long."""

    def __init__(self) -> None:
        self.spent = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.spent


async def test_what_is_costly_to_handle_waits_for_other_clients_and_nothing_of_it_is_lost() -> None:
    clock, bus = CostlyClock(), LocalBus()
    handled: list[int] = []
    before_note: list[int] = []

    def slow(message: Message) -> None:
        clock.spent += 0.001
        handled.append(message.data["n"])

    bus.on("test.slow", slow)
    bus.on("test.note", lambda _: before_note.append(len(handled)))
    async with serving(clock, bus=bus) as (server, url):
        flood, other = await raw(url), await raw(url)
        for n in range(2_000):
            flood.send(b'{"type":"test.slow","data":{"n":%d}}' % n)
        await eventually(lambda: bool(handled))
        sent_at = len(handled)
        other.send(NOTE)
        await eventually(lambda: bool(before_note))
        assert before_note[0] - sent_at < 200
        await eventually(lambda: len(handled) == 2_000)
        assert handled == list(range(2_000))
        flood.send(b'{"type":"test.slow","data":{"n":-1}}')  # it is read again
        await eventually(lambda: handled[-1] == -1)
        await flood.end()
        await other.end()
        await eventually(lambda: len(server) == 0)
    await bus.close()


class CountingClock(SystemClock):
    """A clock that counts how often it is asked: once for every frame."""

    def __init__(self) -> None:
        self.asked = 0
        self.cost = 0.0

    def monotonic(self) -> float:
        self.asked += 1
        return super().monotonic() + self.asked * self.cost


async def _most_between_two_rounds(clock: CountingClock, done: asyncio.Event) -> int:
    """How often the clock was asked, at most, until the event loop had time for anything else."""
    most, last = 0, clock.asked
    while not done.is_set():
        await asyncio.sleep(0)
        most, last = max(most, clock.asked - last), clock.asked
    return most


def _parts(count: int) -> bytes:
    """A Message in many parts, most of them empty."""
    first, empty, last = b"\x01\x80" + bytes(4), b"\x00\x80" + bytes(4), b"\x80" + bytes((0x80 | len(NOTE),)) + bytes(4)
    return first + empty * count + last + NOTE


async def test_a_flood_of_parts_leaves_the_event_loop_to_others() -> None:
    clock, bus, done = CountingClock(), LocalBus(), asyncio.Event()
    bus.on("test.note", lambda _: done.set())
    async with serving(clock, bus=bus) as (_, url):
        flood = await raw(url)
        flood.transport.underlying_transport.write(_parts(150_000))
        async with asyncio.timeout(20):
            assert await _most_between_two_rounds(clock, done) < 12_000
        await flood.end()
    await bus.close()


@pytest.mark.parametrize("kind", ["parts", "pings"])
async def test_what_no_message_comes_of_counts_as_work_as_well(kind: str) -> None:
    clock, bus = CountingClock(), LocalBus()
    noted: list[int] = []
    bus.on("test.note", lambda _: noted.append(clock.asked))
    async with serving(clock, bus=bus) as (_, url):
        flood, other = await raw(url), await raw(url)
        clock.cost = 20e-6
        flooding = flood.transport.underlying_transport
        flooding.write(_parts(150_000) if kind == "parts" else (b"\x89\x80" + bytes(4)) * 150_000)
        began = clock.asked
        for _ in range(10):  # it would be through with all of it after one or two
            count = len(noted)
            other.send(NOTE)
            await eventually(lambda before=count: len(noted) > before)  # type: ignore[misc]
        assert noted[9] - began < 100_000
        await flood.end()
        await other.end()
    await bus.close()


async def test_a_ping_is_answered_with_what_it_holds() -> None:
    async with serving() as (_, url):
        reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(url).port)
        writer.write(
            b"GET /core HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
            b"\x89\x83\0\0\0\0abc"
        )
        async with asyncio.timeout(20):
            await reader.readuntil(b"\x8a\x03abc")
        writer.close()


async def test_a_client_that_says_goodbye_after_a_flood_is_handled_to_the_end() -> None:
    clock, bus = CostlyClock(), LocalBus()
    handled: list[int] = []

    def slow(message: Message) -> None:
        clock.spent += 0.001
        handled.append(message.data["n"])

    bus.on("test.slow", slow)
    async with serving(clock, bus=bus) as (_, url):
        flood = await raw(url)
        for n in range(500):
            flood.send(b'{"type":"test.slow","data":{"n":%d}}' % n)
        flood.send((4_000).to_bytes(2), WSMsgType.CLOSE)
        await flood.closed.wait()
        assert handled == list(range(500))
        assert flood.close_code == 4_000
    await bus.close()


def test_a_bucket_fills_again() -> None:
    bucket = TokenBucket(10.0, 5, 0.0)
    assert [bucket.take(1, 0.0) for _ in range(5)] == [0.0] * 5
    assert bucket.take(1, 0.0) == pytest.approx(0.1)
    assert bucket.take(1, 0.1) == pytest.approx(0.1)
    assert bucket.take(5, 100.0) == 0.0
    assert TokenBucket(0.0, 1, 0.0).take(1_000, 0.0) == 0.0


async def test_a_connection_without_a_handshake_is_closed() -> None:
    async with serving(limits=ServerLimits(handshake=0.05)) as (server, url):
        port = int(url.split(":")[2].split("/")[0])
        for said in (b"", b"GET /core HTTP/1.1\r\nHost: 127.0.0.1\r\n", b"GET /core HTTP/1.1\r\n" + b"x" * 20_000):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(said)
            async with asyncio.timeout(20):
                assert await reader.read() == b""
            writer.close()
        assert len(server) == 0


@pytest.mark.parametrize(
    "request_head",
    [
        b"POST /core HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /core HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /core HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /core HTTP/1.1\r\n\r\n",
        b"GET /core HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"garbage\r\n\r\n",
    ],
)
async def test_a_broken_handshake_gets_an_answer_and_no_connection(request_head: bytes) -> None:
    async with serving() as (server, url):
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.split(":")[2].split("/")[0]))
        writer.write(request_head)
        async with asyncio.timeout(20):
            answer = await reader.read()
        assert answer.startswith((b"HTTP/1.1 400", b"HTTP/1.1 403"))
        assert len(server) == 0
        writer.close()


@pytest.mark.spec("SESSION-1/2.5.b")
@pytest.mark.spec("SESSION-1/2.5.c")
async def test_a_malformed_session_is_rejected_once_however_many_receive(caplog: pytest.LogCaptureFixture) -> None:
    async with serving() as (_, url), connected(url) as one, connected(url) as other:
        heard: list[tuple[str, str]] = []
        for name, bus in (("one", one), ("other", other)):
            for topic in ("test.odd", "ovos.session.rejected", "ovos.utterance.handle"):
                bus.on(topic, lambda message, name=name: heard.append((name, message.type)))  # type: ignore[misc]
            await bus.carrier.flush()
        client = await raw(url)
        with caplog.at_level(logging.WARNING):
            client.send(b'{"type":"test.odd","context":{"session":"text","utterance_id":"u1"}}')
            client.send(b'{"type":"ovos.utterance.handle","context":{"session":7}}')
            frames = await client.until(lambda frames: len(frames) == 3)
            await one.carrier.flush()
            await other.carrier.flush()
        assert sorted(heard) == [
            ("one", "ovos.session.rejected"),
            ("one", "ovos.utterance.handle"),
            ("other", "ovos.session.rejected"),
            ("other", "ovos.utterance.handle"),
        ]
        assert [b"ovos.session.rejected" in frame for frame in frames] == [False, True, False]
        assert caplog.text.count("dropped test.odd") == 1
        await client.end()
