"""Hark in the place of ovos-core on a bus that passes every frame on to every client, and checks nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from bridge_rig import HELLO, RECORDED, topics_of

from hark.bridges.ovos.stock_bus import StockBus
from hark.builtin import Fallback, KeywordMatcher, TemplateMatcher
from hark.bus import RemoteBus
from hark.bus.protocols import Receive
from hark.model import Message, decode, encode
from hark.spec import topics
from hark.testing import Assistant, settle

SKILL = {"skill_id": HELLO}


class Wire:
    """The connection to such a bus; what other clients send is put in by `send_from_client`."""

    is_foreign = True

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self._receive: Receive

    async def open(self, receive: Receive) -> None:
        self._receive = receive

    def send(self, _topic: str, frame: bytes) -> None:
        self.frames.append(frame)
        asyncio.get_running_loop().call_soon(self._receive, frame, None)

    def send_from_client(self, message: Message) -> None:
        self.frames.append(encode(message))
        self._receive(self.frames[-1], None)

    def follow(self, topic: str, group: str = "") -> None: ...

    def unfollow(self, topic: str, group: str = "") -> None: ...

    async def flush(self) -> None: ...

    async def close(self) -> None: ...


class ForeignBus(RemoteBus):
    def __init__(self) -> None:
        self.wire = Wire()
        self.stock = StockBus(self.wire, "ws://stock")
        super().__init__(self.stock)


class Installation:
    """An assistant on such a bus, with the skill of a line as it was recorded."""

    def __init__(self, hark: Assistant, wire: Wire) -> None:
        self.hark = hark
        self.wire = wire

    @property
    def public(self) -> list[Message]:
        """What clients have heard, in order."""
        return [one for one in map(decode, self.wire.frames) if not topics.is_private(one.type)]

    def client(self, topic: str, data: dict[str, Any] | None = None, **context: Any) -> None:
        self.wire.send_from_client(Message(topic, data or {}, context))

    async def load(self, line: str) -> None:
        for raw in (RECORDED / f"{line}.jsonl").read_bytes().splitlines():
            self.wire.send_from_client(decode(raw, without_nulls=True))
            if b'"mycroft.skills.loaded"' in raw:
                break
        await self.hark.clock.advance(1.0)

    async def called(self, text: str, intent: str) -> Message:
        """Say something to the device; the call of the skill's handler."""
        self.client("recognizer_loop:utterance", {"utterances": [text], "lang": "en-US"})
        await settle()
        [call] = [one for one in self.public if one.type == f"{HELLO}:{intent}"]
        return call


@asynccontextmanager
async def installation(line: str | None = "stable") -> AsyncIterator[Installation]:
    settings = {"assistant": {"pipeline": ["keyword", "template", "fallback"]}}
    matchers = (KeywordMatcher, TemplateMatcher, Fallback)
    async with Assistant(bus=ForeignBus, matchers=matchers, settings=settings) as hark:
        assert isinstance(hark.bus, ForeignBus)
        hark.bus.stock.translate(hark.bus, hark.clock, "en-US")
        made = Installation(hark, hark.bus.wire)
        if line is not None:
            await made.load(line)
        yield made


async def test_what_is_emitted_here_is_heard_once_though_it_comes_back() -> None:
    async with installation(None) as made:
        heard: list[Message] = []
        made.hark.bus.on("test.note", heard.append)
        made.hark.bus.emit(Message("test.note"))
        await settle()
        made.client("test.note")
        await settle()
        assert len(heard) == 2


async def test_a_turn_of_a_stable_skill_has_one_end_marker_and_is_spoken_once() -> None:
    async with installation() as made:
        call = await made.called("hello world", "HelloWorldIntent")
        context = dict(call.context)
        for topic, data in (
            ("mycroft.skill.handler.start", {}),
            ("speak", {"utterance": "Hello world", "lang": "en-US"}),
            ("mycroft.skill.handler.complete", {}),
            (topics.UTTERANCE_HANDLED, {}),
        ):
            made.client(topic, data, **context)
        await settle()
        heard = topics_of(made.public)
        assert [heard.count(one) for one in ("speak", topics.UTTERANCE_SPEAK)] == [1, 0]
        assert [len(made.hark.of(one)) for one in (topics.UTTERANCE_SPEAK, topics.HANDLER_COMPLETE)] == [1, 1]
        assert heard.count(topics.UTTERANCE_HANDLED) == 1, "the skill has sent it"
        assert len(made.hark.of(topics.UTTERANCE_HANDLED)) == 1


async def test_a_skill_that_ends_without_a_marker_gets_one() -> None:
    async with installation("prerelease") as made:
        call = await made.called("how are you", "how_are_you")
        made.client("mycroft.skill.handler.complete", {}, **call.context)
        await settle()
        assert topics_of(made.public).count(topics.UTTERANCE_HANDLED) == 1


async def test_a_fallback_of_the_stable_line_sends_the_only_end_marker() -> None:
    async with installation() as made:
        made.client("ovos.skills.fallback.register", {**SKILL, "priority": 90}, **SKILL)
        made.client("recognizer_loop:utterance", {"utterances": ["blah bleh"], "lang": "en-US"})
        await settle()
        [ping] = [one for one in made.public if one.type == "ovos.skills.fallback.ping"]
        made.client("ovos.skills.fallback.pong", {**SKILL, "can_handle": True}, **{**ping.context, **SKILL})
        await settle()
        [request] = [one for one in made.public if one.type == f"ovos.skills.fallback.{HELLO}.request"]
        made.client(f"ovos.skills.fallback.{HELLO}.response", {"result": False}, **request.context)
        await settle()  # it takes its time
        made.client(topics.UTTERANCE_HANDLED, {}, **request.context)
        await made.hark.clock.advance(1.0)
        assert topics_of(made.public).count(topics.UTTERANCE_HANDLED) == 1
        assert len(made.hark.of(topics.UTTERANCE_HANDLED)) == 1


async def test_a_copy_of_the_newer_line_is_taken_once_and_an_answer_with_its_mark_is_no_copy() -> None:
    async with installation("prerelease") as made:
        call = await made.called("how are you", "how_are_you")
        said = {"utterance": "Fine.", "lang": "en-US"}
        made.client(topics.UTTERANCE_SPEAK, said, **call.context)
        made.client("speak", said, **call.context, _namespace_compat_twin=True)
        await settle()
        assert len(made.hark.of(topics.UTTERANCE_SPEAK)) == 1
        made.client("speak", {"utterance": "And you?", "lang": "en-US"}, **call.context, _namespace_compat_twin=True)
        await settle()
        assert [one.data["utterance"] for one in made.hark.of(topics.UTTERANCE_SPEAK)] == ["Fine.", "And you?"]


async def test_copies_are_sent_to_the_older_line_and_marked_where_the_newer_one_is_there_too() -> None:
    async with installation() as made:
        spoken = Message(topics.UTTERANCE_SPEAK, {"utterance": "Tea.", "lang": "en-US", "listen": True})
        made.hark.bus.emit(spoken)
        await settle()
        [copy] = [one for one in made.public if one.type == "speak"]
        assert (copy.data["expect_response"], "_namespace_compat_twin" in copy.context) == (True, False)
        made.client(topics.LISTENER_WAKEWORD)
        made.hark.bus.emit(spoken)
        await settle()
        message, copy = made.public[-2:]
        assert (message.type, copy.type) == (topics.UTTERANCE_SPEAK, "speak")
        assert message.data == copy.data, "it is known as a copy by that"
        assert copy.context["_namespace_compat_twin"] is True


async def test_a_skill_that_answers_no_ping_is_gone() -> None:
    async with installation() as made:
        await made.called("hello world", "HelloWorldIntent")
        await made.hark.clock.advance(16.0)
        [error] = made.hark.of(topics.HANDLER_ERROR)
        assert error.data["exception"] == f"the program of {HELLO} lost its connection"
        made.client("recognizer_loop:utterance", {"utterances": ["hello world"], "lang": "en-US"})
        await settle()
        assert len(made.hark.of(topics.INTENT_UNMATCHED)) == 1


async def test_a_handler_that_has_started_goes_on_though_its_skill_fails_on_pings() -> None:
    async with installation() as made:
        call = await made.called("hello world", "HelloWorldIntent")
        made.client("mycroft.skill.handler.start", {}, **call.context)
        await made.hark.clock.advance(20.0)
        assert made.hark.of(topics.HANDLER_ERROR) == []
        made.client("mycroft.skill.handler.complete", {}, **call.context)
        await made.hark.clock.advance(1.0)
        assert len(made.hark.of(topics.HANDLER_COMPLETE)) == 1
        assert topics_of(made.public).count(topics.UTTERANCE_HANDLED) == 1


async def test_only_the_services_that_hark_stands_for_are_answered_for() -> None:
    async with installation(None) as made:
        made.client("mycroft.audio.is_ready")
        made.client("mycroft.skills.is_ready")
        await settle()
        assert [one for one in topics_of(made.public) if one.startswith("mycroft.") and one.endswith(".response")] == [
            "mycroft.skills.is_ready.response"
        ]


async def test_another_orchestrator_is_named(caplog: pytest.LogCaptureFixture) -> None:
    async with installation(None) as made:
        with caplog.at_level(logging.WARNING, "hark.bridges.ovos"):
            made.client("mycroft.skills.train")
            made.client("mycroft.skills.train")
        assert [record.getMessage().partition(" (")[0] for record in caplog.records] == [
            "another orchestrator, probably ovos-core, is on ws://stock"
        ]
