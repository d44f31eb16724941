"""Waiting for handlers: each ends by its done-signal, or when none can come any more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from hark.bus import LocalBus
from hark.model import Message, Session, Timer
from hark.spec import topics
from hark.testing import FakeClock, settle
from hark.understand import TurnOptions
from hark.understand.dispatches import Dispatches, HandlerOutcome
from hark.understand.intent_registry import IntentRegistry
from hark.understand.programs import Programs


def made(bus: LocalBus, clock: FakeClock, options: Callable[[], TurnOptions]) -> Dispatches:
    return Dispatches(bus, clock, options, Programs(bus, clock, IntentRegistry(bus), lambda: True))


class Waiting:
    """Dispatches under way, and the host that answers them."""

    def __init__(self, bus: LocalBus, **options: Any) -> None:
        self.bus = bus
        self.clock = FakeClock()
        self.dispatches = made(bus, self.clock, lambda: TurnOptions(**options))

    def dispatch(self, utterance_id: str = "u1", topic: str = "some.skill:go") -> Message:
        return Message(topic, {}, {"utterance_id": utterance_id}, Session("x"))

    def expect(self, dispatch: Message) -> asyncio.Future[HandlerOutcome]:
        return self.dispatches.expect(dispatch)

    def accept(self, dispatch: Message, host: str = "host-1") -> None:
        self.bus.emit(dispatch.forward(topics.HANDLER_ACCEPTED, {"topic": dispatch.type, "host": host}))

    def done(self, dispatch: Message, exception: Any = None) -> None:
        data = {"topic": dispatch.type} if exception is None else {"topic": dispatch.type, "exception": exception}
        self.bus.emit(dispatch.forward(topics.HANDLER_DONE, data))

    def beat(self, host: str = "host-1") -> None:
        self.bus.emit(Message(topics.HOST_ALIVE, {"host": host}))


@pytest.fixture
def waiting(bus: LocalBus) -> Waiting:
    return Waiting(bus)


async def test_done_ends_the_wait_with_the_handlers_session(waiting: Waiting) -> None:
    dispatch = waiting.dispatch()
    ended = waiting.expect(dispatch)
    waiting.accept(dispatch)
    changed = dispatch.carrying(Session("x", persona_id="butler"))
    waiting.done(changed)
    assert await ended == HandlerOutcome("complete", "", Session("x", persona_id="butler"))
    assert len(waiting.dispatches) == 0


@pytest.mark.parametrize(("exception", "told"), [("ValueError: no", "ValueError: no"), (7, "7"), ("", "")])
async def test_done_with_an_exception_is_an_error(waiting: Waiting, exception: Any, told: str) -> None:
    dispatch = waiting.dispatch()
    ended = waiting.expect(dispatch)
    waiting.done(dispatch, exception)
    result = await ended
    assert (result.outcome, result.exception) == ("error", told)


async def test_done_without_accepted_is_done(waiting: Waiting) -> None:
    dispatch = waiting.dispatch()
    ended = waiting.expect(dispatch)
    waiting.done(dispatch)
    assert (await ended).outcome == "complete"


async def test_turns_and_nested_turns_of_one_skill_are_told_apart(waiting: Waiting) -> None:
    outer, inner = waiting.dispatch("u1"), waiting.dispatch("u2")
    other = waiting.dispatch("u1", "some.skill:other")
    ends = [waiting.expect(dispatch) for dispatch in (outer, inner, other)]
    waiting.done(inner)
    await settle()
    assert [end.done() for end in ends] == [False, True, False]
    waiting.done(other)
    waiting.done(outer)
    await settle()
    assert all(end.done() for end in ends)


@pytest.mark.parametrize(
    "stray",
    [
        lambda d: d.forward(topics.HANDLER_DONE, {}),
        lambda d: d.forward(topics.HANDLER_DONE, {"topic": 7}),
        lambda d: d.forward(topics.HANDLER_DONE, {"topic": "other:go"}),
        lambda d: d.forward(topics.HANDLER_DONE, {"topic": d.type}).carrying(utterance_id="u9"),
        lambda d: d.forward(topics.HANDLER_ACCEPTED, {"topic": ["x"]}),
        lambda d: Message(topics.HANDLER_DONE),
        lambda d: Message(topics.HOST_ALIVE, {"host": ["x"]}),
    ],
)
async def test_strange_signals_end_nothing(waiting: Waiting, stray: Any) -> None:
    dispatch = waiting.dispatch()
    ended = waiting.expect(dispatch)
    waiting.bus.emit(stray(dispatch))
    await settle()
    assert not ended.done()


async def test_a_second_done_is_nobodys(waiting: Waiting) -> None:
    dispatch = waiting.dispatch()
    ended = waiting.expect(dispatch)
    waiting.done(dispatch)
    waiting.done(dispatch, "again")
    assert (await ended).outcome == "complete"


async def test_who_does_not_accept_in_two_seconds_is_not_there(waiting: Waiting) -> None:
    ended = waiting.expect(waiting.dispatch())
    await waiting.clock.advance(1.9)
    assert not ended.done()
    await waiting.clock.advance(0.6)
    assert "no handler accepted the dispatch within 2 s" in ended.result().exception


async def test_who_accepted_has_no_limit_as_long_as_its_host_lives(waiting: Waiting) -> None:
    dispatch = waiting.dispatch()
    ended = waiting.expect(dispatch)
    waiting.accept(dispatch)
    for _ in range(50):
        await waiting.clock.advance(5.9)
        waiting.beat()
    assert not ended.done()


async def test_after_three_missed_beats_the_host_is_lost(waiting: Waiting) -> None:
    dispatch = waiting.dispatch()
    ended = waiting.expect(dispatch)
    waiting.accept(dispatch)
    await waiting.clock.advance(4.0)
    waiting.beat("another host")
    await waiting.clock.advance(1.9)
    assert not ended.done()
    await waiting.clock.advance(0.7)
    assert "handler host lost" in ended.result().exception


async def test_the_loss_of_one_host_is_not_that_of_another(waiting: Waiting) -> None:
    first, second = waiting.dispatch("u1"), waiting.dispatch("u2")
    lost, lives = waiting.expect(first), waiting.expect(second)
    waiting.accept(first, "dies")
    waiting.accept(second, "lives")
    for _ in range(5):
        await waiting.clock.advance(2.0)
        waiting.beat("lives")
    assert lost.done()
    assert not lives.done()


async def test_a_bound_counts_from_when_the_handler_took_the_call(bus: LocalBus) -> None:
    waiting = Waiting(bus, handler_limit=5.0)
    dispatch = waiting.dispatch()
    ended = waiting.expect(dispatch)
    await waiting.clock.advance(1.5)
    waiting.accept(dispatch)
    for _ in range(4):
        await waiting.clock.advance(1.2)
        waiting.beat()
    assert not ended.done()
    await waiting.clock.advance(0.8)
    assert "timeout: the handler took longer than 5 s" in ended.result().exception


async def test_a_second_acceptance_changes_nothing(bus: LocalBus) -> None:
    waiting = Waiting(bus, handler_limit=5.0)
    dispatch = waiting.dispatch()
    ended = waiting.expect(dispatch)
    waiting.accept(dispatch)
    await waiting.clock.advance(3.0)
    waiting.accept(dispatch, "another host")
    await waiting.clock.advance(2.6)
    assert ended.done()


async def test_giving_up_ends_every_wait(waiting: Waiting) -> None:
    ends = [waiting.expect(waiting.dispatch(f"u{n}")) for n in range(3)]
    waiting.dispatches.give_up("closing")
    assert [end.result() for end in ends] == [HandlerOutcome("error", "closing")] * 3


async def test_what_nobody_waits_for_costs_no_timer(waiting: Waiting) -> None:
    dispatch = waiting.dispatch()
    waiting.expect(dispatch)
    waiting.dispatches.forget(dispatch)
    waiting.dispatches.forget(dispatch)
    await waiting.clock.advance(60.0)
    assert waiting.clock.due is None
    again = waiting.expect(dispatch)
    await waiting.clock.advance(3.0)
    assert again.done(), "and the next one is looked after again"


async def test_after_closing_signals_are_not_heard(waiting: Waiting) -> None:
    dispatch = waiting.dispatch()
    ended = waiting.expect(dispatch)
    waiting.dispatches.close()
    waiting.done(dispatch)
    await settle()
    assert not ended.done()


class CountingClock(FakeClock):
    """Knows how many timers go off."""

    fired = 0

    def after(self, seconds: float, callback: Callable[[], object]) -> Timer:
        def fire() -> None:
            self.fired += 1
            callback()

        return super().after(seconds, fire)


async def test_one_timer_watches_over_all_handlers() -> None:
    clock = CountingClock()
    dispatches = made(LocalBus(), clock, TurnOptions)
    for number in range(100):
        dispatches.expect(Message("some.skill:go", {}, {"utterance_id": f"u{number}"}))
    await clock.advance(1.0)
    assert clock.fired == 2, "every half second, however many wait"


async def test_a_host_is_given_its_three_beats_in_full() -> None:
    clock, bus = FakeClock(), LocalBus()
    dispatches = made(bus, clock, lambda: TurnOptions(beat=2.0))
    dispatch = Message("some.skill:go", {}, {"utterance_id": "u"})
    ended = dispatches.expect(dispatch)
    bus.emit(dispatch.forward(topics.HANDLER_ACCEPTED, {"topic": dispatch.type, "host": "h"}))
    await clock.advance(6.0)
    assert not ended.done()
    await clock.advance(0.5)
    assert ended.result().exception == "handler host lost: no sign of life for 6 s"


async def test_signs_of_life_of_other_hosts_do_not_count_for_one_that_is_lost() -> None:
    clock, bus = FakeClock(), LocalBus()
    dispatches = made(bus, clock, TurnOptions)
    dispatch = Message("some.skill:go", {}, {"utterance_id": "u"})
    ended = dispatches.expect(dispatch)
    bus.emit(dispatch.forward(topics.HANDLER_ACCEPTED, {"topic": dispatch.type, "host": "h"}))
    for number in range(4):
        await clock.advance(2.0)
        bus.emit(Message(topics.HOST_ALIVE, {"host": f"another {number}"}))
    assert ended.result().exception == "handler host lost: no sign of life for 6 s"
