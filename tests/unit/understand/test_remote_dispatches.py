"""Waiting for handlers in other processes, whose calls and answers may be lost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hark.bus import LocalBus
from hark.model import Message, Session
from hark.spec import topics
from hark.testing import FakeClock
from hark.understand import TurnOptions
from hark.understand.intent_registry import IntentRegistry
from hark.understand.programs import Programs
from hark.understand.remote_dispatches import RemoteDispatches

CALL = Message("a.skill:go", {"utterance": "go"}, {"utterance_id": "k1"}, Session("kitchen"))


class Log:
    """The log of a broker: what it says of calls that are to be closed."""

    connected = True
    host: str | None = None

    def __init__(self) -> None:
        self.closed: list[str] = []
        self.started: list[tuple[str, str]] = []

    async def start(self, key: str, dispatch: Message, host: str) -> str:
        self.started.append((key, host))
        return "start"

    async def close_calls(self, key: str) -> str | None:
        self.closed.append(key)
        return self.host


class Waiting:
    """One handler that is waited for."""

    def __init__(self, **options: Any) -> None:
        self.clock, self.log, self.bus = FakeClock(), Log(), LocalBus()
        self.sent: list[Message] = []
        self.bus.tap(self.sent.append)
        self.programs = Programs(self.bus, self.clock, IntentRegistry(self.bus), lambda: True)
        self.dispatches = RemoteDispatches(
            self.bus, self.clock, lambda: TurnOptions(**options), self.programs, self.log
        )

    def accepts(self, host: str = "h1", topic: str = CALL.type) -> None:
        self.bus.emit(CALL.forward(topics.HANDLER_ACCEPTED, {"topic": topic, "host": host}))

    def answers(self, **data: list[str]) -> None:
        self.bus.emit(Message(topics.HOST_STATUS_RESPONSE, {"host": "h1", **data}))

    def of(self, topic: str) -> list[Message]:
        return [message for message in self.sent if message.type == topic]


@pytest.fixture
async def waiting() -> Waiting:
    return Waiting()


async def failure(done: asyncio.Future[Any]) -> str:
    assert done.done()
    outcome = await done
    assert outcome.outcome == "error"
    return str(outcome.exception)


async def test_a_handler_is_called_again_until_a_host_accepts_it(waiting: Waiting) -> None:
    done = waiting.dispatches.expect(CALL)
    await waiting.clock.advance(1.0)
    calls = waiting.of(topics.HANDLER_CALL)
    assert len(calls) == 4
    assert calls[0].data == {"topic": "a.skill:go", "data": {"utterance": "go"}, "destination": ""}
    assert (calls[0].utterance_id, calls[0].session_id) == ("k1", "kitchen")
    waiting.accepts()
    await waiting.clock.advance(1.0)
    assert len(waiting.of(topics.HANDLER_CALL)) == 4
    assert not done.done()


async def test_what_no_host_accepts_is_given_up_once_the_log_refuses_every_later_start(waiting: Waiting) -> None:
    done = waiting.dispatches.expect(CALL)
    await waiting.clock.advance(4.9)
    assert not done.done()
    await waiting.clock.advance(0.2)
    assert waiting.log.closed == ["k1"]
    assert await failure(done) == "no handler accepted the dispatch within 5 s"


async def test_where_the_log_says_that_a_host_has_started_it_that_host_is_asked(waiting: Waiting) -> None:
    waiting.log.host = "h1"
    done = waiting.dispatches.expect(CALL)
    await waiting.clock.advance(6.5)
    assert not done.done()
    assert waiting.of(topics.HOST_STATUS)[-1].data == {"calls": (("k1", "a.skill:go", "h1"),)}
    waiting.bus.emit(CALL.forward(topics.HANDLER_DONE, {"topic": CALL.type}))
    assert (await done).outcome == "complete"


async def test_hosts_are_asked_once_a_second_for_all_that_they_have_accepted(waiting: Waiting) -> None:
    other = CALL.carrying(utterance_id="k2")
    for call in (CALL, other):
        waiting.dispatches.expect(call)
        waiting.bus.emit(call.forward(topics.HANDLER_ACCEPTED, {"topic": call.type, "host": "h1"}))
    await waiting.clock.advance(2.5)
    asked = waiting.of(topics.HOST_STATUS)
    assert 2 <= len(asked) <= 3
    assert asked[-1].data["calls"] == (("k1", "a.skill:go", "h1"), ("k2", "a.skill:go", "h1"))


async def test_a_host_that_does_not_know_what_it_has_accepted_was_started_again(waiting: Waiting) -> None:
    done = waiting.dispatches.expect(CALL)
    waiting.answers(unknown=["k1"])
    assert not done.done(), "it was not accepted: the host may be about to"
    waiting.accepts()
    waiting.answers(unknown=["k1"])
    assert await failure(done) == "handler host lost: it was started again"


async def test_a_host_that_answers_no_more_is_lost_after_three_seconds(waiting: Waiting) -> None:
    done = waiting.dispatches.expect(CALL)
    waiting.accepts()
    await waiting.clock.advance(2.0)
    waiting.answers(running=["k1"])
    await waiting.clock.advance(2.9)
    assert not done.done()
    await waiting.clock.advance(1.1)
    assert await failure(done) == "handler host lost: no answer for 3 s"


async def test_while_the_broker_cannot_be_reached_nothing_is_concluded(waiting: Waiting) -> None:
    done = waiting.dispatches.expect(CALL)
    waiting.accepts()
    waiting.log.connected = False
    await waiting.clock.advance(60.0)
    waiting.log.connected = True
    waiting.dispatches.reconnected()
    await waiting.clock.advance(2.9)
    assert not done.done()
    await waiting.clock.advance(1.5)
    assert done.done()


async def test_a_process_that_stood_still_gives_hosts_their_time_again(waiting: Waiting) -> None:
    done = waiting.dispatches.expect(CALL)
    waiting.accepts()
    waiting.clock.pass_by(20.0)
    await waiting.clock.advance(0.0)
    assert not done.done()
    waiting.answers(running=["k1"])
    await waiting.clock.advance(2.5)
    assert not done.done()


async def test_a_turn_that_another_worker_began_is_followed_from_its_host_on(waiting: Waiting) -> None:
    waiting.dispatches.expect(CALL, "h7")
    await waiting.clock.advance(0.3)
    assert waiting.of(topics.HANDLER_CALL) == []
    assert waiting.of(topics.HOST_STATUS)[0].data == {"calls": (("k1", "a.skill:go", "h7"),)}


async def test_the_answer_to_another_call_of_the_same_turn_counts(waiting: Waiting) -> None:
    done = waiting.dispatches.expect(CALL)
    waiting.accepts(topic="a.skill:other")
    waiting.bus.emit(CALL.forward(topics.HANDLER_DONE, {"topic": "a.skill:other"}))
    assert (await done).outcome == "complete"


async def test_a_bound_holds_and_is_not_the_time_in_which_people_think() -> None:
    waiting = Waiting(handler_limit=5.0)
    done = waiting.dispatches.expect(CALL)
    waiting.accepts()
    waiting.bus.emit(CALL.forward(topics.HANDLER_WAITING, {"topic": CALL.type, "waits": True}))
    for _ in range(10):
        await waiting.clock.advance(1.0)
        waiting.answers(running=["k1"])
    assert not done.done()
    waiting.bus.emit(CALL.forward(topics.HANDLER_WAITING, {"topic": CALL.type, "waits": False}))
    for _ in range(6):
        await waiting.clock.advance(1.0)
        waiting.answers(running=["k1"])
    assert await failure(done) == "timeout: the handler took longer than 5 s"


@pytest.mark.parametrize("data", [{}, {"running": 7, "unknown": "k1"}, {"running": [7, None], "unknown": [["k1"]]}])
async def test_an_answer_that_makes_no_sense_says_nothing(waiting: Waiting, data: dict[str, Any]) -> None:
    done = waiting.dispatches.expect(CALL)
    waiting.accepts()
    waiting.bus.emit(Message(topics.HOST_STATUS_RESPONSE, data))
    assert not done.done()
