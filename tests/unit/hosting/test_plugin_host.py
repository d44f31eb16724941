"""The host of a plugin."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import weakref
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hosted import make_runner, until

from flow.chain_rig import SIX, link
from flow.stage import claims
from hark.app.runtime import StoppableClock
from hark.bus import LocalBus
from hark.hosting import PluginHost, Runner
from hark.model import Message, Session
from hark.plugins import Plugin
from hark.spec import stamp_key, topics
from hark.testing import FakeClock, settle


class Hosted:
    """A plugin with its host, and everything it emits."""

    def __init__(self, plugin: Plugin, data_root: Path | None = None) -> None:
        self.bus = LocalBus()
        self.runner: Runner
        self.clock: FakeClock
        self.runner, self.clock = make_runner()
        self.host = PluginHost(plugin, self.bus, self.runner, data_root)
        self.sent: list[Message] = []
        self.bus.tap(self.sent.append)


def plugin(quick: bool = False) -> Plugin:
    made: Plugin = type("Some", (Plugin,), {"id": "some.skill", "quick": quick})()
    return made


@pytest.fixture
async def hosted() -> AsyncIterator[Hosted]:
    made = Hosted(plugin())
    yield made
    await made.host.close()
    await made.bus.close()


async def test_what_a_skill_emits_carries_its_name(hosted: Hosted) -> None:
    hosted.host.emit("test.note", {"a": 1}, session=Session("x"))
    [note] = hosted.sent
    assert (note.type, note.data, note.context["skill_id"], note.session_id) == (
        "test.note",
        {"a": 1},
        "some.skill",
        "x",
    )


async def test_a_message_sent_on_carries_the_senders_name_whatever_it_said_before(hosted: Hosted) -> None:
    hosted.host.send(Message("test.note", {}, {"skill_id": "somebody.else", "kept": 1}))
    assert hosted.sent[0].context == {"skill_id": "some.skill", "kept": 1}


@pytest.mark.parametrize("kind", SIX)
async def test_what_a_transformer_emits_is_stamped(kind: Any) -> None:
    made = Hosted(link(kind, "mine"))
    made.host.emit("test.note")
    made.host.send(Message("test.note", {}, {stamp_key(kind): ["earlier"]}))
    made.host.send(Message("test.note", {}, {stamp_key(kind): "garbage"}))
    assert [note.context[stamp_key(kind)] for note in made.sent] == [("mine",), ("earlier", "mine"), ("mine",)]
    await made.bus.close()


async def test_what_a_matcher_emits_claims_no_identity() -> None:
    made = Hosted(claims())
    made.host.emit("test.note")
    assert made.sent[0].context == {}
    await made.bus.close()


async def test_speech_outside_a_turn_goes_to_the_device_by_default(hosted: Hosted) -> None:
    hosted.host.speak("dinner is ready")
    hosted.host.speak("das Essen ist fertig", session=Session("x"), lang="de-DE")
    plain, other = hosted.sent
    assert (plain.type, plain.data, plain.session_id) == (
        topics.UTTERANCE_SPEAK,
        {"utterance": "dinner is ready"},
        "default",
    )
    assert (other.data["lang"], other.session_id) == ("de-DE", "x")


@pytest.mark.parametrize("quick", [True, False])
async def test_a_listener_that_fails_is_named_and_goes_on_listening(
    quick: bool, caplog: pytest.LogCaptureFixture
) -> None:
    made = Hosted(plugin(quick))
    heard: list[int] = []
    done = asyncio.Event()
    loop = asyncio.get_running_loop()

    def listen(message: Message) -> None:
        heard.append(message.data["n"])
        if message.data["n"] == 1:
            raise SystemExit("on purpose")
        loop.call_soon_threadsafe(done.set)

    made.host.on("test.note", listen)
    with caplog.at_level(logging.WARNING, "hark.hosting"):
        made.bus.emit(Message("test.note", {"n": 1}))
        made.bus.emit(Message("test.note", {"n": 2}))
        await asyncio.wait_for(done.wait(), 20)
    assert heard == [1, 2]
    assert "some.skill failed: SystemExit: on purpose" in caplog.text
    await made.bus.close()


async def test_listeners_run_where_the_plugin_runs() -> None:
    threads: dict[str, int] = {}
    done = threading.Event()

    def plain(message: Message) -> None:
        threads["plain"] = threading.get_ident()
        done.set()

    def quick(message: Message) -> None:
        threads["quick"] = threading.get_ident()

    async def on_loop(message: Message) -> None:
        threads["async"] = threading.get_ident()

    slow_host, quick_host = Hosted(plugin()), Hosted(plugin(quick=True))
    slow_host.host.on("test.note", plain)
    slow_host.host.on("test.note", on_loop)
    quick_host.host.on("test.note", quick)
    for made in (slow_host, quick_host):
        made.bus.emit(Message("test.note"))
    await asyncio.to_thread(done.wait, 20)
    await settle()
    here = threading.get_ident()
    assert (threads["quick"], threads["async"]) == (here, here)
    assert threads["plain"] != here
    for made in (slow_host, quick_host):
        await made.bus.close()


async def test_a_quick_listener_that_overruns_goes_on_a_worker_one_at_a_time_and_in_order() -> None:
    made = Hosted(plugin(quick=True))
    heard: list[tuple[int, bool]] = []
    here = threading.get_ident()
    done = asyncio.Event()
    loop = asyncio.get_running_loop()
    busy = threading.Lock()

    def listen(message: Message) -> None:
        assert busy.acquire(blocking=False), "two at a time"
        heard.append((message.data["n"], threading.get_ident() == here))
        if message.data["n"] == 0:
            made.clock.pass_by(0.3)
        busy.release()
        if message.data["n"] == 9:
            loop.call_soon_threadsafe(done.set)

    made.host.on("test.note", listen)
    for n in range(10):
        made.bus.emit(Message("test.note", {"n": n}))
    await asyncio.wait_for(done.wait(), 20)
    assert heard == [(n, n == 0) for n in range(10)]
    await made.host.close()
    await made.bus.close()


async def test_one_listener_may_have_several_topics_in_one_order(hosted: Hosted) -> None:
    heard: list[str] = []

    async def listen(message: Message) -> None:
        heard.append(message.type)

    hosted.host.on(("test.a", "test.b"), listen)
    for topic in ("test.a", "test.b", "test.b", "test.a"):
        hosted.bus.emit(Message(topic))
    await settle()
    assert heard == ["test.a", "test.b", "test.b", "test.a"]


async def test_a_task_that_fails_is_named(hosted: Hosted, caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        raise KeyError("lost")

    with caplog.at_level(logging.ERROR, "hark.hosting"):
        hosted.host.task(fail(), "fetching")
        await settle()
    assert "some.skill fetching failed: KeyError: 'lost'" in caplog.text


@pytest.mark.parametrize("quick", [True, False])
async def test_what_is_due_later_runs_where_the_plugin_runs(quick: bool) -> None:
    made = Hosted(plugin(quick))
    called: list[int] = []
    done = threading.Event()

    def call() -> None:
        called.append(threading.get_ident())
        done.set()

    made.host.after(5.0, call)
    await made.clock.advance(4.9)
    assert called == []
    await made.clock.advance(0.2)
    await asyncio.to_thread(done.wait, 20)
    assert (called == [threading.get_ident()]) == quick
    await made.host.close()
    await made.bus.close()


async def test_an_async_call_may_be_due_later_and_may_fail(hosted: Hosted, caplog: pytest.LogCaptureFixture) -> None:
    called: list[str] = []

    async def call() -> None:
        called.append("yes")
        raise ValueError("after that")

    hosted.host.after(1.0, call)
    with caplog.at_level(logging.WARNING, "hark.hosting"):
        await hosted.clock.advance(1.1)
    assert called == ["yes"]
    assert "some.skill failed: ValueError: after that" in caplog.text


async def test_timers_and_tasks_can_be_started_on_a_worker_thread(hosted: Hosted) -> None:
    rung: list[str] = []

    async def work() -> None:
        rung.append("task")

    def begin() -> None:
        hosted.host.after(5, lambda: rung.append("timer"))
        hosted.host.after(5, lambda: rung.append("cancelled")).cancel()
        hosted.host.task(work())

    await asyncio.to_thread(begin)
    await settle()
    assert rung == ["task"]
    await hosted.clock.advance(6)
    await until(lambda: len(rung) > 1)
    assert rung == ["task", "timer"]


async def test_a_listener_that_runs_inline_again_keeps_the_order() -> None:
    made = Hosted(plugin(quick=True))
    heard: list[int] = []

    def listen(message: Message) -> None:
        made.clock.pass_by(message.data["takes"])
        heard.append(message.data["n"])

    made.host.on("test.note", listen)
    for n in range(200):
        made.bus.emit(Message("test.note", {"n": n, "takes": 0.3 if n == 0 else 0.0}))
    await until(lambda: len(heard) == 200)
    await settle()
    made.bus.emit(Message("test.note", {"n": 200, "takes": 0.0}))
    assert heard == list(range(201)), "the last one inline"
    await made.host.close()
    await made.bus.close()


async def test_a_timer_can_be_called_off(hosted: Hosted) -> None:
    called: list[str] = []
    hosted.host.after(1.0, lambda: called.append("no")).cancel()
    await hosted.clock.advance(2.0)
    assert called == []


async def test_a_timer_that_was_called_off_is_forgotten() -> None:
    def call() -> None: ...

    kept = weakref.ref(call)
    bus = LocalBus()
    clock = FakeClock()
    host = PluginHost(plugin(), bus, Runner(StoppableClock(clock)), None)
    host.after(1.0, call).cancel()
    del call
    await clock.advance(2.0)
    gc.collect()
    assert kept() is None, "a plugin may call one off in every turn"
    await host.close()
    await bus.close()


async def test_everything_a_plugin_started_ends_with_it(hosted: Hosted) -> None:
    heard: list[str] = []
    ended = asyncio.Event()

    async def listen(message: Message) -> None:
        heard.append(message.type)

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    hosted.host.on("test.note", listen)
    hosted.host.after(1.0, lambda: heard.append("timer"))
    hosted.host.task(work())
    await settle()
    await hosted.host.close()
    hosted.bus.emit(Message("test.note"))
    await hosted.clock.advance(2.0)
    assert heard == []
    assert ended.is_set()


async def test_a_plugin_has_a_directory_of_its_own(tmp_path: Path) -> None:
    made = Hosted(plugin(), tmp_path)
    assert made.host.data_dir == tmp_path / "some.skill"
    assert made.host.data_dir.is_dir()
    await made.bus.close()


async def test_the_data_directory_is_made_on_first_use_and_private(tmp_path: Path) -> None:
    root = tmp_path / "plugins"
    made = Hosted(plugin(), root)
    assert not made.host.has_data
    assert not root.exists()
    folder = made.host.data_dir
    assert made.host.has_data
    assert {path.stat().st_mode & 0o777 for path in (root, folder)} == {0o700}
    await made.bus.close()


async def test_without_a_state_directory_asking_for_one_says_so(hosted: Hosted) -> None:
    with pytest.raises(RuntimeError, match="keeps no state on disk"):
        _ = hosted.host.data_dir


async def test_clock_and_log_are_the_plugins_own(hosted: Hosted) -> None:
    assert hosted.host.clock is hosted.clock
    assert hosted.host.log.name == "hark.plugin.some.skill"
