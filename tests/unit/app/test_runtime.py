"""The runtime: which plugins it loads, what it warns of, and that it leaves nothing behind."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from functools import partialmethod
from typing import Any

import pytest

from hark.app.diagnostics.advice import advice
from hark.app.runtime import Runtime, StoppableClock
from hark.app.settings import settings_from
from hark.builtin import PIPELINE, ParrotSkill, TemplateMatcher
from hark.bus import LocalBus
from hark.hosting import Refusal
from hark.model import Message, SystemClock
from hark.plugins import Match, PipelinePlugin, Plugin, Turn, UtteranceTransformer, handles
from hark.spec import topics
from hark.testing import Assistant, FakeClock, settle


def runtime(*plugins: Plugin | Refusal, **tables: Any) -> Runtime:
    return Runtime(
        settings_from(tables), LocalBus(), SystemClock(), plugins, render=lambda _: None, serves=lambda _: True
    )


class Busy(PipelinePlugin):
    """Starts everything a plugin can start, and a handler that never ends."""

    id = "busy"
    quick = True

    def match(self, utterances: Any, lang: str, session: Any) -> Match:
        return self.claim("work", lang=lang, utterance=utterances[0])

    async def start(self) -> None:
        self.ended: list[str] = []
        self.working = asyncio.Event()
        self.host.after(3_600, lambda: None)
        self.host.clock.after(3_600, lambda: None)
        self.host.task(self.tick(), "tick")

    async def stop(self) -> None:
        self.ended.append("stop")

    async def tick(self) -> None:
        await self.host.clock.sleep(3_600)

    @handles("work")
    async def work(self, turn: Turn) -> None:
        self.working.set()
        await self.host.clock.sleep(3_600)


async def test_a_stopped_runtime_leaves_no_task_and_no_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    timers: list[asyncio.TimerHandle] = []
    call_at = loop.call_at

    def recorded(*arguments: Any, **more: Any) -> asyncio.TimerHandle:
        timers.append(call_at(*arguments, **more))
        return timers[-1]

    monkeypatch.setattr(loop, "call_at", recorded)
    busy = Busy()
    made = runtime(busy, TemplateMatcher(), assistant={"pipeline": ["busy"]}, limits={"grace": 0.0})
    await made.start()
    made.bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": ["go"]}))
    async with asyncio.timeout(20):
        await busy.working.wait()
        await made.stop()
        await made.bus.close()
    await settle()
    assert busy.ended == ["stop"]
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert timers
    assert [timer for timer in timers if not timer.cancelled() and timer.when() > loop.time()] == []


async def test_a_runtime_that_did_not_finish_starting_can_be_stopped() -> None:
    class Slow(Plugin):
        id = "slow.one"

        async def start(self) -> None:
            reached.set()
            await asyncio.Event().wait()

    class Never(Plugin):
        id = "slow.two"

        async def start(self) -> None:
            raise AssertionError("not reached")

        async def stop(self) -> None:
            raise AssertionError("never started")

    reached = asyncio.Event()
    made = runtime(Slow(), Never())
    starting = asyncio.create_task(made.start())
    await reached.wait()
    starting.cancel()
    await asyncio.gather(starting, return_exceptions=True)
    await made.stop()
    await made.bus.close()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_plugin_that_cannot_start_is_left_out_with_the_reason() -> None:
    class Broken(UtteranceTransformer):
        id = "broken"

        async def start(self) -> None:
            raise RuntimeError("no such device")

        def transform(self, utterances: list[str], ctx: object) -> list[str]:
            return utterances

    made = runtime(Broken(), TemplateMatcher())
    await made.start()
    (refusal,) = made.refusals
    assert "it did not start: RuntimeError: no such device" in str(refusal)
    assert list(made.ids()) == ["template"]
    await made.stop()
    await made.bus.close()


class Ponderous(PipelinePlugin):
    """Takes its time over every registration, on a worker thread."""

    id = "ponderous"

    def __init__(self) -> None:
        self.may_go_on = threading.Event()
        self.taken_in: list[str] = []

    async def start(self) -> None:
        self.host.on(topics.REGISTER_TEMPLATE, self.take_in)

    def take_in(self, message: Message) -> None:
        assert self.may_go_on.wait(20)
        self.taken_in.append(message.data["intent_name"])

    def match(self, utterances: Any, lang: str, session: Any) -> None:
        return None


async def test_a_runtime_is_ready_when_every_matcher_has_handled_what_skills_registered() -> None:
    slow = Ponderous()
    made = runtime(slow, ParrotSkill(), assistant={"pipeline": ["ponderous"]})
    starting = asyncio.create_task(made.start())
    await settle()
    assert not starting.done()
    slow.may_go_on.set()
    async with asyncio.timeout(20):
        await starting
    assert set(slow.taken_in) == {"say"}
    await made.stop()
    await made.bus.close()


async def test_a_listener_that_hangs_does_not_keep_a_runtime_from_starting(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LocalBus, "settled", partialmethod(LocalBus.settled, patience=0.01))
    slow = Ponderous()
    made = runtime(slow, ParrotSkill(), assistant={"pipeline": ["ponderous"]})
    await made.start()
    assert "these have not handled the announcements in time" in caplog.text
    slow.may_go_on.set()
    await made.stop()
    await made.bus.close()


class Unfinished(PipelinePlugin):
    """Is never done with what it put off during the start: each piece takes a second."""

    id = "unfinished"
    quick = True

    def __init__(self, clock: FakeClock) -> None:
        super().__init__()
        self._clock = clock

    def prepare(self) -> bool:
        self._clock.pass_by(1.0)
        return True

    def match(self, utterances: Any, lang: str, session: Any) -> None:
        return None


async def test_a_matcher_that_prepares_for_ever_does_not_keep_utterances_waiting(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = FakeClock()
    async with Assistant(Unfinished(clock), clock=clock) as assistant:
        await assistant.hears("hello")
        assert assistant.topics()[-2:] == [topics.INTENT_UNMATCHED, topics.UTTERANCE_HANDLED]
    assert "unfinished still prepares after 30 s; utterances do not wait for it" in caplog.text


class WithSettings(UtteranceTransformer):
    """Has a setting."""

    id = "told"

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        size: int = 3

    def transform(self, utterances: list[str], ctx: object) -> list[str]:
        return utterances


async def advised(*plugins: Plugin | Refusal, **tables: Any) -> list[str]:
    made = runtime(*plugins, **tables)
    await made.start()
    found = list(map(str, advice(made)))
    await made.stop()
    await made.bus.close()
    return found


async def test_settings_that_name_nothing_are_pointed_out() -> None:
    found = await advised(
        TemplateMatcher(),
        WithSettings(),
        assistant={"pipeline": ["template", "tempalte", "strict"]},
        pipeline={"strict": {"plugin": "unknown"}},
        transformers={"utterance": ["told", "tolled"]},
        limits={"plugins": {"template": 3.0, "x": 1.0}},
        plugins={"told": {}, "y": {}},
    )
    assert found == [
        "[assistant] pipeline names 'tempalte', which is not loaded; did you mean 'template'?",
        "[assistant] pipeline names 'unknown' by [pipeline.strict], which is not loaded",
        "[transformers] utterance names 'tolled', which is not loaded; did you mean 'told'?",
        "[plugins] names 'y', which is not loaded",
        "[limits.plugins] names 'x', which is not loaded",
    ]


async def test_an_empty_pipeline_is_pointed_out() -> None:
    assert await advised(assistant={"pipeline": []}) == [
        "[assistant] pipeline is empty: no plugin is asked to match what is said"
    ]


async def test_a_plugin_refused_for_its_settings_is_not_also_called_missing() -> None:
    matchers = (matcher() for matcher in PIPELINE)
    assert await advised(*matchers, WithSettings(), plugins={"told": {"size": "big"}}) == []


async def test_plugin_settings_that_are_wrong_refuse_the_plugin_and_name_the_table() -> None:
    made = runtime(WithSettings(), plugins={"told": {"sise": 3}})
    (refusal,) = made.refusals
    assert "it has no setting 'sise'" in str(refusal)
    assert "remove [plugins.told] sise; its settings are: size" in str(refusal)
    await made.stop()


async def test_a_stopped_clock_calls_nothing_any_more() -> None:
    called: list[str] = []
    inner = FakeClock()
    clock = StoppableClock(inner)
    clock.after(1, lambda: called.append("first"))
    clock.after(1, lambda: called.append("called off")).cancel()
    clock.after(3, lambda: called.append("too late"))
    await inner.advance(2)
    clock.stop()
    clock.after(0, lambda: called.append("never"))
    await inner.advance(10)
    assert called == ["first"]
    assert (clock.wall(), clock.monotonic()) == (inner.wall(), inner.monotonic())
