"""Asking something and waiting for the answer."""

from __future__ import annotations

import asyncio

import pytest
from bus_fixtures import note

from hark.bus import Answers, LocalBus, ask, gather
from hark.model import Message
from hark.testing import FakeClock, settle


def answering(bus: LocalBus, *names: str) -> None:
    """Let somebody answer `test.query`, each name once."""

    def answer(message: Message) -> None:
        for name in names:
            bus.emit(message.response({"name": name}))

    bus.on("test.query", answer)


async def test_an_answer_comes_back_to_the_asker(bus: LocalBus) -> None:
    answering(bus, "me")
    before = bus.topics
    answer = await ask(bus, FakeClock(), note(topic="test.query", source="a", destination="b"))
    assert (answer.type, answer.data) == ("test.query.response", {"name": "me"})
    assert (answer.context["source"], answer.context["destination"]) == ("b", "a")
    assert bus.topics == before, "no listener is left behind"


async def test_the_first_answer_counts(bus: LocalBus) -> None:
    answering(bus, "first", "second")
    assert (await ask(bus, FakeClock(), note(topic="test.query"))).data == {"name": "first"}


async def test_no_answer_is_a_timeout(bus: LocalBus) -> None:
    clock = FakeClock()
    asking = asyncio.ensure_future(ask(bus, clock, note(topic="test.query"), window=3.0))
    await clock.advance(2.9)
    assert not asking.done()
    await clock.advance(0.2)
    with pytest.raises(TimeoutError):
        await asking


@pytest.mark.spec("MSG-1/5.4.b")
async def test_askers_do_not_take_each_others_answers(bus: LocalBus) -> None:
    waiting: list[Message] = []
    bus.on("test.query", waiting.append)
    clock = FakeClock()
    asking = [asyncio.ensure_future(ask(bus, clock, note(n, "test.query"))) for n in range(5)]
    await settle()
    for message in reversed(waiting):
        bus.emit(message.response({"n": message.data["n"]}))
    await settle()
    assert [(await one).data["n"] for one in asking] == [0, 1, 2, 3, 4]


@pytest.mark.spec("MSG-1/5.3.e")
async def test_an_answer_may_come_on_a_topic_of_its_own(bus: LocalBus) -> None:
    bus.on("test.query", lambda message: bus.emit(message.reply("test.fact", {"n": 1})))
    answer = await ask(bus, FakeClock(), note(topic="test.query"), topic="test.fact")
    assert answer.type == "test.fact"


async def test_gathering_collects_every_answer_for_a_while(bus: LocalBus) -> None:
    answering(bus, "one", "two")
    answering(bus, "three")
    clock = FakeClock()
    gathering = asyncio.ensure_future(gather(bus, clock, note(topic="test.query"), 2.0))
    await settle()
    bus.emit(Message("test.query.response", {"name": "a stranger's"}))
    await clock.advance(1.9)
    assert not gathering.done()
    await clock.advance(0.2)
    assert [answer.data["name"] for answer in await gathering] == ["one", "two", "three"]
    assert "test.query.response" not in bus.topics


async def test_a_gathering_without_answers_is_no_error(bus: LocalBus) -> None:
    clock = FakeClock()
    gathering = asyncio.ensure_future(gather(bus, clock, note(topic="test.query"), 1.0))
    await clock.advance(1.1)
    assert await gathering == []


async def test_many_can_wait_with_one_listener(bus: LocalBus) -> None:
    answers = Answers(bus, "test.done", lambda message: message.data["n"])
    waiting = {n: answers.expect(n) for n in range(100)}
    assert len(answers) == 100
    for n in range(99, -1, -1):
        bus.emit(note(n, "test.done"))
    await settle()
    assert all(waiting[n].result().data["n"] == n for n in range(100))
    assert len(answers) == 0


async def test_an_answer_that_is_not_expected_is_dropped(bus: LocalBus) -> None:
    answers = Answers(bus, "test.done", lambda message: message.data["n"])
    forgotten = answers.expect(1)
    answers.forget(1)
    answers.forget(2)
    cancelled = answers.expect(3)
    cancelled.cancel()
    for n in (1, 2, 3):
        bus.emit(note(n, "test.done"))
    await settle()
    assert not forgotten.done()
    assert cancelled.cancelled()


async def test_after_closing_nothing_is_answered(bus: LocalBus) -> None:
    answers = Answers(bus, "test.done", lambda message: message.data["n"])
    waiting = answers.expect(1)
    answers.close()
    bus.emit(note(1, "test.done"))
    await settle()
    assert not waiting.done()
