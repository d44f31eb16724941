"""What a broker keeps for groups whose members come and go."""

from __future__ import annotations

import asyncio

import pytest

from hark.bus import Exchange, RemoteBus
from hark.bus.custody import MOST, PATIENCE
from hark.model import Message, encode
from hark.testing.clock import settle
from hark.testing.memory_broker import MemoryBroker, MemoryCarrier


class Client:
    def __init__(self) -> None:
        self.got: list[tuple[bytes, str]] = []

    def deliver(self, topic: str, frame: bytes, way: str) -> None:
        self.got.append((frame, way))


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def exchange(time: Time) -> Exchange[Client, bytes]:
    return Exchange(time)


def worker(exchange: Exchange[Client, bytes], topic: str = "a.b") -> Client:
    client = Client()
    exchange.join(client)
    exchange.follow(client, topic, "workers")
    return client


def test_what_a_member_has_not_taken_goes_to_another_when_it_is_gone(exchange: Exchange[Client, bytes]) -> None:
    first, second = worker(exchange), worker(exchange)
    for number in range(4):
        exchange.publish("a.b", b"%d" % number)
    exchange.took(first, "workers")
    exchange.leave(first)
    assert first.got == [(b"0", "workers"), (b"2", "workers")]
    assert [frame for frame, _ in second.got] == [b"1", b"3", b"2"]


def test_what_is_sent_while_a_group_is_empty_waits_for_the_next_member(exchange: Exchange[Client, bytes]) -> None:
    exchange.leave(worker(exchange))
    exchange.publish("a.b", b"early")
    assert worker(exchange).got == [(b"early", "workers")]
    assert worker(exchange).got == [], "once"


def test_a_member_that_follows_no_longer_leaves_what_it_has_not_taken_to_the_next(
    exchange: Exchange[Client, bytes],
) -> None:
    first = worker(exchange)
    exchange.publish("a.b", b"x")
    exchange.unfollow(first, "a.b", "workers")
    assert worker(exchange).got == [(b"x", "workers")]


def test_a_group_that_was_never_there_misses_what_was_sent_before_unless_it_is_expected(
    exchange: Exchange[Client, bytes],
) -> None:
    exchange.publish("a.b", b"nobody")
    assert worker(exchange).got == []
    exchange.expect("c.d", "workers")
    exchange.publish("c.d", b"for the workers")
    assert worker(exchange, "c.d").got == [(b"for the workers", "workers")]


def test_what_is_too_old_is_not_delivered_and_said_to_be_lost(
    exchange: Exchange[Client, bytes], time: Time, caplog: pytest.LogCaptureFixture
) -> None:
    exchange.leave(worker(exchange))
    exchange.publish("a.b", b"old")
    time.now = PATIENCE + 1
    assert worker(exchange).got == []
    assert "1 messages on a.b are too old for workers" in caplog.text


def test_a_group_that_does_not_come_back_is_given_up(
    exchange: Exchange[Client, bytes], time: Time, caplog: pytest.LogCaptureFixture
) -> None:
    exchange.leave(worker(exchange))
    exchange.publish("a.b", b"old")
    time.now = PATIENCE + 1
    for _ in range(10):
        exchange.publish("a.b", b"new")
    assert caplog.text.count("nobody of workers has come; 1 messages on a.b are dropped") == 1
    assert worker(exchange).got == []


def test_memory_is_bounded_whoever_never_takes_anything(exchange: Exchange[Client, bytes]) -> None:
    exchange.leave(worker(exchange))
    for number in range(MOST + 5):
        exchange.publish("a.b", b"%d" % number)
    lazy = worker(exchange)
    assert len(lazy.got) == MOST
    assert lazy.got[0] == (b"5", "workers")


def test_those_who_are_in_no_group_are_not_kept_anything_for(exchange: Exchange[Client, bytes]) -> None:
    client = Client()
    exchange.join(client)
    exchange.follow(client, "a.b")
    exchange.leave(client)
    exchange.publish("a.b", b"x")
    exchange.join(client)
    exchange.follow(client, "a.b")
    assert client.got == []


class Noting(MemoryCarrier):
    """A carrier that notes what was said to have been taken, and when."""

    def __init__(self, broker: MemoryBroker, said: list[str]) -> None:
        super().__init__(broker.exchange)
        self._said = said

    def took(self, group: str) -> None:
        self._said.append(f"took {group}")
        super().took(group)


async def test_a_message_is_taken_when_its_listener_was_called_or_says_that_it_put_it_down() -> None:
    said: list[str] = []
    broker = MemoryBroker()
    here, there = RemoteBus(Noting(broker, said)), RemoteBus(broker.carrier())
    await here.open()
    await there.open()

    def puts_down(_: Message) -> None:
        said.append("put down")
        here.taken("careful")
        said.append("and went on")

    here.on("a", puts_down, group="careful")
    here.on("b", lambda _: said.append("called"), group="plain")
    for topic in ("a", "b"):
        there.emit(Message(topic))
        await settle()
    assert said == ["put down", "took careful", "and went on", "called", "took plain"]
    here.taken("careful")
    assert said[-1] == "took plain", "there is nothing to be taken"
    await here.close()
    await there.close()


async def test_what_waits_for_its_listener_is_not_taken_yet() -> None:
    said: list[str] = []
    broker = MemoryBroker()
    here = RemoteBus(Noting(broker, said))
    await here.open()

    def busy(_: Message) -> None:
        said.append("called")

    here.on("a", busy, group="work")
    here._pending.extend([(here.on("b", lambda _: None), Message("b"))] * 100)  # more than are delivered in one go
    here.carrier.send("a", encode(Message("a")))
    await asyncio.sleep(0)
    assert said == []
    await settle()
    assert said == ["called", "took work"]
    await here.close()
