"""From a speak Message to what is rendered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

from flow.chain_rig import Rig, link
from flow.stage import transformer
from hark.bus import LocalBus
from hark.model import Message, Session
from hark.model.session_merge import Denials
from hark.plugins import Ctx, Transformer
from hark.speak import Speaker, SpokenResponse
from hark.spec import topics
from hark.testing import settle
from hark.trace import TraceStore


class Speaking:
    """A speaker, what it rendered, and everything on its bus."""

    def __init__(self, bus: LocalBus, *members: Transformer, **options: Any) -> None:
        self.bus = bus
        rig = Rig("dialog", *members, emit=bus.emit)
        self.clock = rig.clock
        self.traces = TraceStore(self.clock)
        self.rendered: list[SpokenResponse] = []
        render = options.pop("render", self.rendered.append)
        serves = options.pop("serves", lambda _session_id: True)
        self.speaker = Speaker(bus, self.clock, rig.chain, self.traces, render, serves, **options)
        self.messages: list[Message] = []
        bus.tap(self.messages.append)

    def say(self, text: Any, session: Session | None = None, **more: Any) -> None:
        """Emit a speak Message."""
        context = {"utterance_id": "u1", **more.pop("context", {})}
        self.bus.emit(Message(topics.UTTERANCE_SPEAK, {"utterance": text, **more}, context, session or Session("x")))

    @property
    def texts(self) -> list[str]:
        return [spoken.text for spoken in self.rendered]

    def of(self, topic: str) -> list[Message]:
        return [message for message in self.messages if message.type == topic]


@pytest.fixture
async def speaking(bus: LocalBus) -> AsyncIterator[Speaking]:
    made = Speaking(bus)
    yield made
    await made.speaker.close()


async def test_a_response_is_rendered_and_reported(speaking: Speaking) -> None:
    speaking.say("hello", Session("x", persona_id="butler"), lang="en-US", listen=True)
    await settle()
    [spoken] = speaking.rendered
    assert (spoken.text, spoken.lang) == ("hello", "en-US")
    assert spoken.message.data == {"utterance": "hello", "lang": "en-US", "listen": True}
    assert spoken.message.session.persona_id == "butler"
    [told] = speaking.of(topics.SPEECH_RENDERED)
    assert (told.data, told.utterance_id, told.session_id) == ({"outcome": "rendered"}, "u1", "x")
    assert speaking.speaker.pending == 0


async def test_within_a_session_order_is_kept(bus: LocalBus) -> None:
    async def slow_first(text: str, ctx: Ctx) -> str:
        for _ in range(0 if text != "0" else 20):
            await asyncio.sleep(0)
        return text

    speaking = Speaking(bus, transformer("dialog", "slow", slow_first))
    for n in range(10):
        speaking.say(str(n))
    await settle()
    await settle()
    assert speaking.texts == [str(n) for n in range(10)]
    await speaking.speaker.close()


async def test_sessions_do_not_wait_for_each_other(bus: LocalBus) -> None:
    gates = {name: asyncio.Event() for name in ("x", "y")}

    async def wait(text: str, ctx: Ctx) -> str:
        await gates[ctx.session.session_id].wait()
        return text

    speaking = Speaking(bus, transformer("dialog", "wait", wait))
    for n in range(3):
        speaking.say(f"x{n}", Session("x"))
        speaking.say(f"y{n}", Session("y"))
    await settle()
    assert speaking.speaker.pending == 2
    gates["y"].set()
    await settle()
    assert speaking.texts == ["y0", "y1", "y2"]
    gates["x"].set()
    await settle()
    assert speaking.texts == ["y0", "y1", "y2", "x0", "x1", "x2"]
    assert speaking.speaker.pending == 0
    await speaking.speaker.close()


async def test_sessions_that_are_not_served_are_left_alone(bus: LocalBus) -> None:
    speaking = Speaking(bus, serves=lambda session_id: session_id == "default")
    speaking.say("for the satellite", Session("sat-3"))
    speaking.bus.emit(Message(topics.UTTERANCE_SPEAK, {"utterance": "for the device"}))
    await settle()
    assert speaking.texts == ["for the device"]
    assert len(speaking.of(topics.SPEECH_RENDERED)) == 1
    await speaking.speaker.close()


@pytest.mark.parametrize("text", [None, 7, ["hello"], {"a": 1}, True])
async def test_an_utterance_that_is_not_text_is_dropped_and_reported(
    speaking: Speaking, text: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "hark.speak"):
        speaking.say(text)
        speaking.say("next")
        await settle()
    assert speaking.texts == ["next"]
    assert "not a text" in caplog.text
    assert [m.data["outcome"] for m in speaking.of(topics.SPEECH_RENDERED)] == ["dropped", "rendered"]


async def test_a_renderer_that_fails_costs_that_response_alone(bus: LocalBus, caplog: pytest.LogCaptureFixture) -> None:
    rendered: list[str] = []

    def render(spoken: SpokenResponse) -> None:
        if spoken.text == "bad":
            raise OSError("the loudspeaker is gone")
        rendered.append(spoken.text)

    speaking = Speaking(bus, render=render)
    with caplog.at_level(logging.ERROR, "hark.speak"):
        for text in ("good", "bad", "good again"):
            speaking.say(text)
        await settle()
    assert rendered == ["good", "good again"]
    assert "the loudspeaker is gone" in caplog.text
    outcomes = [m.data["outcome"] for m in speaking.of(topics.SPEECH_RENDERED)]
    assert outcomes == ["rendered", "failed", "rendered"]
    assert speaking.speaker.pending == 0
    await speaking.speaker.close()


@pytest.mark.parametrize("lang", [None, 7, ["en-US"]])
async def test_a_language_that_is_not_stated_is_none(speaking: Speaking, lang: Any) -> None:
    speaking.say("hello", **({} if lang is None else {"lang": lang}))
    await settle()
    [spoken] = speaking.rendered
    assert spoken.lang is None
    assert "lang" not in spoken.message.data


async def test_a_cancelled_response_is_announced_and_not_rendered(bus: LocalBus) -> None:
    def hush(text: str, ctx: Ctx) -> str:
        if "secret" in text:
            ctx.cancel("policy_block")
        return text

    speaking = Speaking(bus, link("dialog", "hush", hush))
    speaking.say("a secret", context={"skill_id": "some.skill"})
    speaking.say("hello")
    await settle()
    assert speaking.texts == ["hello"]
    [cancelled] = speaking.of(topics.UTTERANCE_CANCELLED)
    assert cancelled.data == {"cancel_reason": "policy_block", "cancel_by": "hush"}
    assert (cancelled.utterance_id, cancelled.session_id, cancelled.context["skill_id"]) == ("u1", "x", "some.skill")
    assert [m.data["outcome"] for m in speaking.of(topics.SPEECH_RENDERED)] == ["cancelled", "rendered"]
    assert speaking.of(topics.UTTERANCE_HANDLED) == [], "never a second marker (ruling R1)"
    await speaking.speaker.close()


async def test_denied_dialog_transformers_do_not_run(bus: LocalBus) -> None:
    def denials_for(session: Session) -> Denials:
        return Denials(Denials.of(session).lists, {"blacklisted_dialog_transformers": ("deployed",)})

    members = [link("dialog", name, lambda text, ctx, n=name: f"{text} {n}") for name in ("deployed", "own", "free")]
    speaking = Speaking(bus, *members, denials_for=denials_for)
    speaking.say("by", Session("x", blacklisted_dialog_transformers=["own"]))
    await settle()
    assert speaking.texts == ["by free"]
    await speaking.speaker.close()


async def test_the_turns_trace_tells_what_was_said(speaking: Speaking) -> None:
    trace = speaking.traces.begin("u1", "x", ())
    speaking.say("hello")
    await settle()
    [step] = trace.steps
    assert (step.stage, step.who, step.outcome, step.after) == ("speak", "x", "rendered", "hello")


async def test_speech_outside_any_turn_is_rendered_too(speaking: Speaking) -> None:
    speaking.bus.emit(Message(topics.UTTERANCE_SPEAK, {"utterance": "dinner is ready"}))
    await settle()
    assert speaking.texts == ["dinner is ready"]


async def test_after_closing_nothing_is_rendered(bus: LocalBus) -> None:
    go_on = asyncio.Event()

    async def wait(text: str, ctx: Ctx) -> str:
        await go_on.wait()
        return text

    speaking = Speaking(bus, transformer("dialog", "wait", wait))
    speaking.say("under way")
    await settle()
    await speaking.speaker.close()
    go_on.set()
    speaking.say("too late")
    await settle()
    assert speaking.rendered == []
    assert speaking.speaker.pending == 0


# Stopping.


class Gate:
    """A dialog transformer that lets nothing through until it is opened."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()

    def transformer(self) -> Transformer:
        async def wait(text: str, ctx: Ctx) -> str:
            await self.opened.wait()
            return text

        return transformer("dialog", "gate", wait)


STOPS = {
    "everything": Message(topics.STOP, {}, {}, Session("x")),
    "one skill": Message(topics.HANDLER_START, {"skill_id": "a", "intent_name": "stop"}, {}, Session("x")),
}


@pytest.mark.parametrize("what", STOPS)
async def test_what_was_still_to_be_said_in_a_session_is_dropped_when_it_is_stopped(bus: LocalBus, what: str) -> None:
    gate = Gate()
    speaking = Speaking(bus, gate.transformer())
    for text in ("first", "second", "third"):
        speaking.say(text)
        speaking.say(text, Session("other"))
    await settle()
    bus.emit(STOPS[what])
    speaking.say("stopped")
    gate.opened.set()
    await settle()
    here = [spoken.text for spoken in speaking.rendered if spoken.message.session_id == "x"]
    there = [spoken.text for spoken in speaking.rendered if spoken.message.session_id == "other"]
    assert (here, there) == (["stopped"], ["first", "second", "third"])
    told = [message.data["outcome"] for message in speaking.of(topics.SPEECH_RENDERED) if message.session_id == "x"]
    assert sorted(told) == ["rendered", "stopped", "stopped", "stopped"]
    assert speaking.speaker.pending == 0
    await speaking.speaker.close()


async def test_a_stop_where_nothing_is_said_does_nothing(speaking: Speaking) -> None:
    for message in STOPS.values():
        speaking.bus.emit(message)
    speaking.say("hello")
    await settle()
    assert speaking.texts == ["hello"]


async def test_the_start_of_another_handler_drops_nothing(bus: LocalBus) -> None:
    gate = Gate()
    speaking = Speaking(bus, gate.transformer())
    speaking.say("hello")
    await settle()
    for data in ({"skill_id": "stop", "intent_name": "global_stop"}, {"skill_id": "a", "intent_name": "go"}, {}):
        bus.emit(Message(topics.HANDLER_START, data, {}, Session("x")))
    gate.opened.set()
    await settle()
    assert speaking.texts == ["hello"]
    await speaking.speaker.close()
