"""Hosting handlers: every dispatch is accepted, run, and answered with how it went."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from flow.stage import echo, reached, skill
from hark.act import HandlerHost
from hark.bus import LocalBus
from hark.hosting import Runner
from hark.hosting.loaded import DEMOTED_AT_ONCE
from hark.model import Message, Session
from hark.plugins import Plugin, Turn
from hark.spec import topics
from hark.testing import FakeClock, settle
from hark.trace import TraceStore


class Acting:
    """A handler host with plugins in it, and everything on its bus."""

    def __init__(self, bus: LocalBus) -> None:
        self.bus = bus
        self.clock = FakeClock()
        self.traces = TraceStore(self.clock)
        self.host = HandlerHost(bus, Runner(self.clock), self.traces)
        self.messages: list[Message] = []
        bus.tap(self.messages.append)

    def call(self, topic: str = "some.skill:go", utterance: str = "hello", utterance_id: str = "u1") -> None:
        """Dispatch something."""
        data = {"lang": "en-US", "utterance": utterance, "slots": {}}
        self.bus.emit(Message(topic, data, {"utterance_id": utterance_id, "skill_id": "some.skill"}, Session("x")))

    async def run(self, plugin: Plugin, utterance: str = "hello") -> list[Message]:
        """Dispatch to a plugin; what came of it, once it is done."""
        self.host.attach(plugin)
        self.call(utterance=utterance)
        await self.until_done(1)
        await settle()
        return self.messages[1:]

    async def until_done(self, count: int) -> None:
        """Wait until so many handlers are done."""
        async with asyncio.timeout(20):
            while len(self.of(topics.HANDLER_DONE)) < count:
                await settle()

    def of(self, topic: str) -> list[Message]:
        return [message for message in self.messages if message.type == topic]


@pytest.fixture
async def acting(bus: LocalBus) -> AsyncIterator[Acting]:
    made = Acting(bus)
    yield made
    await made.host.close()


ANSWERED = [topics.HANDLER_ACCEPTED, topics.UTTERANCE_SPEAK, topics.HANDLER_DONE]
SILENT = [topics.HANDLER_ACCEPTED, topics.HANDLER_DONE]


async def says_async(turn: Turn) -> str:
    return turn.utterance


async def speaks_itself(turn: Turn) -> None:
    await turn.speak(turn.utterance)


async def yields(turn: Turn) -> AsyncIterator[str]:
    yield turn.utterance


@pytest.mark.parametrize("handler", [echo, says_async, speaks_itself, yields])
@pytest.mark.parametrize("quick", [True, False])
async def test_each_kind_of_handler_is_accepted_run_and_done(
    acting: Acting, handler: Callable[..., Any], quick: bool
) -> None:
    messages = await acting.run(skill("some.skill", quick=quick, go=handler))
    assert [message.type for message in messages] == ANSWERED
    accepted, spoken, done = messages
    assert accepted.data["topic"] == done.data["topic"] == "some.skill:go"
    assert accepted.data["host"]
    assert "exception" not in done.data
    assert spoken.data["utterance"] == "hello"
    assert all((m.utterance_id, m.session_id, m.context["skill_id"]) == ("u1", "x", "some.skill") for m in messages)


@pytest.mark.parametrize(
    "handler", [lambda turn: None, lambda turn: turn.remember("a", "b")], ids=["nothing", "remembers"]
)
async def test_a_handler_may_keep_silent(acting: Acting, handler: Callable[..., Any]) -> None:
    messages = await acting.run(skill("some.skill", go=handler))
    assert [message.type for message in messages] == SILENT


async def test_done_carries_the_session_the_handler_ended_with(acting: Acting) -> None:
    def handler(turn: Turn) -> None:
        turn.remember("city", "Rome")
        raise ValueError("after the write")

    accepted, done = await acting.run(skill("some.skill", go=handler))
    assert accepted.session.intent_context == {}
    assert done.session.intent_context["some.skill:city"].value == "Rome"


async def yields_number(turn: Turn) -> AsyncIterator[Any]:
    yield "first"
    yield 7


async def returns_number(turn: Turn) -> int:
    return 7


@pytest.mark.parametrize(
    ("handler", "spoken"),
    [
        (lambda turn: 7, 0),
        (lambda turn: ["text"], 0),
        (lambda turn: True, 0),
        (lambda turn: b"text", 0),
        (lambda turn: object(), 0),
        (returns_number, 0),
        (yields_number, 1),
    ],
)
@pytest.mark.parametrize("quick", [True, False])
async def test_what_is_no_text_is_an_error_that_says_so(
    acting: Acting, handler: Callable[..., Any], spoken: int, quick: bool
) -> None:
    messages = await acting.run(skill("some.skill", quick=quick, go=handler))
    assert "TypeError" in messages[-1].data["exception"]
    assert len(acting.of(topics.UTTERANCE_SPEAK)) == spoken


@pytest.mark.parametrize("quick", [True, False])
async def test_text_that_cannot_be_sent_is_an_error_that_says_so(acting: Acting, quick: bool) -> None:
    messages = await acting.run(skill("some.skill", quick=quick, go=lambda turn: "half \ud83d"))
    assert [message.type for message in messages] == SILENT
    assert "surrogate" in messages[-1].data["exception"]


async def test_a_plain_handler_that_returns_a_coroutine_is_told_to_be_async(acting: Acting) -> None:
    messages = await acting.run(skill("some.skill", go=lambda turn: says_async(turn)))
    assert "declare it async def" in messages[-1].data["exception"]


async def test_handlers_run_where_they_belong(acting: Acting) -> None:
    threads: dict[str, int] = {}

    def noting(name: str) -> Callable[[Turn], None]:
        def handler(turn: Turn) -> None:
            threads[name] = threading.get_ident()

        return handler

    async def on_loop(turn: Turn) -> None:
        threads["async"] = threading.get_ident()

    acting.host.attach(skill("a", go=noting("plain")))
    acting.host.attach(skill("b", quick=True, go=noting("quick")))
    acting.host.attach(skill("c", go=on_loop))
    for plugin_id in "abc":
        acting.call(f"{plugin_id}:go", utterance_id=plugin_id)
    await acting.until_done(3)
    here = threading.get_ident()
    assert (threads["quick"], threads["async"]) == (here, here)
    assert threads["plain"] != here


async def test_a_quick_handler_that_overruns_goes_to_a_worker(acting: Acting) -> None:
    threads: list[int] = []

    def handler(turn: Turn) -> None:
        threads.append(threading.get_ident())
        acting.clock.pass_by(DEMOTED_AT_ONCE)

    plugin = skill("some.skill", quick=True, go=handler)
    await acting.run(plugin)
    acting.call(utterance_id="u2")
    await acting.until_done(2)
    assert threads[0] == threading.get_ident() != threads[1]


async def test_a_handler_may_take_all_the_time_it_wants_and_the_host_shows_it_is_alive(acting: Acting) -> None:
    started, go_on = threading.Event(), threading.Event()

    def handler(turn: Turn) -> str:
        started.set()
        go_on.wait(20)
        return "at last"

    acting.host.attach(skill("some.skill", go=handler))
    acting.call()
    await reached(started)
    await acting.clock.advance(600.0)
    beats = acting.of(topics.HOST_ALIVE)
    assert len(beats) == 300
    assert {beat.data["host"] for beat in beats} == {acting.of(topics.HANDLER_ACCEPTED)[0].data["host"]}
    assert acting.of(topics.HANDLER_DONE) == []
    go_on.set()
    await acting.until_done(1)
    await acting.clock.advance(60.0)
    assert len(acting.of(topics.HOST_ALIVE)) == 300, "with nothing running there is nothing to show"


async def test_calls_of_one_handler_run_side_by_side(acting: Acting) -> None:
    go_on = {name: asyncio.Event() for name in ("first", "second")}

    async def handler(turn: Turn) -> str:
        await go_on[turn.utterance].wait()
        return turn.utterance

    acting.host.attach(skill("some.skill", go=handler))
    acting.call(utterance="first", utterance_id="u1")
    acting.call(utterance="second", utterance_id="u2")
    await settle()
    for name in ("second", "first"):
        go_on[name].set()
        await settle()
    assert [m.data["utterance"] for m in acting.of(topics.UTTERANCE_SPEAK)] == ["second", "first"]
    assert [m.utterance_id for m in acting.of(topics.HANDLER_DONE)] == ["u2", "u1"]


async def test_a_detached_plugin_is_not_called_any_more(acting: Acting) -> None:
    go_on = asyncio.Event()

    async def handler(turn: Turn) -> str:
        await go_on.wait()
        return turn.utterance

    acting.host.attach(skill("some.skill", go=handler, other=echo))
    acting.call(utterance="running")
    await settle()
    acting.host.detach("some.skill")
    acting.host.detach("some.skill")
    acting.call(utterance="too late")
    acting.call("some.skill:other", utterance="too late")
    go_on.set()
    await settle()
    assert [m.data["utterance"] for m in acting.of(topics.UTTERANCE_SPEAK)] == ["running"]
    assert len(acting.of(topics.HANDLER_ACCEPTED)) == 1


async def test_closing_stops_what_still_runs_and_leaves_nothing_behind(acting: Acting) -> None:
    cleaned: list[str] = []

    async def handler(turn: Turn) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append(turn.utterance)

    acting.host.attach(skill("some.skill", go=handler))
    acting.call()
    await settle()
    await acting.host.close()
    assert cleaned == ["hello"]
    [done] = acting.of(topics.HANDLER_DONE)
    assert done.data["exception"] == "the handler was stopped"
    acting.call()
    await acting.clock.advance(10.0)
    assert len(acting.of(topics.HANDLER_ACCEPTED)) == 1
    assert acting.of(topics.HOST_ALIVE) == []


async def test_a_handler_that_was_cancelled_by_its_own_doing_has_failed(acting: Acting) -> None:
    async def handler(turn: Turn) -> None:
        waiting = asyncio.get_running_loop().create_future()
        waiting.cancel()
        await waiting

    messages = await acting.run(skill("some.skill", go=handler))
    assert "CancelledError" in messages[-1].data["exception"]


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_handler_that_raises_is_logged_once(
    is_async: bool, acting: Acting, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(turn: Turn) -> None:
        raise ValueError("on purpose")

    async def fails_too(turn: Turn) -> None:
        raise ValueError("on purpose")

    await acting.run(skill("some.skill", go=fails_too if is_async else fails))
    assert sum("on purpose" in record.getMessage() for record in caplog.records) == 1


async def test_the_trace_of_the_turn_says_how_the_handler_ended(acting: Acting) -> None:
    trace = acting.traces.begin("u1", "x", ("hello",))

    async def handler(turn: Turn) -> None:
        acting.clock.pass_by(0.5)
        raise ValueError("no")

    await acting.run(skill("some.skill", go=handler))
    [step] = trace.steps
    assert (step.stage, step.who, step.outcome, step.seconds) == ("handler", "some.skill:go", "raised", 0.5)
    assert "ValueError: no" in step.detail


# Waiting for what is said.


async def test_who_waits_goes_on_when_it_was_rendered(acting: Acting) -> None:
    order: list[str] = []

    async def handler(turn: Turn) -> None:
        await turn.speak("hello", wait=True)
        order.append("after")

    acting.host.attach(skill("some.skill", go=handler))
    acting.call()
    await settle()
    [speak] = acting.of(topics.UTTERANCE_SPEAK)
    assert order == []
    acting.bus.emit(speak.forward(topics.SPEECH_RENDERED, {"outcome": "rendered"}).carrying(hark_response="another's"))
    await settle()
    assert order == []
    acting.bus.emit(speak.forward(topics.SPEECH_RENDERED, {"outcome": "rendered"}))
    await settle()
    assert order == ["after"]


async def test_a_long_answer_is_waited_for_as_long_as_it_is_heard(acting: Acting) -> None:
    order: list[str] = []
    heard = True

    async def handler(turn: Turn) -> None:
        await turn.speak("a whole chapter", wait=True)
        order.append("after")

    acting.bus.on(topics.AUDIO_IS_SPEAKING, lambda query: acting.bus.emit(query.response({"speaking": heard})))
    acting.host.attach(skill("some.skill", go=handler))
    acting.call()
    for _ in range(5):
        await acting.clock.advance(61.0)
    assert order == []
    assert {query.session_id for query in acting.of(topics.AUDIO_IS_SPEAKING)} == {"x"}
    heard = False
    await acting.clock.advance(61.0)
    assert order == ["after"]


async def test_a_long_answer_that_was_heard_to_its_end_is_waited_for_no_longer(acting: Acting) -> None:
    order: list[str] = []

    async def handler(turn: Turn) -> None:
        await turn.speak("a whole chapter", wait=True)
        order.append("after")

    acting.bus.on(topics.AUDIO_IS_SPEAKING, lambda query: acting.bus.emit(query.response({"speaking": True})))
    acting.host.attach(skill("some.skill", go=handler))
    acting.call()
    await acting.clock.advance(100.0)
    [speak] = acting.of(topics.UTTERANCE_SPEAK)
    acting.bus.emit(speak.forward(topics.SPEECH_RENDERED, {"outcome": "rendered"}))
    await settle()
    assert order == ["after"]


async def test_who_waits_in_vain_goes_on_after_a_minute(acting: Acting) -> None:
    order: list[str] = []

    async def handler(turn: Turn) -> None:
        await turn.speak("is anybody there", wait=True)
        order.append("after")

    acting.host.attach(skill("some.skill", go=handler))
    acting.call()
    await acting.clock.advance(59.0)
    assert order == []
    await acting.clock.advance(4.0)
    assert order == ["after"]
    [done] = acting.of(topics.HANDLER_DONE)
    assert "exception" not in done.data
