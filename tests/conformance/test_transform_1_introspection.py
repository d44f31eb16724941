"""OVOS-TRANSFORM-1: introspection of the chains, stamps on what transformers emit themselves, and their context."""

from __future__ import annotations

from typing import Any

import pytest

from flow.chain_rig import SIX, Rig, link
from flow.stage import BASES, CANCELLED, MakeAssistant, claims, declines, public, transformer, turn_of
from hark.builtin import Cancel
from hark.model import Audio, ContextEntry, Message, Session
from hark.plugins import Ctx, Transformer
from hark.spec import TransformerType, stamp_key, topics
from hark.testing import Assistant, settle

every_kind = pytest.mark.parametrize("kind", SIX)


# §1.3: stamps on what a transformer emits outside its chain.


def speaking_up(kind: TransformerType) -> Transformer:
    """A transformer that reacts to a Message on the bus, in four ways."""

    async def start(self: Transformer) -> None:
        self.host.on("test.poke", lambda message: react(self, message))

    def react(self: Transformer, message: Message) -> None:
        self.host.emit("test.fresh")
        self.host.send(message.reply("test.replied"))
        self.host.send(message.response())
        self.host.send(message.with_data({"changed": True}).carrying(mood="odd").forward("test.changed"))

    transform = link(kind, "loud").transform  # type: ignore[attr-defined]
    members = {"id": "loud", "quick": True, "start": start, "transform": staticmethod(transform)}
    made: Transformer = type("Loud", (BASES[kind],), members)()
    return made


@pytest.mark.one_worker  # each has its own copy, which hears and answers
@pytest.mark.spec("TRANSFORM-1/1.3.a")
@pytest.mark.spec("TRANSFORM-1/1.3.d")
@pytest.mark.spec("TRANSFORM-1/1.3.f")
@every_kind
async def test_what_a_transformer_authors_names_it_last_and_keeps_the_other_stamps(
    assistant: MakeAssistant, kind: TransformerType
) -> None:
    stamps = {stamp_key(other): ["earlier"] for other in SIX} | {"skill_id": "some.skill", "pipeline_id": "some"}
    async with assistant(speaking_up(kind)) as hark:
        hark.bus.emit(Message("test.poke", {}, stamps))
        await settle()
        assert hark.of("test.fresh")[0].context == {stamp_key(kind): ("loud",)}
        for topic in ("test.replied", "test.poke.response", "test.changed"):
            [message] = hark.of(topic)
            expected = {key: tuple(ids) if isinstance(ids, list) else ids for key, ids in stamps.items()}
            expected[stamp_key(kind)] = ("earlier", "loud")
            assert {key: message.context[key] for key in expected} == expected


@pytest.mark.one_worker  # each has its own copy, which hears and answers
@pytest.mark.spec("TRANSFORM-1/1.3.c")
@every_kind
async def test_a_transformer_that_only_passes_a_message_on_does_not_name_itself(
    assistant: MakeAssistant, kind: TransformerType
) -> None:
    async def start(self: Transformer) -> None:
        def relay(message: Message) -> None:
            self.host.send(message.forward("test.out", message.data), passing_on=True)

        self.host.on("test.in", relay)

    transform = link(kind, "relay").transform  # type: ignore[attr-defined]
    members = {"id": "relay", "quick": True, "start": start, "transform": staticmethod(transform)}
    async with assistant(type("Relay", (BASES[kind],), members)()) as hark:
        hark.bus.emit(Message("test.in", {"n": 1}, {stamp_key(kind): ["earlier"]}))
        await settle()
        [out] = hark.of("test.out")
        assert out.context == {stamp_key(kind): ("earlier",)}


# §3: languages and formats.


@pytest.mark.spec("TRANSFORM-1/3.0.d")
@pytest.mark.parametrize("text", ["never mind", "vergiss es"])
async def test_a_transformer_that_is_given_no_language_goes_by_its_own(assistant: MakeAssistant, text: str) -> None:
    async with assistant(Cancel(), claims()) as hark:
        await hark.hears(f"lights on, {text}")
        assert public(turn_of(hark)) == CANCELLED


@pytest.mark.spec("TRANSFORM-1/3.1.c")
@pytest.mark.parametrize("kind", ["audio", "tts"])
async def test_audio_has_its_format_in_itself_and_a_wrong_one_is_refused(kind: TransformerType) -> None:
    def resample(audio: Audio, ctx: Ctx) -> Audio:
        return Audio(audio.samples[::2], audio.sample_rate, sample_width=1)

    def forget(audio: Audio, ctx: Ctx) -> Audio:
        return Audio(audio.samples[:-1], audio.sample_rate, audio.sample_width, audio.channels)

    given: list[Audio] = []

    def note(audio: Audio, ctx: Ctx) -> Audio:
        given.append(audio)
        return audio

    rig = Rig(
        kind,
        link(kind, "forget", forget, priority=1),
        link(kind, "resample", resample, priority=2),
        link(kind, "note", note, priority=3),
    )
    start = Audio(b"\x01\x02" * 16, 16_000)
    flow = await rig.run(start)
    assert rig.story == [("forget", "malformed"), ("resample", "changed"), ("note", "unchanged")]
    assert given == [flow.artifact] == [Audio(b"\x01" * 16, 16_000, sample_width=1)]
    assert flow.artifact.seconds == start.seconds


# §6: who is loaded.


async def answers(hark: Assistant, kind: TransformerType, **context: Any) -> list[Message]:
    """What comes back on the query for one kind."""
    topic = topics.transformer_list(kind)
    before = len(hark.of(f"{topic}.response"))
    hark.bus.emit(Message(topic, {}, context))
    await settle()
    return hark.of(f"{topic}.response")[before:]


@pytest.mark.spec("TRANSFORM-1/6.a")
@pytest.mark.spec("TRANSFORM-1/6.b")
@pytest.mark.spec("TRANSFORM-1/6.c")
@pytest.mark.spec("TRANSFORM-1/6.d")
@every_kind
async def test_each_chain_answers_with_what_is_loaded(assistant: MakeAssistant, kind: TransformerType) -> None:
    plugins = (link(kind, "late", priority=90), link(kind, "early", priority=10), link(kind, "a b"))
    settings = {"transformers": {kind: ["late", "ghost"]}, "deny": {f"{kind}_transformers": ["late"]}}
    async with assistant(*plugins, settings=settings) as hark:
        for other in SIX:
            [answer] = await answers(hark, other, source="asker", destination="core")
            loaded = {"late": 90, "early": 10} if other == kind else {}
            assert answer.data["priorities"] == loaded
            assert sorted(answer.data["loaded"]) == sorted(loaded)
            assert set(answer.data) == {"loaded", "priorities"}
            assert (answer.context["source"], answer.context["destination"]) == ("core", "asker")


@pytest.mark.one_worker  # each process says what it has loaded
@pytest.mark.spec("TRANSFORM-1/6.g")
async def test_what_is_loaded_is_announced_once_before_the_assistant_is_ready(assistant: MakeAssistant) -> None:
    async with assistant(link("utterance", "a", priority=7)) as hark:
        seen = [message.type for message in hark.messages]
        for kind in SIX:
            topic = f"{topics.transformer_list(kind)}.response"
            assert seen.count(topic) == 1
            assert seen.index(topic) < seen.index(topics.READY)
            assert set(hark.of(topic)[0].data) == {"loaded", "priorities"}
        [announced] = hark.of(f"{topics.transformer_list('utterance')}.response")
        assert announced.data == {"loaded": ("a",), "priorities": {"a": 7}}


# §8.1: the cancellation pair.


@pytest.mark.spec("TRANSFORM-1/8.1.a")
@every_kind
@pytest.mark.parametrize("key", ["canceled", "cancel_reason", "cancel_by"])
async def test_a_transformer_can_set_the_pair_only_as_a_whole(kind: TransformerType, key: str) -> None:
    refused: list[str] = []

    def halve(artifact: Any, ctx: Ctx) -> Any:
        wrong: Any = 7
        attempts = (
            lambda: ctx.set(key, True),
            lambda: ctx.unset(key),
            lambda: ctx.cancel(""),
            lambda: ctx.cancel(wrong),
        )
        for attempt in attempts:
            try:
                attempt()
            except (PermissionError, ValueError) as error:
                refused.append(str(error))
        return artifact

    flow = await Rig(kind, link(kind, "halve", halve)).run()
    assert len(refused) == 4
    assert not flow.cancelled
    assert {"canceled", "cancel_reason", "cancel_by"}.isdisjoint(flow.context)

    def cancel(artifact: Any, ctx: Ctx) -> Any:
        ctx.cancel()
        return artifact

    flow = await Rig(kind, link(kind, "cancel", cancel)).run()
    assert {key: flow.context[key] for key in ("canceled", "cancel_reason", "cancel_by")} == {
        "canceled": True,
        "cancel_reason": "other",
        "cancel_by": "cancel",
    }


# §9: intent context.


@pytest.mark.spec("TRANSFORM-1/9.c")
@pytest.mark.spec("TRANSFORM-1/9.d")
async def test_a_transformer_may_remember_things_under_well_formed_keys(assistant: MakeAssistant) -> None:
    seen: list[Any] = []

    def remember(ctx: Ctx) -> None:
        known = ctx.session.intent_context
        entries = {"noticer:mood": "odd", "lights.demo:room": "hall", "shared": None, "a:b:c": "bad", ":x": "bad"}
        added = {key: ContextEntry(value, turns_remaining=2) for key, value in entries.items()}
        ctx.session = ctx.session.replace(intent_context={**known, **added})

    async with assistant(transformer("metadata", "noticer", remember), declines(seen=seen)) as hark:
        await hark.hears("hello", session=Session("x", intent_context={"old": {"value": "kept"}}))
        left = turn_of(hark)[-1].session.intent_context
    assert set(seen[0][2].intent_context) == {"old", "noticer:mood", "lights.demo:room", "shared"}
    assert set(left) == set(seen[0][2].intent_context)
    assert left["noticer:mood"] == ContextEntry("odd", turns_remaining=1)
