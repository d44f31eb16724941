"""Plugins that do what nobody should: the turn ends, the session is unharmed, the next turn works."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from flow.chain_rig import link
from flow.stage import (
    MATCHED,
    MakeAssistant,
    claims,
    declines,
    matcher,
    public,
    reached,
    skill,
    transformer,
    turn_of,
)
from hark.model import MalformedMessage, Match, Message, Session
from hark.model.frozen import MAX_DEPTH
from hark.plugins import Ctx, Plugin, Turn
from hark.spec import topics
from hark.testing import settle


def nested(depth: int) -> Any:
    value: Any = "deep"
    for _ in range(depth):
        value = [value]
    return value


async def test_values_as_deep_as_they_may_be_pass_through_the_whole_turn(assistant: MakeAssistant) -> None:
    def bury(ctx: Ctx) -> None:
        for depth in range(MAX_DEPTH, 0, -1):
            try:
                ctx.set("bury.it", nested(depth))
            except MalformedMessage:
                continue
            break
        for depth in range(MAX_DEPTH, 0, -1):
            try:
                ctx.session = ctx.session.replace(buried=nested(depth))
            except ValueError:
                continue
            break
        ctx.emit("test.note", {"a": nested(10)})

    async with assistant(transformer("metadata", "bury", bury), claims()) as hark:
        assert await hark.hears("hello") == ["hello"]
        assert public(turn_of(hark)) == ["test.note", *MATCHED]
        assert "bury.it" in turn_of(hark)[-1].context


@pytest.mark.parametrize("kind", ["utterance", "metadata", "intent", "dialog"])
async def test_who_removes_every_context_key_loses_nobody_an_answer(assistant: MakeAssistant, kind: Any) -> None:
    def clear(artifact: Any, ctx: Ctx) -> Any:
        for key in list(ctx):
            try:
                ctx.unset(key)
            except PermissionError:
                continue
        return artifact

    async with assistant(link(kind, "clear", clear), claims()) as hark:
        assert await hark.hears("hello") == ["hello"]
        assert public(turn_of(hark)) == [*MATCHED]


@pytest.mark.parametrize("size", [1_000_000])
async def test_giants_pass(assistant: MakeAssistant, size: int) -> None:
    text = "x" * size
    async with assistant(claims(slots={"giant": text}), settings={"limits": {"utterance": 4 * size}}) as hark:
        assert await hark.hears([text] * 3, session=Session("s", giant=text)) == [text]


async def test_a_crowd_of_candidates_passes(assistant: MakeAssistant) -> None:
    seen: list[Any] = []
    crowd = [f"candidate {n}" for n in range(10_000)]
    limits = {"utterance": 1_000_000, "candidates": len(crowd)}
    async with assistant(declines(seen=seen), settings={"limits": limits}) as hark:
        await hark.hears(crowd)
    assert seen[0][0] == tuple(crowd)


async def test_a_matcher_that_floods_the_bus_is_survived(assistant: MakeAssistant) -> None:
    def match(utterances: Any, lang: str, session: Session) -> Match:
        for n in range(5_000):
            plugin.host.emit("test.flood", {"n": n})
        return Match("claims", "go", lang, utterances[0])

    heard: list[int] = []
    plugin = matcher("claims", match, go=lambda turn: turn.utterance)
    async with assistant(plugin) as hark:
        hark.bus.on("test.flood", lambda message: heard.append(message.data["n"]))
        assert await hark.hears("hello", session="x") == ["hello"]
        async with asyncio.timeout(20):
            while len(heard) < 5_000:
                await settle()
        assert heard == list(range(5_000))


async def test_a_handler_that_emits_from_another_thread_is_heard(assistant: MakeAssistant) -> None:
    done = threading.Event()

    async def handler(turn: Turn) -> str:
        def shout() -> None:
            for n in range(100):
                turn.emit("test.shout", {"n": n})
            done.set()

        threading.Thread(target=shout).start()
        await reached(done)
        return "done"

    async with assistant(claims(handler=handler)) as hark:
        assert await hark.hears("go", session="x") == ["done"]
        await settle()
        shouts = hark.of("test.shout")
        assert [m.data["n"] for m in shouts] == list(range(100))
        assert {m.session_id for m in shouts} == {"x"}


@pytest.mark.parametrize("garbage", [{"a": object()}, {"a": float("inf")}, {"half \ud83d": 1}, {1: 2}])
async def test_a_handler_that_emits_what_json_cannot_say_has_failed(assistant: MakeAssistant, garbage: Any) -> None:
    async with assistant(claims(handler=lambda turn: turn.emit("test.note", garbage))) as hark:
        assert await hark.hears("go") == []
        assert "MalformedMessage" in hark.of(topics.HANDLER_ERROR)[0].data["exception"]
        assert hark.of("test.note") == []


FORGED = [topics.HANDLER_COMPLETE, topics.HANDLER_ERROR, topics.INTENT_UNMATCHED, topics.UTTERANCE_CANCELLED]


@pytest.mark.parametrize("topic", [*FORGED, topics.UTTERANCE_HANDLED, topics.HANDLER_DONE])
async def test_a_handler_cannot_speak_for_the_frame(assistant: MakeAssistant, topic: str) -> None:
    async def handler(turn: Turn) -> None:
        turn.emit(topic, {"forged": True})

    async with assistant(claims(handler=handler)) as hark:
        await hark.hears("go")
        assert "PermissionError" in hark.of(topics.HANDLER_ERROR)[0].data["exception"]
        assert not [message for message in hark.messages if message.data.get("forged")]


async def test_terminal_events_that_a_stranger_forges_end_nothing(assistant: MakeAssistant) -> None:
    go_on = asyncio.Event()

    async def handler(turn: Turn) -> str:
        await go_on.wait()
        return "still here"

    async with assistant(claims(handler=handler)) as hark:
        hearing = hark.say("go")
        await settle()
        for topic in FORGED:
            data = {"skill_id": "claims", "intent_name": "go", "exception": "forged"}
            hark.bus.emit(hark.of("claims:go")[0].forward(topic, data))
        await settle()
        assert hearing.markers == 0
        go_on.set()
        await settle()
        assert (hearing.markers, hearing.spoken) == (1, ["still here"])


async def test_garbage_on_every_topic_the_house_listens_to_harms_nobody(assistant: MakeAssistant) -> None:
    garbage: list[dict[str, Any]] = [
        {},
        {"topic": 7},
        {"skill_id": ["x"]},
        {"utterances": {"a": 1}},
        {"host": None},
        {"utterance": 7},
        {"skill_id": "x", "intent_name": {"a": 1}, "lang": 7},
    ]
    private = (topics.HANDLER_ACCEPTED, topics.HANDLER_DONE, topics.HOST_ALIVE, topics.SPEECH_RENDERED, topics.READY)
    queries = (topics.INTENT_LIST, topics.INTENT_DESCRIBE, topics.SKILLS_LIST, topics.transformer_list("dialog"))
    async with assistant(claims(), skill("some.skill", go=lambda turn: "x")) as hark:
        for topic in (*private, *topics.REGISTRATION, *queries, topics.UTTERANCE_SPEAK, "claims:go", "some.skill:go"):
            for data in garbage:
                hark.bus.emit(Message(topic, data, {"utterance_id": "u", "skill_id": 7, "hark_response": [1]}))
        await settle()
        assert await hark.hears("hello") == ["hello"]


async def test_a_dispatch_that_is_garbage_fails_its_handler_and_nothing_else(assistant: MakeAssistant) -> None:
    async with assistant(claims(handler=lambda turn: turn.slots["city"])) as hark:
        for data in ({}, {"slots": 7}, {"slots": {}}, {"lang": 7, "slots": {"city": ["x"]}}):
            hark.bus.emit(Message("claims:go", data, {"utterance_id": "stray"}))
        async with asyncio.timeout(10):
            while len(hark.of(topics.HANDLER_DONE)) < 4:
                await settle()
        assert all("exception" in done.data for done in hark.of(topics.HANDLER_DONE))
        assert hark.of(topics.UTTERANCE_HANDLED) == []


async def test_an_utterance_for_each_marker_does_not_starve_the_others(assistant: MakeAssistant) -> None:
    rounds = 0

    async with assistant(claims()) as hark:

        def again(message: Message) -> None:
            nonlocal rounds
            if message.session_id == "loop" and rounds < 500:
                rounds += 1
                hark.bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": ["again"]}, session=Session("loop")))

        hark.bus.on(topics.UTTERANCE_HANDLED, again)
        hark.say("start", session="loop")
        assert await hark.hears("hello", session="x") == ["hello"]
        async with asyncio.timeout(20):
            while rounds < 500:
                await settle()
        await settle()


async def test_a_plugin_that_raises_on_every_message_it_hears_is_named_and_survived(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    class Grumpy(Plugin):
        id = "grumpy"
        quick = True

        async def start(self) -> None:
            self.host.on((topics.UTTERANCE_HANDLE, topics.UTTERANCE_HANDLED, topics.INTENT_MATCHED), self.hear)

        def hear(self, message: Message) -> None:
            raise SystemExit(f"not {message.type}")

    async with assistant(Grumpy(), claims()) as hark:
        assert await hark.hears("hello") == ["hello"]
    assert "grumpy failed: SystemExit: not ovos.intent.matched" in caplog.text


class Stubborn:
    """Goes on whatever it is told, until the test lets it go."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.refused = 0

    async def wait(self) -> None:
        while not self.go.is_set():
            try:
                await self.go.wait()
            except asyncio.CancelledError:
                self.refused += 1


async def test_a_handler_that_will_not_end_does_not_keep_the_house_from_closing(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    stubborn = Stubborn()

    async def handler(turn: Turn) -> None:
        await stubborn.wait()

    async with assistant(claims(handler=handler)) as hark:
        hearing = hark.say("go")
        await settle()
    assert hearing.markers == 1
    assert stubborn.refused
    assert "claims:go did not end when it was cancelled and is abandoned" in caplog.text
    stubborn.go.set()
    await settle()


async def test_a_task_and_a_listener_that_will_not_end_do_not_keep_the_house_from_closing(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    stubborn = Stubborn()

    class Unending(Plugin):
        id = "unending"

        async def start(self) -> None:
            self.host.task(stubborn.wait(), "watching")
            self.host.on("test.note", self.hear)

        async def hear(self, message: Message) -> None:
            await stubborn.wait()

    async with assistant(Unending(), claims()) as hark:
        hark.bus.emit(Message("test.note"))
        assert await hark.hears("hello") == ["hello"]
    assert "unending watching did not end when it was cancelled and is abandoned" in caplog.text
    stubborn.go.set()
    await settle()


async def test_a_transformer_that_will_not_end_does_not_keep_the_house_from_closing(assistant: MakeAssistant) -> None:
    stubborn = Stubborn()

    async def transform(artifact: Any, ctx: Ctx) -> Any:
        await stubborn.wait()
        return artifact

    members = [transformer(kind, "stubborn", transform) for kind in ("utterance", "dialog")]
    async with assistant(*members, claims()) as hark:
        hearing = hark.say("hello")
        await hark.clock.advance(5.1)
        await settle()
    assert hearing.markers == 1
    stubborn.go.set()
    await settle()
