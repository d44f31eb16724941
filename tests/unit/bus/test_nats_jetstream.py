"""What Hark uses of JetStream, at a real server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import msgspec
import pytest

from hark.bus import RemoteBus
from hark.bus.nats import Delivery, NatsCarrier, NatsOptions, NoBroker, StoredEntry, TurnStreams, WrongRevision
from hark.bus.nats.jetstream import headers_of
from hark.model import Message, Session, encode
from hark.spec import topics
from hark.testing.nats_server import NatsServer
from hark.testing.network_link import NetworkLink

SAID = encode(Message(topics.UTTERANCE_HANDLE, {"utterances": ["hello"]}, {}, Session("kitchen")))


@pytest.fixture
async def carrier(nats_options: NatsOptions) -> AsyncIterator[NatsCarrier]:
    made = NatsCarrier(nats_options)
    await made.open(lambda _frame, _via: None)
    yield made
    await made.streams.delete()
    await made.close()


@pytest.fixture
def streams(carrier: NatsCarrier) -> TurnStreams:
    return carrier.streams


async def until(is_so: Callable[[], bool], within: float = 8.0) -> None:
    async with asyncio.timeout(within):
        while not is_so():  # noqa: ASYNC110 - the broker does not say
            await asyncio.sleep(0.01)


async def test_an_utterance_is_delivered_until_it_is_acknowledged(streams: TurnStreams) -> None:
    taken: list[Delivery] = []
    queue = streams.work_queue("named", taken.append)
    queue.open()
    key = streams.publish(SAID)
    await until(lambda: len(taken) == 1)
    assert (taken[0].key, taken[0].data, taken[0].number) == (key, SAID, 1)
    streams.hand_over(taken[0])
    await until(lambda: len(taken) == 2)
    assert (taken[1].key, taken[1].number) == (key, 2)
    streams.acknowledge(taken[1])
    await streams.flush()
    await until(lambda: len(taken) == 2)
    queue.close()
    assert streams.published == 1


async def test_what_is_reported_as_in_progress_is_delivered_to_no_other(streams: TurnStreams) -> None:
    taken: list[Delivery] = []
    queue = streams.work_queue("named", taken.append)
    queue.open()
    streams.publish(SAID)
    await until(lambda: len(taken) == 1)
    for _ in range(5):
        streams.in_progress(taken[0])
        await asyncio.sleep(0.5)
    assert len(taken) == 1
    await until(lambda: len(taken) == 2)  # no more reports
    queue.close()


async def test_an_utterance_of_the_default_session_goes_to_a_queue_of_its_own(streams: TurnStreams) -> None:
    named: list[Delivery] = []
    default: list[Delivery] = []
    queues = streams.work_queue("named", named.append), streams.work_queue("default", default.append)
    for queue in queues:
        queue.open()
    streams.publish(encode(Message(topics.UTTERANCE_HANDLE, {"utterances": ["hello"]})))
    streams.publish(b'{"type":"ovos.utterance.handle","context":{"session":7}}')
    await until(lambda: len(named) == len(default) == 1)
    for queue in queues:
        queue.close()


async def test_an_utterance_that_is_published_again_under_its_key_is_one(
    carrier: NatsCarrier, nats_options: NatsOptions
) -> None:
    taken: list[Delivery] = []
    queue = carrier.streams.work_queue("named", taken.append)
    queue.open()
    subject = nats_options.prefix.removesuffix(".").replace(".", "-") + "-turns.named"
    for _ in range(3):
        await carrier.connection.request(subject, SAID, headers_of(Nats_Msg_Id="a" * 32))
    carrier.streams.publish(SAID)
    await until(lambda: len(taken) == 2)
    assert [delivery.key for delivery in taken].count("a" * 32) == 1
    queue.close()


async def test_more_than_one_request_brings_in_are_all_delivered(streams: TurnStreams) -> None:
    keys = {streams.publish(SAID) for _ in range(100)}
    taken: list[Delivery] = []
    queue = streams.work_queue("named", taken.append)
    queue.open()
    await until(lambda: len(taken) == 100)
    assert {delivery.key for delivery in taken} == keys
    queue.close()


async def test_what_is_published_while_the_broker_cannot_be_reached_is_acknowledged_later(
    nats_server: NatsServer, nats_options: NatsOptions, caplog: pytest.LogCaptureFixture
) -> None:
    async with NetworkLink(nats_server.port) as link:
        options = msgspec.structs.replace(nats_options, servers=(f"nats://127.0.0.1:{link.port}",), regroup=0.0)
        made = NatsCarrier(options)
        await made.open(lambda _frame, _via: None)
        link.cut()
        await until(lambda: not made.connected)
        made.send(topics.UTTERANCE_HANDLE, SAID)
        assert not made.streams.is_quiet
        await link.restore()
        await until(lambda: made.streams.is_quiet)
        assert made.streams.published == 1
        await made.streams.delete()
        await made.close()


async def test_what_was_never_acknowledged_is_told_at_the_end(
    nats_server: NatsServer, nats_options: NatsOptions, caplog: pytest.LogCaptureFixture
) -> None:
    async with NetworkLink(nats_server.port) as link:
        made = NatsCarrier(msgspec.structs.replace(nats_options, servers=(f"nats://127.0.0.1:{link.port}",)))
        await made.open(lambda _frame, _via: None)
        link.cut()
        await until(lambda: not made.connected)
        made.send(topics.UTTERANCE_HANDLE, SAID)
        await made.streams.close(patience=0.05)
        await made.close()
    assert "1 utterances were not acknowledged by the broker" in caplog.text


async def test_markers_are_read_once_and_in_order_also_after_a_break(
    carrier: NatsCarrier, nats_server: NatsServer, nats_options: NatsOptions
) -> None:
    async with NetworkLink(nats_server.port) as link:
        options = msgspec.structs.replace(nats_options, servers=(f"nats://127.0.0.1:{link.port}",), regroup=0.0)
        bus = RemoteBus(reading := NatsCarrier(options))
        heard: list[str] = []
        bus.on((topics.HANDLER_COMPLETE, topics.UTTERANCE_HANDLED), lambda message: heard.append(message.data["n"]))
        await bus.open()
        for number in range(20):
            if number == 8:
                link.cut()
                await until(lambda: not reading.connected)
            if number == 14:
                await link.restore()
            frames = [
                encode(Message(topics.HANDLER_COMPLETE, {"n": f"{number} complete"})),
                encode(Message(topics.UTTERANCE_HANDLED, {"n": f"{number} handled"})),
            ]
            assert await carrier.streams.end(f"{number:032x}", frames)
        await until(lambda: len(heard) >= 40)
        assert heard == [f"{number} {what}" for number in range(20) for what in ("complete", "handled")]
        await bus.close()


async def test_a_key_is_written_against_its_revision(streams: TurnStreams) -> None:
    bucket = streams.bucket("test")
    assert await bucket.ensure() == 0
    assert await bucket.get("a") is None
    first = await bucket.set("a", b"one", 0)
    with pytest.raises(WrongRevision):
        await bucket.set("a", b"other", 0)
    second = await bucket.set("a", b"two", first)
    with pytest.raises(WrongRevision):
        await bucket.set("a", b"late", first)
    found = await bucket.get("a")
    assert found is not None
    assert (found.data, found.sequence) == (b"two", second)
    await bucket.set("b", b"x", 0)
    assert sorted(await bucket.keys()) == ["a", "b"]
    await streams.jetstream.ask(f"STREAM.DELETE.KV_{bucket.bucket}", {})


async def test_a_key_that_is_watched_shows_each_value(streams: TurnStreams) -> None:
    seen: list[StoredEntry] = []
    reader = streams.session.watch("default", seen.append)
    revision = await streams.session.set("default", b"before", 0)
    await reader.open(revision)
    for number, value in enumerate((b"one", b"two"), 1):
        revision = await streams.session.set("default", value, revision)
        await until(lambda number=number: len(seen) == number)  # the bucket keeps the last value only
    assert [entry.data for entry in seen] == [b"one", b"two"]
    reader.close()


async def test_a_key_of_a_bucket_with_a_lifetime_is_gone_after_it(streams: TurnStreams) -> None:
    revision = await streams.lease.set("default", b"me", 0)
    await asyncio.sleep(1.0)
    revision = await streams.lease.set("default", b"me", revision)
    with pytest.raises(WrongRevision):
        await streams.lease.set("default", b"you", 0)
    async with asyncio.timeout(8.0):
        while await streams.lease.get("default") is not None:  # noqa: ASYNC110 - the broker does not say
            await asyncio.sleep(0.05)
    assert await streams.lease.set("default", b"you", 0) > revision


async def test_a_message_of_another_topic_than_its_subject_is_dropped(
    carrier: NatsCarrier, nats_options: NatsOptions, caplog: pytest.LogCaptureFixture
) -> None:
    bus = RemoteBus(NatsCarrier(nats_options))
    seen: list[str] = []
    bus.tap(lambda message: seen.append(message.type))
    bus.on("a", lambda message: seen.append(f"on {message.type}"))
    await bus.open()
    for topic in (topics.UTTERANCE_HANDLED, "a"):
        carrier.connection.publish(f"{nats_options.prefix}a", encode(Message(topic)))
    await carrier.flush()
    await bus.carrier.flush()
    assert sorted(seen) == ["a", "on a"]
    assert f"dropped a Message of another topic that came on {nats_options.prefix}a" in caplog.text
    await bus.close()


async def test_a_group_cannot_share_what_every_process_reads(carrier: NatsCarrier) -> None:
    with pytest.raises(ValueError, match=r"handled is read by every process"):
        carrier.follow(topics.UTTERANCE_HANDLED, "workers")


async def test_a_server_without_jetstream_is_refused_with_the_remedy() -> None:
    with NatsServer(jetstream=False) as server:
        carrier = NatsCarrier(NatsOptions((server.url,)))
        with pytest.raises(NoBroker, match=r"does not offer JetStream \(start it with -js\)"):
            await carrier.open(lambda _frame, _via: None)
        await carrier.close()
