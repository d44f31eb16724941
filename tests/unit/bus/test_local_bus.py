"""What a bus promises: everything arrives, in order, and nobody's failure is anybody else's."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from typing import Any

import pytest
from bus_fixtures import keep, note

from hark.bus import LocalBus, RemoteBus
from hark.bus.delivery import LocalSubscription
from hark.model import MalformedMessage, Message, Session, decode
from hark.spec import topics
from hark.testing import settle

# Order.


async def test_a_message_reaches_every_listener_on_its_topic_and_no_other(bus: LocalBus) -> None:
    first: list[int] = []
    second: list[int] = []
    other: list[int] = []
    bus.on("test.note", keep(first))
    bus.on("test.note", keep(second))
    bus.on("test.other", keep(other))
    bus.emit(note(1))
    await settle()
    assert (first, second, other) == ([1], [1], [])


async def test_a_message_without_listeners_is_fine(bus: LocalBus) -> None:
    bus.emit(note())
    await settle()


@pytest.mark.parametrize("kind", ["def", "async", "concurrent", "eager"])
async def test_messages_of_one_emitter_arrive_in_order(bus: LocalBus, kind: str) -> None:
    heard: list[int] = []

    async def listen(message: Message) -> None:
        heard.append(message.data["n"])
        await asyncio.sleep(0)

    if kind == "def":
        bus.on("test.note", keep(heard))
    else:
        bus.on("test.note", listen, concurrent=kind == "concurrent", eager=kind == "eager")
    for n in range(300):
        bus.emit(note(n))
    for _ in range(10):
        await settle()
    assert heard == list(range(300))


async def test_a_listener_to_several_topics_hears_them_in_order_of_emission(bus: LocalBus) -> None:
    heard: list[int] = []
    bus.on(("test.a", "test.b"), keep(heard))
    for n in range(100):
        bus.emit(note(n, "test.a" if n % 3 else "test.b"))
    await settle()
    assert heard == list(range(100))


async def test_what_is_posted_and_what_is_emitted_keep_one_order(bus: LocalBus) -> None:
    heard: list[int] = []
    bus.on("test.note", keep(heard))
    bus.post(note(1))
    assert heard == [], "no listener is called before post returns"
    bus.emit(note(2))
    bus.post(note(3))
    await settle()
    assert heard == [1, 2, 3]


async def test_what_a_listener_emits_comes_after_what_was_emitted_before(bus: LocalBus) -> None:
    heard: list[str] = []

    def first(message: Message) -> None:
        heard.append(f"first {message.data['n']}")
        if message.data["n"] == 1:
            bus.emit(note(2))
            heard.append("emitted")

    def second(message: Message) -> None:
        heard.append(f"second {message.data['n']}")

    bus.on("test.note", first)
    bus.on("test.note", second)
    bus.emit(note(1))
    await settle()
    assert heard == ["first 1", "emitted", "second 1", "first 2", "second 2"]


async def test_an_async_listener_handles_one_message_at_a_time(bus: LocalBus) -> None:
    at_once = 0
    most = 0
    heard: list[int] = []

    async def listen(message: Message) -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        for _ in range(3):
            await asyncio.sleep(0)
        heard.append(message.data["n"])
        at_once -= 1

    bus.on("test.note", listen)
    for n in range(10):
        bus.emit(note(n))
    await settle()
    assert heard == list(range(10))
    assert most == 1


@pytest.mark.parametrize("eager", [True, False])
async def test_a_concurrent_listener_starts_in_order_and_runs_side_by_side(bus: LocalBus, eager: bool) -> None:
    begun: list[int] = []
    ended: list[int] = []
    gates = [asyncio.Event() for _ in range(5)]

    async def listen(message: Message) -> None:
        n = message.data["n"]
        begun.append(n)
        await gates[n].wait()
        ended.append(n)

    bus.on("test.note", listen, concurrent=True, eager=eager)
    for n in range(5):
        bus.emit(note(n))
    await settle()
    assert begun == [0, 1, 2, 3, 4]
    for n in (3, 0, 4, 1, 2):
        gates[n].set()
        await settle()
    assert ended == [3, 0, 4, 1, 2]


async def test_a_slow_listener_holds_up_no_other(bus: LocalBus) -> None:
    go_on = asyncio.Event()
    heard: list[int] = []

    async def slow(message: Message) -> None:
        await go_on.wait()

    bus.on("test.note", slow)
    bus.on("test.note", keep(heard))
    for n in range(10):
        bus.emit(note(n))
    await settle()
    assert heard == list(range(10))
    go_on.set()


async def test_a_plain_function_cannot_be_concurrent(bus: LocalBus) -> None:
    with pytest.raises(TypeError, match="async def"):
        bus.on("test.note", keep([]), concurrent=True)


@pytest.mark.parametrize("topic", ["", "not a topic", "a:b:c", ".a", ["test.note", "no topic"]])
async def test_what_is_no_topic_cannot_be_listened_to(bus: LocalBus, topic: Any) -> None:
    heard: list[int] = []
    with pytest.raises(ValueError, match="is no topic"):
        bus.on(topic, keep(heard))
    bus.emit(note(1))
    assert heard == [], "nothing is left of it"


# Groups.


async def test_of_a_group_each_message_reaches_one_in_turn(bus: LocalBus) -> None:
    heard: dict[str, list[int]] = {"a": [], "b": [], "c": []}
    for name in heard:
        bus.on("test.note", keep(heard[name]), group="workers")
    alone: list[int] = []
    bus.on("test.note", keep(alone))
    for n in range(9):
        bus.emit(note(n))
    await settle()
    assert alone == list(range(9))
    assert sorted(n for numbers in heard.values() for n in numbers) == list(range(9))
    assert {len(numbers) for numbers in heard.values()} == {3}


async def test_two_groups_both_receive(bus: LocalBus) -> None:
    first: list[int] = []
    second: list[int] = []
    bus.on("test.note", keep(first), group="one")
    bus.on("test.note", keep(second), group="two")
    bus.emit(note(1))
    await settle()
    assert first == second == [1]


async def test_a_member_that_left_its_group_receives_nothing(bus: LocalBus) -> None:
    stays: list[int] = []
    leaves: list[int] = []
    bus.on("test.note", keep(stays), group="workers")
    leaving = bus.on("test.note", keep(leaves), group="workers")
    leaving.close()
    for n in range(4):
        bus.emit(note(n))
    await settle()
    assert (stays, leaves) == ([0, 1, 2, 3], [])


async def test_a_group_whose_last_member_left_is_gone(bus: LocalBus) -> None:
    bus.on("test.note", keep([]), group="workers").close()
    bus.emit(note(1))
    await settle()


# Failures.


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(1), KeyboardInterrupt(), asyncio.CancelledError()])
@pytest.mark.parametrize("kind", ["def", "async", "concurrent", "eager"])
async def test_a_listener_that_raises_is_named_and_the_rest_goes_on(
    bus: LocalBus, kind: str, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[int] = []

    def fail(message: Message) -> None:
        if message.data["n"] == 0:
            raise error
        heard.append(message.data["n"])

    async def fail_async(message: Message) -> None:
        fail(message)

    others: list[int] = []
    if kind == "def":
        bus.on("test.note", fail, name="the culprit")
    else:
        bus.on("test.note", fail_async, name="the culprit", concurrent=kind == "concurrent", eager=kind == "eager")
    bus.on("test.note", keep(others))
    with caplog.at_level(logging.ERROR, "hark.bus"):
        bus.emit(note(0))
        bus.emit(note(1))
        await settle()
    assert (heard, others) == ([1], [0, 1])
    assert "the culprit failed on test.note" in caplog.text or "the culprit cancelled itself" in caplog.text
    caplog.clear()


async def test_a_listener_without_a_name_is_called_by_that_of_its_function(
    bus: LocalBus, caplog: pytest.LogCaptureFixture
) -> None:
    def a_telling_name(message: Message) -> None:
        raise ValueError

    assert "a_telling_name" in bus.on("test.note", a_telling_name).name


async def test_a_tap_sees_everything_as_it_is_emitted(bus: LocalBus) -> None:
    seen: list[str] = []
    end = bus.tap(lambda message: seen.append(message.type))
    bus.emit(note())
    bus.emit(note(topic="test.unheard"))
    await settle()
    assert seen == ["test.note", "test.unheard"]
    end()
    bus.emit(note())
    assert len(seen) == 2


async def test_a_tap_that_raises_harms_no_listener(bus: LocalBus, caplog: pytest.LogCaptureFixture) -> None:
    heard: list[int] = []
    seen: list[str] = []

    def fail(message: Message) -> None:
        raise ValueError("tap")

    bus.tap(fail)
    bus.tap(lambda message: seen.append(message.type))
    bus.on("test.note", keep(heard))
    with caplog.at_level(logging.ERROR, "hark.bus"):
        bus.emit(note(1))
        await settle()
    assert (heard, seen) == ([1], ["test.note"])
    assert "a tap failed on test.note" in caplog.text
    caplog.clear()


# Queues.


async def test_a_long_queue_names_the_listener(
    bus: LocalBus, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    patch_lengths(monkeypatch, long=10, very_long=1_000)
    go_on = asyncio.Event()
    heard: list[int] = []

    async def slow(message: Message) -> None:
        await go_on.wait()
        heard.append(message.data["n"])

    bus.on("test.note", slow, name="the slow one")
    with caplog.at_level(logging.WARNING, "hark.bus"):
        for n in range(25):
            bus.emit(note(n))
            await asyncio.sleep(0)
        await settle()
    warnings = [record.getMessage() for record in caplog.records]
    assert warnings == [f"bus: the slow one has {n} messages waiting on test.note" for n in (10, 20)]
    go_on.set()
    await settle()
    assert heard == list(range(25)), "nothing is dropped"


async def test_a_queue_that_hovers_about_a_length_is_logged_once(
    bus: LocalBus, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    patch_lengths(monkeypatch, long=10, very_long=1_000)
    turns = asyncio.Semaphore(0)
    heard: list[int] = []

    async def slow(message: Message) -> None:
        await turns.acquire()
        heard.append(message.data["n"])

    async def grow_again() -> list[str]:
        caplog.clear()
        for n in range(11):
            bus.emit(note(n))
            await asyncio.sleep(0)
        for n in range(5):
            await settle()
            turns.release()
            await settle()
            bus.emit(note(n))
        await settle()
        logged = [record.getMessage() for record in caplog.records]
        heard.clear()
        for _ in range(11):
            turns.release()
        await settle()
        assert len(heard) == 11, "the queue is empty again"
        return logged

    bus.on("test.note", slow, name="the slow one")
    with caplog.at_level(logging.WARNING, "hark.bus"):
        for _ in range(2):  # once more after the queue was empty
            assert await grow_again() == ["bus: the slow one has 10 messages waiting on test.note"]


async def test_a_very_long_queue_is_detached(
    bus: LocalBus, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    patch_lengths(monkeypatch, long=10, very_long=30)
    others: list[int] = []

    async def stuck(message: Message) -> None:
        await asyncio.Event().wait()

    bus.on("test.note", stuck, name="the stuck one")
    bus.on("test.note", keep(others))
    with caplog.at_level(logging.ERROR, "hark.bus"):
        for n in range(100):
            bus.emit(note(n))
            await asyncio.sleep(0)
        await settle()
    assert [record.getMessage() for record in caplog.records] == [
        "bus: the stuck one has 30 messages waiting on test.note and was detached"
    ]
    assert others == list(range(100))
    caplog.clear()


def patch_lengths(monkeypatch: pytest.MonkeyPatch, long: int, very_long: int) -> None:
    """Make queues count as long sooner."""
    monkeypatch.setattr(LocalSubscription, "LONG", long)
    monkeypatch.setattr(LocalSubscription, "VERY_LONG", very_long)


async def test_a_flood_does_not_starve_the_loop(bus: LocalBus) -> None:
    heard = 0
    stop = False

    def breed(message: Message) -> None:
        nonlocal heard
        heard += 1
        if not stop:
            bus.emit(note())

    bus.on("test.note", breed)
    bus.emit(note())
    rounds = 0
    for _ in range(20):
        await asyncio.sleep(0)
        rounds += 1
    stop = True
    await settle()
    assert rounds == 20
    assert heard > (0 if isinstance(bus, RemoteBus) else 100)  # each of them went round by the broker


# Threads.


async def test_messages_from_another_thread_arrive_on_the_loop_in_order(bus: LocalBus) -> None:
    heard: list[tuple[int, bool]] = []
    here = threading.get_ident()
    done = asyncio.Event()

    def listen(message: Message) -> None:
        heard.append((message.data["n"], threading.get_ident() == here))
        if message.data["n"] == 99:
            done.set()

    bus.on("test.note", listen)

    def emit_all() -> None:
        for n in range(100):
            (bus.emit if n % 2 else bus.post)(note(n))

    thread = threading.Thread(target=emit_all)
    thread.start()
    await asyncio.wait_for(done.wait(), 20)
    thread.join()
    assert heard == [(n, True) for n in range(100)]


async def test_emitting_from_a_thread_after_the_end_is_quiet(bus_type: type[LocalBus]) -> None:
    bus = bus_type()
    await bus.close()
    await asyncio.to_thread(bus.emit, note())
    await asyncio.to_thread(bus.post, note())


# Closing.


async def test_a_closed_subscription_hears_nothing_more_not_even_what_waited(bus: LocalBus) -> None:
    heard: list[int] = []
    go_on = asyncio.Event()

    async def slow(message: Message) -> None:
        heard.append(message.data["n"])
        await go_on.wait()

    subscription = bus.on("test.note", slow)
    for n in range(5):
        bus.emit(note(n))
    await settle()
    subscription.close()
    subscription.close()
    go_on.set()
    bus.emit(note(9))
    await settle()
    assert heard == [0]


async def test_a_listener_may_close_its_own_subscription(bus: LocalBus) -> None:
    heard: list[int] = []

    def once(message: Message) -> None:
        heard.append(message.data["n"])
        subscription.close()

    subscription = bus.on("test.note", once)
    for n in range(3):
        bus.emit(note(n))
    await settle()
    assert heard == [0]


async def test_closing_the_bus_ends_what_is_under_way(bus_type: type[LocalBus]) -> None:
    bus = bus_type()
    await bus.open()
    ended: list[str] = []
    heard: list[int] = []

    async def wait(message: Message) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(message.type)

    bus.on("test.note", wait)
    bus.on("test.note", wait, concurrent=True)
    bus.on("test.note", wait, eager=True)
    bus.on("test.later", keep(heard))
    bus.emit(note())
    await settle()
    bus.post(note(topic="test.later"))
    await bus.close()
    assert ended == ["test.note"] * 3
    bus.emit(note(topic="test.later"))
    await settle()
    assert heard == []


# Sessions that are none.


@pytest.mark.spec("SESSION-1/2.5.b")
@pytest.mark.spec("SESSION-1/2.5.e")
@pytest.mark.spec("SESSION-1/2.5.f")
@pytest.mark.spec("SESSION-1/2.5.g")
@pytest.mark.parametrize("carrier", ["x", 7, True, ["x"]])
async def test_a_malformed_carrier_is_rejected_once(
    bus: LocalBus, carrier: Any, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[Message] = []
    rejected: list[Message] = []
    bus.on("test.note", heard.append)
    bus.on(topics.SESSION_REJECTED, rejected.append)
    context = {"session": carrier, "utterance_id": "u1", "source": "a"}
    with caplog.at_level(logging.WARNING, "hark.bus"):
        bus.emit(decode(json.dumps({"type": "test.note", "context": context})))
        await settle()
    assert heard == []
    [rejection] = rejected
    assert rejection.data == {"msg_type": "test.note", "reason": "malformed_carrier"}
    assert rejection.context == {"utterance_id": "u1"}
    assert rejection.session is None
    assert "dropped test.note" in caplog.text


@pytest.mark.spec("SESSION-2/2.1.a")
@pytest.mark.spec("SESSION-2/6.1.a")
async def test_the_bus_leaves_a_session_as_it_is(bus: LocalBus) -> None:
    heard: list[Message] = []
    carrier = {"session_id": "x", "lang": "pt-PT", "pipeline": [], "unheard_of": {"a": [1, None]}, "location": {"x": 1}}
    bus.on("test.note", heard.append)
    sent = decode(json.dumps({"type": "test.note", "context": {"session": carrier}}))
    expected = Message("test.note", session=Session.read(carrier)).wire()
    bus.emit(sent)
    bus.emit(sent)
    await settle()
    assert [message.wire() for message in heard] == [expected, expected]


# What crosses the wire.


async def test_on_the_wire_bus_every_message_is_a_fresh_one() -> None:
    from hark.bus import WireBus

    bus = WireBus()
    heard: list[Message] = []
    bus.on("test.note", heard.append)
    sent = Message("test.note", {"a": (1, 2.5, None, "ü")}, {"b": {}}, Session("x", pipeline=["a"]))
    bus.emit(sent)
    await settle()
    assert heard == [sent]
    assert heard[0] is not sent
    await bus.close()


async def test_what_json_cannot_say_does_not_get_onto_any_bus() -> None:
    with pytest.raises(MalformedMessage):
        Message("test.note", {"a": object()})


@pytest.mark.spec("SESSION-1/2.5.c")
@pytest.mark.spec("MSG-1/6.1.a")
@pytest.mark.spec("MSG-1/6.1.b")
async def test_after_a_message_that_was_dropped_the_next_one_arrives(bus: LocalBus) -> None:
    heard: list[int] = []
    bus.on("test.note", keep(heard))
    bus.emit(decode(json.dumps({"type": "test.note", "data": {"n": 1}, "context": {"session": []}})))
    bus.emit(note(2))
    await settle()
    assert heard == [2]


@pytest.mark.spec("MSG-1/3.3.c")
@pytest.mark.spec("MSG-1/3.3.d")
@pytest.mark.parametrize("destination", [None, "me", "somebody else"])
async def test_a_message_reaches_all_whatever_its_destination(bus: LocalBus, destination: str | None) -> None:
    heard: list[int] = []
    bus.on("test.note", keep(heard), name="me")
    bus.emit(note(1) if destination is None else note(1, destination=destination))
    await settle()
    assert heard == [1]
