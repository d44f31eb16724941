"""A server that is killed: what was on its way arrives by the next one, once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest
from bus_fixtures import keep, note
from picows import WSMsgType
from websocket_fixtures import connected, eventually, raw, serving

from hark.bus import RemoteBus
from hark.bus.websocket import Door, Key, WebSocketCarrier, WebSocketServer
from hark.bus.websocket.door import LOCAL
from hark.bus.websocket.protocol import command
from hark.bus.websocket.seen import Seen
from hark.bus.websocket.senders import Sender, Senders, sender_name
from hark.bus.websocket.unconfirmed import Unconfirmed
from hark.model import Clock, SystemClock
from hark.testing import FakeClock


class Book:
    """A guest book in memory, for several servers."""

    def __init__(self) -> None:
        self.present: frozenset[str] = frozenset()

    def read(self) -> frozenset[str]:
        return self.present

    def write(self, present: Iterable[str]) -> None:
        self.present = frozenset(present)


class Mortal(WebSocketServer):
    """A server that can be killed: what it has read by then and not handed on is gone."""

    def die(self) -> None:
        """From now on, what it reads is lost with it."""
        self.relay.take = lambda _client, _raw: None  # type: ignore[method-assign]

    async def kill(self) -> None:
        self.relay.close()  # a dead one writes nothing any more
        for client in list(self._clients):
            client.cut()
        await self.close()


async def started(url: str, book: Book, clock: Clock | None = None) -> Mortal:
    """The next server at an address, with the guest book of the last."""
    server = Mortal(clock or SystemClock(), book=book)
    await server.listen(Door(port=urlsplit(url).port or 0))
    return server


class Town:
    """A server with a guest book, and those who are connected."""

    def __init__(self, server: Mortal, url: str, book: Book) -> None:
        self.server = server
        self.url = url
        self.book = book

    async def kill(self) -> None:
        await self.server.kill()

    async def restart(self, clock: Clock | None = None) -> None:
        self.server = await started(self.url, self.book, clock)


@pytest.fixture
async def town() -> AsyncIterator[Town]:
    book = Book()
    server = Mortal(SystemClock(), book=book)
    made = Town(server, await server.listen(Door(port=0)), book)
    yield made
    await made.server.close()


@asynccontextmanager
async def three(town: Town) -> AsyncIterator[tuple[RemoteBus, RemoteBus, RemoteBus]]:
    async with connected(town.url) as one, connected(town.url) as two, connected(town.url) as three:
        yield one, two, three


async def through(*buses: RemoteBus) -> None:
    """What they emitted has reached the server, and what that sent has reached them."""
    for _ in range(2):
        for bus in buses:
            async with asyncio.timeout(20):
                await bus.carrier.flush()


def is_lost(bus: RemoteBus) -> bool:
    assert isinstance(bus.carrier, WebSocketCarrier)
    return not bus.carrier.connected


async def test_what_died_with_the_server_arrives_by_the_next_and_what_arrived_before_does_not(town: Town) -> None:
    heard: list[int] = []
    everything: list[int] = []
    async with three(town) as (one, two, watcher):
        two.on("test.note", keep(heard))
        watcher.tap(lambda message: everything.append(message.data["n"]) if "n" in message.data else None)
        await through(one, two, watcher)
        for n in range(5):
            one.emit(note(n))
        await through(one, two, watcher)
        town.server.die()
        for n in range(5, 10):
            one.emit(note(n))
        await through(one)
        await town.kill()
        await eventually(lambda: is_lost(one))
        one.emit(note(10))
        await town.restart()
        await through(one, two, watcher)
        await eventually(lambda: len(heard) == len(everything) == 11)
        one.emit(note(11))
        await through(one, two, watcher)
        assert heard == everything == list(range(12))


async def test_a_group_gets_what_nobody_of_it_had_and_nothing_else(town: Town) -> None:
    had: dict[str, list[int]] = {"two": [], "three": []}
    async with three(town) as (one, two, three_):
        two.on("test.work", keep(had["two"]), group="workers")
        await through(one, two)
        for n in range(10):
            one.emit(note(n, topic="test.work"))
        await through(one, two)
        three_.on("test.work", keep(had["three"]), group="workers")
        await through(one, two, three_)
        assert len(had["two"]) == 10
        town.server.die()
        for n in range(10, 20):
            one.emit(note(n, topic="test.work"))
        await through(one)
        await town.kill()
        await town.restart()
        await through(one, two, three_)
        await eventually(lambda: len(had["two"]) + len(had["three"]) >= 20)
        await through(one, two, three_)
        assert sorted(had["two"] + had["three"]) == list(range(20))


async def test_nobody_misses_what_is_said_before_he_is_back(town: Town) -> None:
    heard: list[int] = []
    clock = FakeClock()
    async with connected(town.url) as one, connected(town.url, clock) as late:
        late.on("test.note", keep(heard))
        await through(one, late)
        await town.kill()
        await eventually(lambda: is_lost(one) and is_lost(late))
        await town.restart()
        one.emit(note(1))
        await through(one)
        assert town.server.relay.reunion.is_on
        await clock.advance(1)  # only now does he look
        await eventually(lambda: heard == [1])
        assert not town.server.relay.reunion.is_on


async def test_who_never_comes_back_is_waited_for_some_seconds(town: Town, caplog: pytest.LogCaptureFixture) -> None:
    clock = FakeClock()
    heard: list[int] = []
    async with connected(town.url) as one:
        one.on("test.note", keep(heard))
        gone = RemoteBus(WebSocketCarrier(town.url, FakeClock()))
        await gone.open()
        await through(one, gone)
        await town.kill()
        await eventually(lambda: is_lost(one))
        await town.restart(clock)
        one.emit(note(1))
        await through(one)
        assert heard == []
        await clock.advance(3)
        await eventually(lambda: heard == [1])
        assert "1 clients that were connected before have not come back" in caplog.text
        # The next one does not wait for him any more.
        assert len(town.book.present) == 1
        await gone.close()


async def test_what_is_held_until_all_are_back_is_bounded(town: Town) -> None:
    town.book.present = frozenset({"0" * 16})
    await town.kill()
    await town.restart(FakeClock())
    heard: list[int] = []
    async with connected(town.url) as one:
        one.on("test.note", keep(heard))
        for n in range(5):
            one.emit(note(n, text="x" * 4_000_000))
            await through(one)
            assert heard == (list(range(n + 1)) if n == 4 else []), "20 MB are more than it holds"


async def test_a_server_that_is_killed_before_all_are_back_leaves_those_to_the_next(town: Town) -> None:
    clock = FakeClock()
    async with connected(town.url) as one, connected(town.url, clock) as late:
        await through(one, late)
        before = town.book.present
        assert len(before) == 2
        await town.kill()
        await eventually(lambda: is_lost(one) and is_lost(late))
        await town.restart()
        await through(one)
        assert town.book.present == before
        await clock.advance(1)
        await through(late)


async def test_who_left_in_good_order_is_not_waited_for(town: Town) -> None:
    async with connected(town.url) as one:
        async with connected(town.url) as two:
            await through(one, two)
        await eventually(lambda: len(town.book.present) == 1)
        await town.server.close()
        assert len(town.book.present) == 1, "who is there when it ends is expected by the next"
        await eventually(lambda: is_lost(one))
        await town.restart()
        await through(one)
        assert not town.server.relay.reunion.is_on


async def test_newcomers_and_clients_of_ovos_are_not_told_what_was_said_before(town: Town) -> None:
    heard: list[int] = []
    async with connected(town.url) as one:
        await through(one)
        one.emit(note(1))
        await through(one)
        await town.kill()
        await eventually(lambda: is_lost(one))
        town.book.present |= {"0" * 16}  # one more is waited for, so that newcomers are there in time
        clock = FakeClock()
        await town.restart(clock)
        plain = await raw(town.url)
        async with connected(town.url) as newcomer:
            newcomer.on("test.note", keep(heard))
            await through(newcomer, one)
            one.emit(note(2))
            await through(one)
            await clock.advance(3)
            await plain.until(lambda frames: len(frames) == 2)
            await through(newcomer)
            assert heard == [2]
            assert b'"n":2' in plain.frames[1]
        await plain.end()


async def test_a_connection_that_breaks_costs_its_sender_nothing_and_nobody_hears_it_twice() -> None:
    heard: list[int] = []
    async with serving() as (server, url), connected(url) as one, connected(url) as two:
        two.on("test.note", keep(heard))
        await through(one, two)
        for n in range(5):
            one.emit(note(n))
        await through(one, two)
        assert isinstance(one.carrier, WebSocketCarrier)
        assert one.carrier._transport is not None
        one.carrier._transport.disconnect(graceful=False)
        await eventually(lambda: is_lost(one))
        one.emit(note(5))
        await through(one, two)
        assert heard == [0, 1, 2, 3, 4, 5]
        assert len(server) == 2


async def test_what_others_did_not_wait_for_is_not_sent_any_more(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[int] = []
    clock = FakeClock()
    async with serving() as (_, url), connected(url) as two, connected(url, clock, stale=1.0) as worker:
        two.on("test.note", keep(heard))
        await through(two, worker)
        for away in (0.9, 1.1):
            assert isinstance(worker.carrier, WebSocketCarrier)
            assert worker.carrier._transport is not None
            worker.emit(note(1))
            worker.carrier._transport.disconnect(graceful=False)
            await eventually(lambda: is_lost(worker))
            worker.emit(note(2))
            clock.pass_by(away)
            while is_lost(worker):  # time stands still but for these
                await clock.advance(0.0)
                await asyncio.sleep(0.001)
            worker.emit(note(3))
            await through(worker, two)
    assert heard[:3] == [1, 2, 3]
    assert heard[3:] in ([3], [1, 3]), "the first may have been through before it was cut off"
    assert "away for 1.1 s; 1 Messages that others did not wait for were dropped" in caplog.text


async def test_a_server_that_was_away_makes_nothing_stale(town: Town) -> None:
    heard: list[int] = []
    clock = FakeClock()
    async with connected(town.url) as two, connected(town.url, clock, stale=1.0) as worker:
        two.on("test.note", keep(heard))
        await through(two, worker)
        await town.kill()
        await eventually(lambda: is_lost(worker))
        worker.emit(note(1))
        await town.restart()
        clock.pass_by(20.0)
        await clock.advance(0.0)
        await through(worker, two)
        await eventually(lambda: heard == [1])


async def test_what_a_server_has_had_for_a_while_is_not_kept_any_more() -> None:
    clock = FakeClock()
    async with serving(clock) as (_, url), connected(url) as one:
        assert isinstance(one.carrier, WebSocketCarrier)
        kept = one.carrier._correspondence.unconfirmed
        for n in range(3):
            one.emit(note(n))
        await through(one)
        assert (kept.first, kept.next) == (1, 4)
        await clock.advance(1)
        one.emit(note(3))
        await through(one)
        assert kept.first == 1, "it came a moment ago"
        await clock.advance(1)
        await eventually(lambda: kept.first == 4)
        await clock.advance(2)
        await eventually(lambda: kept.first == kept.next == 5)
        assert clock.due is None, "nothing is confirmed where nothing comes"


async def test_nobody_can_say_that_a_group_had_something_but_its_members(town: Town) -> None:
    had: list[int] = []
    async with three(town) as (one, two, liar):
        two.on("test.work", keep(had), group="workers")
        await through(one, two, liar)
        town.server.die()
        one.emit(note(1, topic="test.work"))
        await through(one)
        assert isinstance(one.carrier, WebSocketCarrier)
        mark = f"{one.carrier._correspondence.origin}:{one.carrier._correspondence.unconfirmed.next - 1}"
        await town.kill()
        await eventually(lambda: is_lost(liar))
        liar.carrier._correspondence.seen.is_new(mark, "workers")  # type: ignore[attr-defined]
        await town.restart()
        await through(one, two, liar)
        await eventually(lambda: had == [1])


async def test_who_has_said_who_it_is_cannot_be_somebody_else(caplog: pytest.LogCaptureFixture) -> None:
    async with serving() as (server, url), connected(url) as one:
        assert isinstance(one.carrier, WebSocketCarrier)
        assert one.carrier._transport is not None
        one.carrier._transport.send(WSMsgType.BINARY, command("hello", "f" * 16))
        one.carrier._transport.send(WSMsgType.BINARY, command("back"))
        await through(one)
        assert "has said who it is already" in caplog.text
        assert len(server) == 1


def test_a_token_gives_a_name_that_nobody_else_can_have() -> None:
    origin = "0123456789abcdef"
    names = {sender_name(key, origin) for key in (LOCAL, Key("a", mark="x"), Key("a", mark="y"), Key("b", mark="x"))}
    assert len(names) == 4
    assert all(name.endswith(origin) for name in names)


def test_a_sender_that_is_known_sends_nothing_again() -> None:
    senders = Senders()
    first = Sender(senders, "a")
    assert [first.next() for _ in range(2)] == [("a:1", False), ("a:2", False)]
    second = Sender(senders, "a", first=2, fresh=4)
    assert [second.next() for _ in range(3)] == [None, ("a:3", False), ("a:4", False)]
    elsewhere = Sender(Senders(), "a", first=2, fresh=4)
    assert [elsewhere.next() for _ in range(3)] == [("a:2", True), ("a:3", True), ("a:4", False)]


def test_memory_of_senders_and_of_what_came_is_bounded() -> None:
    senders, seen = Senders(), Seen()
    for n in range(10_001):
        senders.is_new(f"{n}", 1)
        seen.is_new(f"{n}:1", "")
        seen.is_new(f"a:{n}", "group")
    assert not senders.knows("0")
    assert senders.knows("10000")
    assert seen.is_new("0:1", "")
    assert not seen.is_new("10000:1", "")
    assert len(seen.by_group()["group"]) == 4_000


def test_what_is_kept_to_be_sent_again_is_bounded() -> None:
    kept = Unconfirmed(bound=10)
    for n in range(4):
        kept.sent(b"%04d" % n)
    assert (kept.first, kept.next) == (3, 5)
    assert list(kept) == [b"0002", b"0003"]
    kept.confirmed(1)
    assert kept.first == 3
    kept.confirmed(99)
    assert (kept.first, kept.next, list(kept)) == (5, 5, [])
