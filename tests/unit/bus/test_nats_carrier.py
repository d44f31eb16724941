"""The bus over a real NATS server."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from hark.bus import RemoteBus
from hark.bus.nats import NatsCarrier, NatsOptions, NoBroker
from hark.model import MalformedMessage, Message
from hark.spec import topics
from hark.testing.clock import FakeClock
from hark.testing.nats_server import NatsServer, closed_port

TLS = Path(__file__).parent / "nats_tls"


class Pair:
    """Two buses on one server."""

    def __init__(self, options: NatsOptions) -> None:
        self.one, self.other = (RemoteBus(NatsCarrier(options)) for _ in range(2))

    async def arrive(self) -> None:
        """Wait until everything that was sent so far was heard."""
        for bus in (self.one, self.other) * 2:
            await bus.carrier.flush()


@pytest.fixture
async def pair(nats_options: NatsOptions) -> AsyncIterator[Pair]:
    made = Pair(nats_options)
    await made.one.open()
    await made.other.open()
    yield made
    await made.one.close()
    await made.other.close()


async def test_messages_of_one_emitter_arrive_in_order_across_topics_and_groups(pair: Pair) -> None:
    heard: list[int] = []
    for topic in ("a", "b.c", "d:e"):
        pair.other.on(topic, lambda message: heard.append(message.data["n"]), group="work" if topic == "a" else None)
    await pair.arrive()
    for n in range(999):
        pair.one.emit(Message(("a", "b.c", "d:e")[n % 3], {"n": n}))
    await pair.arrive()
    assert heard == list(range(999))


async def test_what_is_emitted_comes_back_to_who_follows_it_at_once(pair: Pair) -> None:
    heard: list[str] = []
    pair.one.on("test.note", lambda message: heard.append(message.type))
    pair.one.emit(Message("test.note"))
    await pair.arrive()
    assert heard == ["test.note"]


async def test_of_a_group_one_hears_and_all_of_them_share_the_work(pair: Pair) -> None:
    heard: list[str] = []
    for name, bus in (("one", pair.one), ("other", pair.other)):
        bus.on("work", lambda _, name=name: heard.append(name), group="workers of mine")  # type: ignore[misc]
    pair.one.on("work", lambda _: heard.append("everybody"))
    await pair.arrive()
    for _ in range(400):
        pair.one.emit(Message("work"))
    await pair.arrive()
    assert heard.count("everybody") == 400
    assert heard.count("one") + heard.count("other") == 400
    assert min(heard.count("one"), heard.count("other")) > 100


async def test_a_tap_sees_everything_once_and_other_assistants_nothing(pair: Pair, nats_options: NatsOptions) -> None:
    seen: list[str] = []
    heard: list[str] = []
    end = pair.one.tap(lambda message: seen.append(message.type))
    pair.one.on("a", lambda message: heard.append(message.type))
    neighbour = RemoteBus(NatsCarrier(msgspec.structs.replace(nats_options, prefix="neighbour.")))
    await neighbour.open()
    neighbour.emit(Message("a"))
    await neighbour.close()
    await pair.arrive()
    pair.other.emit(Message("a"))
    pair.other.emit(Message("b.c:d"))
    await pair.arrive()
    end()
    await pair.arrive()
    pair.other.emit(Message("a"))
    await pair.arrive()
    assert (seen, heard) == (["a", "b.c:d"], ["a", "a"])


async def test_who_unfollows_is_sent_nothing(pair: Pair) -> None:
    heard: list[str] = []
    pair.one.on("a", lambda _: heard.append("a")).close()
    pair.one.on("b", lambda _: heard.append("b"))
    await pair.arrive()
    pair.other.emit(Message("a"))
    pair.other.emit(Message("b"))
    await pair.arrive()
    assert heard == ["b"]


async def test_a_very_long_topic_is_a_topic_like_others(pair: Pair) -> None:
    heard: list[int] = []
    topic = ".".join(["long"] * 2_000)
    pair.one.on(topic, lambda message: heard.append(len(message.type)))
    await pair.arrive()
    pair.other.emit(Message(topic))
    await pair.arrive()
    assert heard == [len(topic)]


async def test_what_the_server_would_not_take_is_refused_with_its_size(pair: Pair) -> None:
    heard: list[str] = []
    pair.one.on(("big", "small"), lambda message: heard.append(message.type))
    await pair.arrive()
    with pytest.raises(MalformedMessage, match=r"big has 8388\d\d\d bytes and the NATS server takes 8388608 at most"):
        pair.other.emit(Message("big", {"text": "x" * 8_388_608}))
    pair.other.emit(Message("big", {"text": "x" * 8_000_000}))
    pair.other.emit(Message("small"))
    await pair.arrive()
    assert heard == ["big", "small"]


async def test_what_was_emitted_before_close_is_sent(pair: Pair, nats_options: NatsOptions) -> None:
    heard: list[int] = []
    pair.one.on("a", lambda message: heard.append(message.data["n"]))
    await pair.arrive()
    leaving = RemoteBus(NatsCarrier(nats_options))
    await leaving.open()
    for n in range(5_000):
        leaving.emit(Message("a", {"n": n, "text": "x" * 1_000}))
    await leaving.close()
    await leaving.close()
    await pair.arrive()
    assert heard == list(range(5_000))


async def test_a_receiver_that_fails_does_not_end_the_reading(
    pair: Pair, nats_options: NatsOptions, caplog: pytest.LogCaptureFixture
) -> None:
    received: list[bytes] = []

    def receive(frame: bytes, _via: str | None) -> None:
        received.append(frame)
        if len(received) == 1:
            raise LookupError("out of order")

    carrier = NatsCarrier(nats_options)
    carrier.follow("a")
    await carrier.open(receive)
    for _ in range(2):
        pair.other.emit(Message("a"))
    await pair.arrive()
    await carrier.flush()
    assert "could not be taken in" in caplog.text
    assert len(received) == 2
    await carrier.close()


async def test_after_a_break_everything_is_followed_again_and_what_waited_is_sent(
    own_nats_server: NatsServer, own_nats_options: NatsOptions, caplog: pytest.LogCaptureFixture
) -> None:
    bus = RemoteBus(carrier := NatsCarrier(own_nats_options))
    heard: list[str] = []
    again: list[str] = []
    bus.on(topics.BUS_AGAIN, lambda message: again.append(message.type))
    bus.on("a", lambda _: heard.append("a"))
    bus.on("gone", lambda _: heard.append("gone"), name="gone").close()
    bus.on("work", lambda _: heard.append("work"), group="workers")
    await bus.open()
    lost = noticed(carrier)
    own_nats_server.kill()
    await lost
    assert not carrier.connected
    bus.on("late", lambda _: heard.append("late"))
    for topic in ("a", "gone", "work", "late"):
        bus.emit(Message(topic))
    own_nats_server.start()
    await carrier.flush()
    assert heard == ["a", "work", "late"]
    assert again == [topics.BUS_AGAIN]
    assert "the connection is lost" in caplog.text
    assert "connected again" in caplog.text
    await bus.close()


async def test_what_has_waited_too_long_is_dropped_and_counted(
    own_nats_server: NatsServer, own_nats_options: NatsOptions, caplog: pytest.LogCaptureFixture
) -> None:
    clock = FakeClock()
    bus = RemoteBus(carrier := NatsCarrier(own_nats_options, clock))
    heard: list[int] = []
    bus.on("a", lambda message: heard.append(message.data["n"]))
    await bus.open()
    lost = noticed(carrier)
    own_nats_server.kill()
    await lost
    bus.emit(Message("a", {"n": 1}))
    clock.pass_by(own_nats_options.patience + 1.0)
    bus.emit(Message("a", {"n": 2}))
    own_nats_server.start()
    flushed = asyncio.ensure_future(carrier.flush())
    while not flushed.done():
        await clock.advance(0.0)
    assert heard == [2]
    assert "connected again after 31.0 s; 1 commands were not sent" in caplog.text
    await bus.close()


async def test_it_can_be_closed_while_there_is_no_server(
    own_nats_server: NatsServer, own_nats_options: NatsOptions, caplog: pytest.LogCaptureFixture
) -> None:
    bus = RemoteBus(carrier := NatsCarrier(own_nats_options))
    await bus.open()
    lost = noticed(carrier)
    own_nats_server.kill()
    await lost
    bus.emit(Message("a"))
    before = asyncio.all_tasks()
    await bus.close()
    assert re.search(r"closed with \d commands unsent", caplog.text)
    assert asyncio.all_tasks() <= before


async def test_where_nobody_listens_it_says_so() -> None:
    options = NatsOptions((f"nats://me:secret@127.0.0.1:{closed_port()}",), connect_within=0.2, retry=0.01)
    with pytest.raises(
        NoBroker, match=r"no NATS server could be reached at 127.0.0.1:\d+ within 0.2 s: .*Connection refused"
    ):
        await NatsCarrier(options).open(lambda _frame, _way: None)


async def test_a_server_that_wants_a_token_lets_in_who_has_it() -> None:
    with NatsServer("--auth", "sesame") as server:
        with pytest.raises(NoBroker, match=r"does not accept the connection: .*uthorization"):
            await NatsCarrier(NatsOptions((server.url,), token="barley")).open(lambda _frame, _way: None)
        carrier = NatsCarrier(NatsOptions((server.url,), token="sesame"))
        await carrier.open(lambda _frame, _way: None)
        await carrier.flush()
        await carrier.close()


async def test_over_tls_nothing_is_different_and_a_strangers_certificate_is_refused() -> None:
    cert, key = str(TLS / "cert.pem"), str(TLS / "key.pem")
    with NatsServer("--tls", "--tlscert", cert, "--tlskey", key) as server:
        known = ssl.create_default_context(cafile=cert)
        bus = RemoteBus(NatsCarrier(NatsOptions((server.url,), tls=known)))
        heard: list[str] = []
        bus.on("a", lambda message: heard.append(message.type))
        await bus.open()
        bus.emit(Message("a"))
        await bus.carrier.flush()
        assert heard == ["a"]
        await bus.close()
        stranger = NatsOptions((server.url,), tls=ssl.create_default_context(), connect_within=0.3)
        with pytest.raises(NoBroker, match="certificate"):
            await NatsCarrier(stranger).open(lambda _frame, _way: None)


async def test_where_the_server_turns_it_out_it_comes_back(caplog: pytest.LogCaptureFixture) -> None:
    clock = FakeClock()
    with NatsServer() as server:
        bus = RemoteBus(carrier := NatsCarrier(NatsOptions((server.url,), retry=0.01), clock))
        heard: list[str] = []
        bus.on("a", lambda message: heard.append(message.type))
        await bus.open()
        lost = noticed(carrier)
        assert carrier.connection.client is not None
        await carrier.connection.client._process_err(
            "'user authentication expired'"
        )  # after this the client tries no more
        await lost
        assert "the server has closed the connection" in caplog.text
        flushed = asyncio.ensure_future(carrier.flush())
        bus.emit(Message("a"))
        while not flushed.done():
            await clock.advance(1.0)
        await carrier.flush()
        assert heard == ["a"]
        await bus.close()


def noticed(carrier: NatsCarrier) -> asyncio.Future[None]:
    """Done when the carrier has noticed that its connection broke."""
    seen: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    carrier.connection.on_lost.append(lambda: None if seen.done() else seen.set_result(None))
    return seen
