"""OVOS-TRANSFORM-1: what a chain owes to transformers, to the utterance and to observers, for all six kinds."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from flow.chain_rig import ARTIFACTS, CHANGED, SIX, SPOKEN, Rig, link, unchanged
from flow.stage import (
    BASES,
    CANCELLED,
    UNMATCHED,
    MakeAssistant,
    claims,
    declines,
    echo,
    matcher,
    public,
    transformer,
    turn_of,
)
from hark.app.settings import settings_from
from hark.bus import ask
from hark.hosting import Registry
from hark.model import Audio, Match, Message, Session
from hark.plugins import Ctx, Round, Turn
from hark.spec import CANCEL_REASONS, TransformerType, stamp_key, topics
from hark.testing import settle

every_kind = pytest.mark.parametrize("kind", SIX)
spoken_kind = pytest.mark.parametrize("kind", SPOKEN)
entry_kind = pytest.mark.parametrize("kind", ["utterance", "metadata", "intent"])


def noting(order: list[str], name: str) -> Callable[[Any, Ctx], Any]:
    def step(artifact: Any, ctx: Ctx) -> Any:
        order.append(name)
        return artifact

    return step


def chain_of(kind: TransformerType, calls: list[str], **priorities: int) -> list[Any]:
    """Transformers that note in `calls` that they were called."""
    return [link(kind, name, noting(calls, name), priority=priority) for name, priority in priorities.items()]


# §1: registries, ids, stamps.


@pytest.mark.spec("TRANSFORM-1/1.a")
@pytest.mark.spec("TRANSFORM-1/2.b")
@every_kind
async def test_every_member_runs_and_each_works_on_what_the_one_before_left(kind: TransformerType) -> None:
    given: list[Any] = []

    def change(artifact: Any, ctx: Ctx) -> Any:
        given.append(artifact)
        return _own(kind, CHANGED[kind])

    def note(artifact: Any, ctx: Ctx) -> Any:
        given.append(artifact)
        return artifact

    rig = Rig(kind, link(kind, "a", note, priority=1), link(kind, "b", change, priority=2), link(kind, "c", note))
    flow = await rig.run()
    assert [_frozen(kind, artifact) for artifact in given] == [ARTIFACTS[kind], ARTIFACTS[kind], CHANGED[kind]]
    assert flow.artifact == CHANGED[kind]


def _own(kind: str, artifact: Any) -> Any:
    return list(artifact) if kind == "utterance" else artifact


def _frozen(kind: str, artifact: Any) -> Any:
    return tuple(artifact) if kind == "utterance" else artifact


@pytest.mark.spec("TRANSFORM-1/1.1.a")
async def test_one_id_may_be_used_in_every_chain(assistant: MakeAssistant) -> None:
    async with assistant(*(link(kind, "same") for kind in SIX), claims()) as hark:
        assert all("same" in hark.runtime.transformers[kind] for kind in SIX)
        assert hark.runtime.refusals == []
        assert await hark.hears("hello") == ["hello"]


@pytest.mark.spec("TRANSFORM-1/1.1.b")
@every_kind
@pytest.mark.parametrize("transformer_id", ["a:b", "a b", "", "ä", "a/b", "a\n"])
def test_a_malformed_id_is_refused(kind: TransformerType, transformer_id: str) -> None:
    rig = Rig(kind, link(kind, transformer_id))
    assert rig.entries == [None]
    assert len(rig.registry.refusals) == 1


@pytest.mark.spec("TRANSFORM-1/1.1.b")
@every_kind
@pytest.mark.parametrize("transformer_id", ["a.b", "A-1_z", ".", "0"])
def test_a_well_formed_id_is_accepted(kind: TransformerType, transformer_id: str) -> None:
    assert Rig(kind, link(kind, transformer_id)).registry.refusals == []


@pytest.mark.spec("TRANSFORM-1/1.1.c")
@every_kind
def test_the_second_of_two_with_one_id_is_refused(kind: TransformerType) -> None:
    rig = Rig(kind, link(kind, "twin"), link(kind, "twin"))
    assert rig.entries[1] is None
    assert len(rig.registry) == 1


@pytest.mark.spec("TRANSFORM-1/1.1.d")
@every_kind
async def test_a_transformer_runs_once_however_often_it_is_named(kind: TransformerType) -> None:
    calls: list[str] = []
    rig = Rig(kind, *chain_of(kind, calls, a=1, b=2), order=("b", "a", "b"))
    await rig.run()
    assert calls == ["b", "a"]
    await rig.run(session=Session("x", **{f"{kind}_transformers": ["a", "b", "a", "a"]}))
    assert calls == ["b", "a", "a", "b"]


@pytest.mark.spec("TRANSFORM-1/1.3.a")
@pytest.mark.spec("TRANSFORM-1/9.g")
@pytest.mark.spec("TRANSFORM-1/9.e")
@every_kind
async def test_what_a_transformer_emits_names_it_last(kind: TransformerType) -> None:
    def speak_up(artifact: Any, ctx: Ctx) -> Any:
        ctx.emit("test.note", {"n": 1})
        return artifact

    rig = Rig(kind, link(kind, "a", priority=1), link(kind, "b", speak_up, priority=2))
    await rig.run(context={stamp_key(kind): ["earlier"]})
    [note] = rig.emitted
    assert (note.type, note.data, note.session_id) == ("test.note", {"n": 1}, "x")
    assert note.context[stamp_key(kind)] == ("earlier", "a", "b")


@pytest.mark.spec("TRANSFORM-1/1.3.b")
@pytest.mark.spec("TRANSFORM-1/1.3.e")
@every_kind
async def test_everyone_whose_output_was_accepted_is_stamped_in_order_and_again_on_re_entry(
    kind: TransformerType,
) -> None:
    def fail(artifact: Any, ctx: Ctx) -> Any:
        raise ValueError

    members = [link(kind, "a", priority=1), link(kind, "broken", fail, priority=2), link(kind, "b", priority=3)]
    rig = Rig(kind, *members)
    flow = await rig.run()
    assert flow.context[stamp_key(kind)] == ("a", "b")
    again = await rig.run(context={stamp_key(kind): flow.context[stamp_key(kind)]})
    assert again.context[stamp_key(kind)] == ("a", "b", "a", "b")


@pytest.mark.spec("TRANSFORM-1/1.3.f")
@pytest.mark.spec("TRANSFORM-1/1.3.i")
async def test_stamps_and_identities_live_side_by_side(assistant: MakeAssistant) -> None:
    links = [link(kind, f"my-{kind}") for kind in ("utterance", "metadata", "intent", "dialog")]
    async with assistant(*links, claims()) as hark:
        await hark.hears("hello", context={"audio_transformer_ids": ["ears"]})
        [speak] = hark.of(topics.UTTERANCE_SPEAK)
        rendered = hark.of(topics.SPEECH_RENDERED)[0]
    for message in (speak, rendered, turn_of(hark)[-1]):
        assert message.context["audio_transformer_ids"] == ("ears",)
        for kind in ("utterance", "metadata", "intent"):
            assert message.context[stamp_key(kind)] == (f"my-{kind}",)
        assert (message.context["skill_id"], message.context["pipeline_id"]) == ("claims", "claims")
    assert rendered.context["dialog_transformer_ids"] == ("my-dialog",)


@pytest.mark.spec("TRANSFORM-1/1.3.h")
@every_kind
async def test_nobody_can_forget_or_forge_a_stamp(kind: TransformerType) -> None:
    refused: list[str] = []

    def forge(artifact: Any, ctx: Ctx) -> Any:
        for key in [stamp_key(other) for other in SIX]:
            for write in (lambda k=key: ctx.set(k, ["someone"]), lambda k=key: ctx.unset(k)):
                try:
                    write()
                except PermissionError:
                    refused.append(key)
        return artifact

    rig = Rig(kind, link(kind, "forger", forge))
    flow = await rig.run(context={stamp_key(kind): ["earlier"]})
    assert len(refused) == 12
    assert flow.context[stamp_key(kind)] == ("earlier", "forger")


@pytest.mark.spec("TRANSFORM-1/1.3.h")
@every_kind
async def test_a_stamp_that_came_as_garbage_does_no_harm(kind: TransformerType) -> None:
    rig = Rig(kind, link(kind, "a"))
    for garbage in ("text", 7, None, {"a": 1}, True):
        flow = await rig.run(context={stamp_key(kind): garbage})
        assert flow.context[stamp_key(kind)][-1] == "a"
        assert all(isinstance(name, str) for name in flow.context[stamp_key(kind)])


@pytest.mark.spec("TRANSFORM-1/1.3.i")
@entry_kind
async def test_the_end_of_a_cancelled_turn_adds_no_stamp_of_its_own(assistant: MakeAssistant, kind: Any) -> None:
    async with assistant(link(kind, "stopper", stop_with("other")), claims()) as hark:
        await hark.hears("hello")
        assert [m.context[stamp_key(kind)] for m in turn_of(hark)] == [("stopper",), ("stopper",)]


# §2: the points.


@pytest.mark.spec("TRANSFORM-1/2.a")
async def test_without_any_transformer_everything_passes(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:
        assert await hark.hears("hello") == ["hello"]


@pytest.mark.spec("TRANSFORM-1/2.e")
@pytest.mark.spec("TRANSFORM-1/7.c")
@every_kind
async def test_a_chain_whose_members_all_raise_yields_its_input(kind: TransformerType) -> None:
    def vandalise(artifact: Any, ctx: Ctx) -> Any:
        if kind == "utterance":
            artifact.clear()
        ctx.set("mine", 1)
        ctx.unset("kept")
        ctx.session = ctx.session.replace(persona_id="butler")
        if kind in SPOKEN:
            ctx.lang = "fr-FR"
        ctx.cancel("other")
        ctx.emit("test.note")
        raise ValueError("after all that")

    rig = Rig(kind, *(link(kind, name, vandalise) for name in "abc"))
    flow = await rig.run(lang="en-US" if kind in SPOKEN else None, context={"kept": True})
    assert flow.artifact == ARTIFACTS[kind]
    assert flow.context == {"utterance_id": "turn", "kept": True}
    assert flow.session == Session("x")
    assert flow.lang == ("en-US" if kind in SPOKEN else None)
    assert not flow.cancelled
    assert rig.emitted == []


# §3.0: language.


@pytest.mark.spec("TRANSFORM-1/3.0.a")
@pytest.mark.spec("TRANSFORM-1/3.0.b")
@pytest.mark.spec("TRANSFORM-1/3.0.f")
@spoken_kind
async def test_the_language_is_handed_from_one_to_the_next(kind: TransformerType) -> None:
    seen: list[str | None] = []

    def translate(artifact: Any, ctx: Ctx) -> Any:
        seen.append(ctx.lang)
        ctx.lang = {"de-DE": "en-US", "en-US": None, None: "pt-PT"}[ctx.lang]
        return artifact

    rig = Rig(kind, *(link(kind, name, translate) for name in "abc"))
    flow = await rig.run(lang="de-DE")
    assert seen == ["de-DE", "en-US", None]
    assert flow.lang == "pt-PT"


@pytest.mark.spec("TRANSFORM-1/3.0.b")
@pytest.mark.spec("TRANSFORM-1/3.0.c")
@pytest.mark.parametrize("stated", ["de-DE", None])
async def test_a_chain_gets_the_stated_language_and_never_an_invented_one(
    assistant: MakeAssistant, stated: str | None
) -> None:
    seen: list[tuple[str, str | None]] = []

    def listen(kind: str) -> Callable[[Any, Ctx], Any]:
        def step(artifact: Any, ctx: Ctx) -> Any:
            seen.append((kind, ctx.lang))
            return artifact

        return step

    async def handler(turn: Turn) -> None:
        data = {"utterance": "hallo"} if stated is None else {"utterance": "hallo", "lang": stated}
        turn.emit(topics.UTTERANCE_SPEAK, data)

    signals = dict.fromkeys(("lang", "stt_lang", "request_lang", "detected_lang", "output_lang"), "en-US")
    links = [link(kind, "spy", listen(kind)) for kind in ("utterance", "dialog")]
    async with assistant(*links, claims(handler=handler)) as hark:
        await hark.hears("hallo", lang=stated, session=Session("x", **signals))
    assert seen == [("utterance", stated), ("dialog", stated)]


@pytest.mark.spec("TRANSFORM-1/3.0.g")
@pytest.mark.spec("TRANSFORM-1/3.0.e")
@pytest.mark.parametrize("stated", ["de-DE", None])
@pytest.mark.parametrize("made", ["en-US", None, "unchanged"])
async def test_the_language_is_written_back_to_the_utterance(
    assistant: MakeAssistant, stated: str | None, made: str | None
) -> None:
    seen: list[dict[str, Any]] = []

    def translate(utterances: list[str], ctx: Ctx) -> list[str]:
        if made != "unchanged":
            ctx.lang = made
        return utterances

    def match(utterances: Any, lang: str, session: Session, round: Round) -> None:
        seen.append(dict(round.message.data))

    async with assistant(transformer("utterance", "t", translate), matcher("m", match)) as hark:
        await hark.hears("hello", lang=stated)
    expected = stated if made == "unchanged" else made
    assert seen == [{"utterances": ("hello",), **({} if expected is None else {"lang": expected})}]


@pytest.mark.spec("SESSION-1/3.2.3.c")
@pytest.mark.spec("TRANSFORM-1/3.0.g")
@pytest.mark.parametrize("stated", ["de-DE", None])
@pytest.mark.parametrize("made", ["en-US", None, "unchanged"])
async def test_the_language_is_written_back_to_the_response(
    assistant: MakeAssistant, stated: str | None, made: str | None
) -> None:
    def translate(text: str, ctx: Ctx) -> str:
        if made != "unchanged":
            ctx.lang = made
        return text

    async with assistant(transformer("dialog", "t", translate)) as hark:
        data = {"utterance": "hello", "listen": True, **({} if stated is None else {"lang": stated})}
        hark.bus.emit(Message(topics.UTTERANCE_SPEAK, data))
        await settle()
    expected = stated if made == "unchanged" else made
    [spoken] = hark.rendered
    assert spoken.lang == expected
    language = {} if expected is None else {"lang": expected}
    assert spoken.message.data == {"utterance": "hello", "listen": True, **language}


@pytest.mark.spec("TRANSFORM-1/3.0.h")
@pytest.mark.parametrize("kind", ["metadata", "intent"])
async def test_metadata_and_intent_transformers_have_no_language(kind: TransformerType) -> None:
    seen: list[Any] = []

    def look(artifact: Any, ctx: Ctx) -> Any:
        seen.append(ctx.lang)
        ctx.lang = "de-DE"
        return artifact

    rig = Rig(kind, link(kind, "a", look))
    flow = await rig.run()
    assert seen == [None]
    assert rig.story == [("a", "failed")]
    assert flow.lang is None


@pytest.mark.spec("TRANSFORM-1/3.0.e")
@spoken_kind
@pytest.mark.parametrize("tag", ["", "not a tag", 7, "e"])
async def test_what_is_no_language_tag_is_refused_and_the_output_dropped(kind: TransformerType, tag: Any) -> None:
    def set_it(artifact: Any, ctx: Ctx) -> Any:
        ctx.lang = tag
        return _own(kind, CHANGED[kind])

    rig = Rig(kind, link(kind, "a", set_it))
    flow = await rig.run(lang="en-US")
    assert (flow.lang, flow.artifact) == ("en-US", ARTIFACTS[kind])


# §3.1 to §3.6: what each kind is given.


@pytest.mark.spec("TRANSFORM-1/3.1.c")
@pytest.mark.spec("TRANSFORM-1/3.1.a")
@pytest.mark.spec("TRANSFORM-1/3.1.b")
@pytest.mark.spec("TRANSFORM-1/3.6.a")
@pytest.mark.spec("TRANSFORM-1/3.6.b")
@pytest.mark.parametrize("kind", ["audio", "tts"])
async def test_sound_comes_with_its_format_language_and_context(kind: TransformerType) -> None:
    seen: list[Any] = []

    def resample(audio: Audio, ctx: Ctx) -> Audio:
        seen.append((audio.samples, audio.sample_rate, audio.sample_width, audio.channels, ctx.lang, ctx.get("key")))
        ctx.set("mine.loudness", 0.5)
        return Audio(audio.samples[::2] * 2, 8_000)

    rig = Rig(kind, link(kind, "resample", resample))
    flow = await rig.run(Audio(b"\x01\x02" * 4, 16_000), lang="en-US", context={"key": "value"})
    assert seen == [(b"\x01\x02" * 4, 16_000, 2, 1, "en-US", "value")]
    assert (flow.artifact.sample_rate, flow.context["mine.loudness"]) == (8_000, 0.5)


@pytest.mark.spec("TRANSFORM-1/3.2.a")
@pytest.mark.spec("TRANSFORM-1/3.2.b")
async def test_an_utterance_transformer_may_work_in_place_or_return_a_list_of_its_own(
    assistant: MakeAssistant,
) -> None:
    seen: list[Any] = []

    def in_place(utterances: list[str], ctx: Ctx) -> list[str]:
        seen.append((list(utterances), ctx.session.session_id, ctx.get("source")))
        utterances.append("one more")
        utterances[0] = utterances[0].upper()
        return utterances

    def fresh(utterances: list[str], ctx: Ctx) -> list[str]:
        return [text for text in utterances if text != "hallo"]

    links = [
        transformer("utterance", "a", in_place, priority=1),
        transformer("utterance", "b", fresh, priority=2),
    ]
    matched: list[Any] = []
    async with assistant(*links, declines(seen=matched)) as hark:
        await hark.hears(["hello", "hallo"], session="x", context={"source": "here"})
    assert seen == [(["hello", "hallo"], "x", "here")]
    assert matched[0][0] == ("HELLO", "one more")


@pytest.mark.spec("TRANSFORM-1/3.2.d")
@pytest.mark.spec("TRANSFORM-1/3.2.f")
async def test_an_empty_list_stops_the_chain_while_metadata_still_runs(assistant: MakeAssistant) -> None:
    calls: list[str] = []
    links = [
        transformer("utterance", "nothing", lambda utterances, ctx: [], priority=1),
        link("utterance", "later", noting(calls, "utterance"), priority=2),
        link("metadata", "meta", noting(calls, "metadata")),
    ]
    async with assistant(*links, claims()) as hark:
        await hark.hears("hello")
        assert public(turn_of(hark)) == UNMATCHED
    assert calls == ["metadata"]


@pytest.mark.spec("TRANSFORM-1/3.2.e")
async def test_metadata_can_still_cancel_an_empty_list(assistant: MakeAssistant) -> None:
    links = [
        transformer("utterance", "nothing", lambda utterances, ctx: []),
        link("metadata", "stopper", stop_with("transcription_invalid")),
    ]
    async with assistant(*links) as hark:
        await hark.hears("hello")
        assert public(turn_of(hark)) == CANCELLED


@pytest.mark.spec("TRANSFORM-1/3.3.a")
@pytest.mark.spec("TRANSFORM-1/3.3.b")
@pytest.mark.spec("TRANSFORM-1/3.3.e")
async def test_a_metadata_transformer_may_change_whatever_it_likes(assistant: MakeAssistant) -> None:
    seen: list[Any] = []

    def rewrite(ctx: Ctx) -> None:
        ctx.set("source", "elsewhere")
        ctx.unset("secret")
        ctx.set("mine.note", {"a": [1, {"b": None}]})
        ctx.session = ctx.session.replace(
            lang="en-US",
            intent_context={"person": {"value": "Bob"}},
            active_handlers=[{"skill_id": "a", "activated_at": 1}],
            response_mode={"skill_id": "a", "expires_at": 2},
            dialog_transformers=["none"],
        )

    def match(utterances: Any, lang: str, session: Session, round: Round) -> None:
        seen.append((round.message, session))

    async with assistant(transformer("metadata", "rewrite", rewrite), matcher("m", match)) as hark:
        await hark.hears("hello", session="x", context={"source": "here", "secret": "s"})
    [(message, session)] = seen
    assert message.context["source"] == "elsewhere"
    assert "secret" not in message.context
    assert message.context["mine.note"] == {"a": (1, {"b": None})}
    assert session.intent_context["person"].value == "Bob"
    assert session.response_mode.skill_id == "a"
    assert turn_of(hark)[-1].session.dialog_transformers == ("none",)


@pytest.mark.spec("TRANSFORM-1/3.3.e")
async def test_a_metadata_transformer_may_even_move_the_turn_to_another_session(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    def move(ctx: Ctx) -> None:
        ctx.session = Session("y")

    async with assistant(transformer("metadata", "mover", move), claims()) as hark:
        with caplog.at_level(logging.WARNING, "hark.chains"):
            await hark.hears("hello", session="x")
        assert {m.session_id for m in turn_of(hark)} == {"y"}
    assert "mover moved the turn from session x to y" in caplog.text


@pytest.mark.spec("TRANSFORM-1/3.4.c")
@pytest.mark.spec("TRANSFORM-1/3.4.b")
async def test_slots_an_intent_transformer_adds_reach_the_handler(assistant: MakeAssistant) -> None:
    def look_up(match: Match, ctx: Ctx) -> Match:
        return match.with_slots(**{"when.value": "2026-01-01"})

    def handler(turn: Turn) -> str:
        return turn.slots["when.value"]

    plugins = (transformer("intent", "dates", look_up), claims(handler=handler, slots={"when": "today"}))
    async with assistant(*plugins) as hark:
        assert await hark.hears("hello") == ["2026-01-01"]
        assert hark.of(topics.INTENT_MATCHED)[0].data["slots"] == {"when": "today", "when.value": "2026-01-01"}


@pytest.mark.spec("TRANSFORM-1/3.4.a")
@pytest.mark.spec("TRANSFORM-1/3.4.c")
async def test_slots_can_be_added_to_a_claim_that_brought_a_session(assistant: MakeAssistant) -> None:
    def match(utterances: Any, lang: str, session: Session) -> Match:
        return Match("m", "go", lang, utterances[0], {}, session.replace(persona_id="butler"))

    def add(found: Match, ctx: Ctx) -> Match:
        assert found.updated_session is None
        return found.with_slots(persona=ctx.session.persona_id)

    plugins = (matcher("m", match, go=lambda turn: turn.slots["persona"]), transformer("intent", "add", add))
    async with assistant(*plugins) as hark:
        assert await hark.hears("hello", session="x") == ["butler"]


@pytest.mark.spec("TRANSFORM-1/3.4.e")
@pytest.mark.spec("TRANSFORM-1/3.4.f")
@pytest.mark.parametrize("change", [{"skill_id": "other"}, {"intent_name": "other"}, {"skill_id": ""}])
async def test_an_intent_transformer_cannot_change_who_answers(assistant: MakeAssistant, change: Any) -> None:
    def hijack(match: Match, ctx: Ctx) -> Match:
        ctx.set("mine", True)
        return match.with_slots(stolen="yes").replace(**change)

    def add(match: Match, ctx: Ctx) -> Match:
        return match.with_slots(added="yes")

    links = [
        transformer("intent", "hijack", hijack, priority=1),
        transformer("intent", "add", add, priority=2),
    ]
    async with assistant(*links, claims()) as hark:
        assert await hark.hears("hello") == ["hello"]
        [dispatch] = hark.of("claims:go")
    assert dispatch.data["slots"] == {"added": "yes"}
    assert "mine" not in dispatch.context
    assert dispatch.context["intent_transformer_ids"] == ("add",)


@pytest.mark.spec("TRANSFORM-1/3.5.a")
@pytest.mark.spec("TRANSFORM-1/3.5.b")
async def test_a_dialog_transformer_works_on_the_response(assistant: MakeAssistant) -> None:
    seen: list[Any] = []

    def shout(text: str, ctx: Ctx) -> str:
        seen.append((text, ctx.lang, ctx.session.session_id, ctx.get("skill_id")))
        return text.upper()

    async with assistant(transformer("dialog", "shout", shout), claims()) as hark:
        assert await hark.hears("hello", session="x") == ["HELLO"]
    assert seen == [("hello", "en-US", "x", "claims")]


# §4: order.


@pytest.mark.spec("TRANSFORM-1/4.a")
@pytest.mark.spec("TRANSFORM-1/4.b")
@every_kind
async def test_lower_priorities_run_first_and_fifty_is_the_default(kind: TransformerType) -> None:
    calls: list[str] = []
    unset = type("Unset", (BASES[kind],), {"id": "unset", "quick": True, "transform": _note_method(kind, calls)})()
    rig = Rig(kind, *chain_of(kind, calls, last=100, after=51, before=49, first=1, negative=-3), unset)
    await rig.run()
    assert calls == ["negative", "first", "before", "unset", "after", "last"]


def _note_method(kind: str, calls: list[str]) -> Any:
    if kind == "metadata":
        return staticmethod(lambda ctx: calls.append("unset"))
    return staticmethod(lambda artifact, ctx: noting(calls, "unset")(artifact, ctx))


@pytest.mark.spec("TRANSFORM-1/4.b")
@every_kind
@pytest.mark.parametrize("priority", [True, 1.5, "1", None])
def test_a_priority_that_is_no_whole_number_is_refused(kind: TransformerType, priority: Any) -> None:
    rig = Rig(kind, link(kind, "a", priority=priority))
    assert rig.entries == [None]
    assert "priority" in rig.registry.refusals[0].reason


@pytest.mark.spec("TRANSFORM-1/4.c")
@every_kind
async def test_equal_priorities_keep_one_order(kind: TransformerType) -> None:
    calls: list[str] = []
    rig = Rig(kind, *chain_of(kind, calls, c=5, a=5, b=5))
    for _ in range(3):
        await rig.run()
    assert calls == ["c", "a", "b"] * 3


@pytest.mark.spec("TRANSFORM-1/4.e")
@pytest.mark.spec("TRANSFORM-1/4.f")
@every_kind
async def test_an_explicit_list_replaces_the_priorities(kind: TransformerType) -> None:
    calls: list[str] = []
    rig = Rig(kind, *chain_of(kind, calls, a=1, b=2, c=3), order=("c", "ghost", "a"))
    await rig.run()
    assert calls == ["c", "a"]


@pytest.mark.spec("TRANSFORM-1/4.e")
@pytest.mark.spec("TRANSFORM-1/4.f")
async def test_the_deployer_orders_chains_in_the_settings(assistant: MakeAssistant) -> None:
    calls: list[str] = []
    links = [*chain_of("utterance", calls, a=1, b=2, c=3), *chain_of("metadata", calls, m=1)]
    settings = {"transformers": {"utterance": ["c", "a"], "metadata": []}}
    async with assistant(*links, settings=settings) as hark:
        await hark.hears("hello")
    assert calls == ["c", "a"]
    assert settings_from({}).transformers.order("utterance") is None


# §5: what a session may ask for, and what it is denied.


def preferring(kind: str, *ids: str) -> Session:
    return Session("x", **{f"{kind}_transformers": list(ids)})


def denying(kind: str, *ids: str, prefer: tuple[str, ...] = ()) -> Session:
    session = Session("x", **{f"blacklisted_{kind}_transformers": list(ids)})
    return session.replace(**{f"{kind}_transformers": list(prefer)}) if prefer else session


@pytest.mark.spec("TRANSFORM-1/5.1.a")
@pytest.mark.spec("TRANSFORM-1/5.1.d")
@pytest.mark.spec("TRANSFORM-1/5.1.e")
@every_kind
async def test_a_session_may_order_the_chain(kind: TransformerType) -> None:
    calls: list[str] = []
    rig = Rig(kind, *chain_of(kind, calls, a=1, b=2, c=3), order=("a", "b"))
    await rig.run(session=preferring(kind, "c", "a"))
    assert calls == ["c", "a"], "also one the deployer's list left out (ruling R3)"
    await rig.run()
    assert calls == ["c", "a", "a", "b"], "for itself alone"


@pytest.mark.spec("TRANSFORM-1/5.1.b")
@every_kind
async def test_an_empty_preference_is_none(kind: TransformerType) -> None:
    calls: list[str] = []
    rig = Rig(kind, *chain_of(kind, calls, a=1, b=2))
    await rig.run(session=Session.read({"session_id": "x", f"{kind}_transformers": []}))
    assert calls == ["a", "b"]


@pytest.mark.spec("TRANSFORM-1/5.1.f")
async def test_preferences_and_denylists_travel_with_the_session(assistant: MakeAssistant) -> None:
    fields = {f"{kind}_transformers": ["nobody"] for kind in SIX}
    fields |= {f"blacklisted_{kind}_transformers": ["nobody"] for kind in SIX}
    sent = Session("x", **fields)
    async with assistant(claims()) as hark:
        await hark.hears("hello", session=sent)
        for message in turn_of(hark):
            assert message.session.without("active_handlers", "converse_handlers") == sent


@pytest.mark.spec("TRANSFORM-1/5.2.a")
@pytest.mark.spec("TRANSFORM-1/5.2.b")
@pytest.mark.spec("TRANSFORM-1/5.2.c")
@every_kind
async def test_a_denied_transformer_is_not_called_even_when_it_is_asked_for(kind: TransformerType) -> None:
    calls: list[str] = []
    rig = Rig(kind, *chain_of(kind, calls, a=1, b=2))
    await rig.run(session=denying(kind, "a", "ghost"))
    await rig.run(session=denying(kind, "a", prefer=("a", "b")))
    assert calls == ["b", "b"]
    assert rig.emitted == []
    assert rig.story == [("b", "unchanged")] * 2


@pytest.mark.spec("TRANSFORM-1/5.2.a")
@every_kind
async def test_a_denial_for_one_kind_is_none_for_another(kind: TransformerType) -> None:
    calls: list[str] = []
    others = {f"blacklisted_{other}_transformers": ["a"] for other in SIX if other != kind}
    await Rig(kind, *chain_of(kind, calls, a=1)).run(session=Session("x", **others))
    assert calls == ["a"]


@pytest.mark.spec("TRANSFORM-1/5.3.a")
@every_kind
@pytest.mark.parametrize(
    ("prefer", "deny", "expected"),
    [
        ((), (), ["a", "b", "c"]),
        (("c", "ghost", "b"), (), ["c", "b"]),
        ((), ("b",), ["a", "c"]),
        (("c", "b", "a"), ("b", "ghost"), ["c", "a"]),
        (("a",), ("a",), []),
        (("ghost",), (), []),
        ((), ("a", "b", "c"), []),
    ],
)
async def test_preference_then_availability_then_policy(
    kind: TransformerType, prefer: tuple[str, ...], deny: tuple[str, ...], expected: list[str]
) -> None:
    calls: list[str] = []
    rig = Rig(kind, *chain_of(kind, calls, a=1, b=2, c=3))
    session = denying(kind, *deny, prefer=prefer) if deny else preferring(kind, *prefer) if prefer else Session("x")
    await rig.run(session=session)
    assert calls == expected


@pytest.mark.spec("TRANSFORM-1/5.3.b")
@pytest.mark.spec("TRANSFORM-1/5.3.c")
@every_kind
async def test_a_chain_that_comes_out_empty_changes_nothing(kind: TransformerType) -> None:
    rig = Rig(kind, link(kind, "a", lambda artifact, ctx: _own(kind, CHANGED[kind])))
    flow = await rig.run(session=preferring(kind, "ghost"), lang="en-US")
    assert (flow.artifact, flow.lang, flow.context) == (ARTIFACTS[kind], "en-US", {"utterance_id": "turn"})


@pytest.mark.spec("TRANSFORM-1/5.3.a")
@pytest.mark.spec("TRANSFORM-1/3.3.b")
async def test_chains_are_composed_when_their_point_is_reached(assistant: MakeAssistant) -> None:
    calls: list[str] = []

    def arrange(ctx: Ctx) -> None:
        ctx.session = ctx.session.replace(intent_transformers=["b"], dialog_transformers=["d"])

    links = [
        transformer("metadata", "arrange", arrange),
        *chain_of("intent", calls, a=1, b=2),
        *chain_of("dialog", calls, c=1, d=2),
    ]
    async with assistant(*links, claims()) as hark:
        await hark.hears("hello", session=Session("x", intent_transformers=["a"]))
    assert calls == ["b", "d"]


@pytest.mark.spec("TRANSFORM-1/5.2.a")
@pytest.mark.parametrize("field", ["blacklisted_intent_transformers", "blacklisted_skills", "blacklisted_pipelines"])
async def test_denylists_can_only_grow_during_a_turn(assistant: MakeAssistant, field: str) -> None:
    def relax(ctx: Ctx) -> None:
        ctx.session = ctx.session.without(field)

    def tighten(ctx: Ctx) -> None:
        ctx.session = ctx.session.replace(**{field: ["new"]})

    links = [
        transformer("metadata", "relax", relax, priority=1),
        transformer("metadata", "tighten", tighten, priority=2),
    ]
    seen: list[Any] = []
    async with assistant(*links, declines(seen=seen)) as hark:
        await hark.hears("hello", session=Session("x", **{field: ["old"]}))
    assert set(seen[0][2].get(field)) == {"old", "new"}


@pytest.mark.spec("TRANSFORM-1/5.2.a")
async def test_a_transformer_cannot_lift_a_denial_for_a_later_chain(assistant: MakeAssistant) -> None:
    calls: list[str] = []

    def relax(ctx: Ctx) -> None:
        ctx.session = ctx.session.without("blacklisted_intent_transformers", "blacklisted_dialog_transformers")

    links = [
        transformer("metadata", "relax", relax),
        *chain_of("intent", calls, a=1),
        *chain_of("dialog", calls, b=1),
    ]
    denied = Session("x", blacklisted_intent_transformers=["a"], blacklisted_dialog_transformers=["b"])
    async with assistant(*links, claims()) as hark:
        assert await hark.hears("hello", session=denied) == ["hello"]
    assert calls == []


# §7: failures.


@pytest.mark.spec("TRANSFORM-1/7.a")
@pytest.mark.spec("TRANSFORM-1/7.b")
@pytest.mark.spec("TRANSFORM-1/7.c")
@every_kind
async def test_the_chain_goes_on_with_the_last_good_output(
    kind: TransformerType, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(artifact: Any, ctx: Ctx) -> Any:
        raise ZeroDivisionError("on purpose")

    calls: list[str] = []
    rig = Rig(
        kind,
        link(kind, "change", lambda artifact, ctx: _own(kind, CHANGED[kind]), priority=1),
        link(kind, "broken", fail, priority=2),
        link(kind, "next", noting(calls, "next"), priority=3),
    )
    with caplog.at_level(logging.WARNING, "hark.hosting"):
        flow = await rig.run()
    assert flow.artifact == CHANGED[kind]
    assert calls == ["next"]
    assert "broken failed: ZeroDivisionError: on purpose" in caplog.text


class Grumpy(list[Any]):
    """A list that raises when somebody looks inside."""

    def __iter__(self) -> Any:
        raise RuntimeError("leave me alone")


class GrumpyText(str):
    def __ne__(self, other: object) -> bool:
        raise RuntimeError("leave me alone")


class Hostile:
    @property
    def __class__(self) -> type:  # type: ignore[override]
        raise RuntimeError("do not look")


A_MATCH = ARTIFACTS["intent"]

WRONG: dict[TransformerType, list[Any]] = {
    "audio": [
        None,
        Hostile,
        b"\x00\x00",
        "text",
        (b"\x00\x00", 16_000),
        Audio(b"\x00", 16_000),
        Audio(b"\x00\x00", 0),
        Audio("text", 16_000),  # type: ignore[arg-type]
        Audio(b"\x00\x00", 16_000.0),  # type: ignore[arg-type]
        Audio(b"\x00\x00", True),
    ],
    "utterance": [
        None,
        Hostile,
        "hello",
        7,
        {"hello": 1},
        {"hello"},
        [7],
        ["hello", None],
        [["hello"]],
        ["half \ud83d"],
        (text for text in "ab"),
        Grumpy(["hello"]),
        [GrumpyText("hello")],
    ],
    "metadata": [Hostile, {}, "text", 7, True, Session("x")],
    "intent": [
        None,
        Hostile,
        "text",
        {},
        ("a", "b"),
        A_MATCH.replace(skill_id="other.skill"),
        A_MATCH.replace(skill_id=GrumpyText("some.skill")),
        A_MATCH.replace(skill_id=7),
        A_MATCH.replace(lang=""),
        A_MATCH.replace(utterance=""),
        A_MATCH.replace(slots={"a": 1}),
        A_MATCH.replace(updated_session=Session("x")),
    ],
    "dialog": [None, Hostile, 7, b"hello", ["hello"], "half \ud83d", GrumpyText("hello")],
    "tts": [None, Hostile, b"\x00\x00", "speech.wav", Audio(b"\x00", 16_000)],
}


@pytest.mark.spec("TRANSFORM-1/7.d")
@pytest.mark.spec("TRANSFORM-1/9.b")
@pytest.mark.parametrize(("kind", "at"), [(kind, at) for kind, shapes in WRONG.items() for at in range(len(shapes))])
@pytest.mark.parametrize("quick", [True, False], ids=["inline", "worker"])
async def test_an_output_of_the_wrong_shape_counts_for_nothing(kind: TransformerType, at: int, quick: bool) -> None:
    def misshape(artifact: Any, ctx: Ctx) -> Any:
        ctx.set("mine", True)
        ctx.session = ctx.session.replace(persona_id="butler")
        ctx.cancel("other")
        ctx.emit("test.note")
        wrong = WRONG[kind][at]
        return wrong() if wrong is Hostile else wrong

    calls: list[str] = []
    rig = Rig(kind, link(kind, "bad", misshape, priority=1, quick=quick), link(kind, "next", noting(calls, "next")))
    flow = await rig.run()
    assert flow.artifact == ARTIFACTS[kind]
    assert flow.context == {"utterance_id": "turn", stamp_key(kind): ("next",)}
    assert (flow.session, flow.cancelled, rig.emitted, calls) == (Session("x"), False, [], ["next"])
    assert rig.story == [("bad", "malformed"), ("next", "unchanged")]
    assert rig.registry.get("bad").failures == 1


@pytest.mark.spec("TRANSFORM-1/7.e")
def test_there_are_settings_for_how_long_a_transformer_may_take() -> None:
    settings = settings_from({"limits": {"transformer": 1.5, "plugins": {"slow": 9.0}}})
    assert (settings.limits.transformer, settings.limits.plugins) == (1.5, {"slow": 9.0})


@pytest.mark.spec("TRANSFORM-1/7.f")
@pytest.mark.spec("TRANSFORM-1/7.g")
async def test_fifty_turns_at_once_go_through_one_instance_unmixed(assistant: MakeAssistant) -> None:
    inside = 0
    most = 0
    full = asyncio.Event()

    async def crowd(utterances: list[str], ctx: Ctx) -> list[str]:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        if inside == 50:
            full.set()
        ctx.set("crowd.who", ctx.session.session_id)
        await full.wait()
        assert ctx.get("crowd.who") == ctx.session.session_id
        return [f"{utterances[0]} in {ctx.session.session_id}"]

    async with assistant(transformer("utterance", "crowd", crowd), claims()) as hark:
        hearings = {n: hark.say(f"text {n}", session=f"s{n}") for n in range(50)}
        for n, hearing in hearings.items():
            await asyncio.wait_for(hearing.over.wait(), 20)
            assert hearing.spoken == [f"text {n} in s{n}"]
        for marker in hark.of(topics.UTTERANCE_HANDLED):
            assert marker.context["crowd.who"] == marker.session_id
    assert most == 50


@pytest.mark.spec("TRANSFORM-1/7.h")
@pytest.mark.spec("TRANSFORM-1/8.2.e")
@every_kind
async def test_what_earlier_ones_did_stays_when_a_later_one_raises_or_cancels(kind: TransformerType) -> None:
    def write(artifact: Any, ctx: Ctx) -> Any:
        ctx.set("first.note", "kept")
        ctx.session = ctx.session.replace(persona_id="butler")
        ctx.emit("test.note")
        return artifact

    def fail(artifact: Any, ctx: Ctx) -> Any:
        raise ValueError

    rig = Rig(
        kind,
        link(kind, "a", write, priority=1),
        link(kind, "b", fail, priority=2),
        link(kind, "c", stop_with("other"), priority=3),
    )
    flow = await rig.run()
    assert flow.context["first.note"] == "kept"
    assert flow.session.persona_id == "butler"
    assert [message.type for message in rig.emitted] == ["test.note"]
    assert flow.cancelled


@pytest.mark.spec("TRANSFORM-1/7.i")
@pytest.mark.spec("TRANSFORM-1/7.1.a")
async def test_everyone_reads_the_session_as_it_is_at_that_moment(assistant: MakeAssistant) -> None:
    seen: list[Any] = []

    def detect(utterances: list[str], ctx: Ctx) -> list[str]:
        ctx.session = ctx.session.replace(detected_lang="de-DE", lang="de-DE")
        return utterances

    def look(ctx: Ctx) -> None:
        seen.append(ctx.session.detected_lang)

    plugins = (transformer("utterance", "detect", detect), transformer("metadata", "look", look), declines("m", seen))
    settings = {"assistant": {"langs": ["de-DE"], "pipeline": ["m"]}}
    async with assistant(*plugins, settings=settings) as hark:
        await hark.hears("hallo", session=Session("x", lang="en-US"))
    assert seen[0] == "de-DE"
    assert seen[1][1] == "de-DE"
    assert seen[1][2].lang == "de-DE"


# §8: cancellation.


def stop_with(reason: str) -> Callable[[Any, Ctx], Any]:
    def stop(artifact: Any, ctx: Ctx) -> Any:
        ctx.cancel(reason)
        return artifact

    return stop


@pytest.mark.spec("TRANSFORM-1/8.a")
@pytest.mark.spec("TRANSFORM-1/9.h")
async def test_nobody_can_cancel_from_outside(assistant: MakeAssistant) -> None:
    forged = {"canceled": True, "cancel_reason": "other", "cancel_by": "nobody"}
    innocent = link("utterance", "innocent")
    async with assistant(innocent, link("dialog", "innocent"), claims()) as hark:
        hark.bus.emit(Message(topics.UTTERANCE_CANCELLED, forged))
        assert await hark.hears("hello", context=forged) == ["hello"]
        for message in turn_of(hark):
            assert not set(forged) & set(message.context)


@pytest.mark.spec("TRANSFORM-1/8.a")
async def test_stale_keys_on_a_response_do_not_cancel_it(assistant: MakeAssistant) -> None:
    forged = {"canceled": True, "cancel_reason": "other", "cancel_by": "nobody"}
    async with assistant(link("dialog", "innocent")) as hark:
        hark.bus.emit(Message(topics.UTTERANCE_SPEAK, {"utterance": "hello"}, forged))
        await settle()
        assert hark.of(topics.UTTERANCE_CANCELLED) == []
    assert [spoken.text for spoken in hark.rendered] == ["hello"]


@pytest.mark.spec("TRANSFORM-1/8.1.b")
@pytest.mark.spec("TRANSFORM-1/8.1.c")
@every_kind
@pytest.mark.parametrize("half", ["canceled", "cancel_reason", "cancel_by"])
async def test_half_a_cancellation_is_a_violation(
    kind: TransformerType, half: str, caplog: pytest.LogCaptureFixture
) -> None:
    def write_half(artifact: Any, ctx: Ctx) -> Any:
        ctx.set(half, True)
        return _own(kind, CHANGED[kind])

    rig = Rig(kind, link(kind, "half", write_half))
    with caplog.at_level(logging.WARNING, "hark.hosting"):
        flow = await rig.run()
    assert not flow.cancelled
    assert (flow.artifact, flow.context) == (ARTIFACTS[kind], {"utterance_id": "turn"})
    assert half in caplog.text


@pytest.mark.spec("TRANSFORM-1/8.1.b")
@every_kind
@pytest.mark.parametrize("reason", ["", None, 7, "half \ud83d"])
async def test_a_cancellation_without_a_reason_in_words_is_a_violation(kind: TransformerType, reason: Any) -> None:
    flow = await Rig(kind, link(kind, "a", stop_with(reason))).run()
    assert not flow.cancelled


@pytest.mark.spec("TRANSFORM-1/8.1.a")
@pytest.mark.spec("TRANSFORM-1/8.1.d")
@pytest.mark.spec("TRANSFORM-1/8.1.e")
@every_kind
@pytest.mark.parametrize("reason", [*CANCEL_REASONS, "  Because I SAY so… ✋ ", "x" * 1000])
async def test_the_reason_is_passed_on_as_it_was_given(kind: TransformerType, reason: str) -> None:
    flow = await Rig(kind, link(kind, "a", stop_with(reason))).run()
    assert flow.context["cancel_reason"] == reason
    assert flow.context["canceled"] is True


@pytest.mark.spec("TRANSFORM-1/8.1.g")
@every_kind
async def test_who_cancelled_is_known_to_the_frame_alone(kind: TransformerType) -> None:
    def blame(artifact: Any, ctx: Ctx) -> Any:
        with pytest.raises(PermissionError):
            ctx.set("cancel_by", "somebody else")
        ctx.cancel("other")
        return artifact

    flow = await Rig(kind, link(kind, "culprit", blame)).run(context={"cancel_by": "forged earlier"})
    assert flow.context["cancel_by"] == "culprit"


@pytest.mark.spec("TRANSFORM-1/8.1.h")
@pytest.mark.spec("TRANSFORM-1/8.1.i")
@pytest.mark.spec("TRANSFORM-1/9.a")
@every_kind
async def test_a_cancellation_ends_the_chain_whatever_the_artifact(kind: TransformerType) -> None:
    calls: list[str] = []

    def change_and_stop(artifact: Any, ctx: Ctx) -> Any:
        calls.append("stop")
        ctx.cancel("other")
        return _own(kind, CHANGED[kind])

    rig = Rig(
        kind,
        link(kind, "a", noting(calls, "a"), priority=1),
        link(kind, "b", change_and_stop, priority=2),
        link(kind, "c", noting(calls, "c"), priority=3),
    )
    flow = await rig.run()
    assert calls == ["a", "stop"]
    assert (flow.cancelled, flow.context["cancel_by"]) == (True, "b")


@pytest.mark.spec("TRANSFORM-1/8.1.j")
@pytest.mark.spec("TRANSFORM-1/8.2.c")
@pytest.mark.spec("TRANSFORM-1/8.2.d")
@entry_kind
async def test_nothing_that_has_not_begun_begins(assistant: MakeAssistant, kind: Any) -> None:
    calls: list[str] = []
    later = {"utterance": ["metadata", "intent", "dialog"], "metadata": ["intent", "dialog"], "intent": ["dialog"]}
    links = [link(other, "later", noting(calls, other)) for other in later[kind]]
    seen: list[Any] = []
    plugins = (declines("first", seen), claims(handler=lambda turn: calls.append("handler")))
    async with assistant(link(kind, "stopper", stop_with("other")), *links, *plugins) as hark:
        await hark.hears("hello")
        assert public(turn_of(hark)) == CANCELLED
    assert calls == []
    assert len(seen) == (kind == "intent")


@pytest.mark.spec("TRANSFORM-1/8.1.k")
@pytest.mark.spec("TRANSFORM-1/8.2.a")
@pytest.mark.spec("TRANSFORM-1/8.2.b")
@pytest.mark.spec("TRANSFORM-1/9.i")
@entry_kind
async def test_both_ends_carry_who_cancelled_and_why(assistant: MakeAssistant, kind: Any) -> None:
    async with assistant(link(kind, "stopper", stop_with("parental_control")), claims()) as hark:
        await hark.hears("hello", session="x")
        cancelled, handled = turn_of(hark)
    assert cancelled.data == {"cancel_reason": "parental_control", "cancel_by": "stopper"}
    for message in (cancelled, handled):
        assert message.context["canceled"] is True
        assert message.context["cancel_reason"] == "parental_control"
        assert message.context["cancel_by"] == "stopper"
        assert message.session_id == "x"
    derived = handled.reply("test.note")
    assert derived.context["cancel_by"] == "stopper"


@pytest.mark.spec("TRANSFORM-1/8.2.d")
async def test_a_match_that_was_cancelled_leaves_no_active_handler_and_keeps_what_the_engine_wrote(
    assistant: MakeAssistant,
) -> None:
    def match(utterances: Any, lang: str, session: Session) -> Match:
        return Match("m", "go", lang, utterances[0], updated_session=session.replace(persona_id="butler"))

    async with assistant(link("intent", "stopper", stop_with("other")), matcher("m", match, go=echo)) as hark:
        await hark.hears("hello", session="x")
        session = turn_of(hark)[-1].session
    assert session.active_handlers == ()
    assert session.persona_id == "butler"


@pytest.mark.spec("TRANSFORM-1/8.2.a")
async def test_a_cancelled_inner_turn_does_not_cancel_the_outer_one(assistant: MakeAssistant) -> None:
    def stop(utterances: list[str], ctx: Ctx) -> list[str]:
        if utterances == ["never mind"]:
            ctx.cancel("stop_word")
        return utterances

    async def handler(turn: Turn) -> str:
        turn.emit(topics.UTTERANCE_HANDLE, {"utterances": ["never mind"]})
        await settle()
        return "still here"

    async with assistant(transformer("utterance", "stop", stop), claims(handler=handler)) as hark:
        assert await hark.hears("hello", session="x") == ["still here"]
        assert len(hark.of(topics.UTTERANCE_CANCELLED)) == 1
        inner, outer = hark.of(topics.UTTERANCE_HANDLED)
    assert "canceled" in inner.context
    assert "canceled" not in outer.context


# The two kinds that work on what is said back (ruling R1).


@pytest.mark.spec("TRANSFORM-1/8.1.j")
@pytest.mark.spec("TRANSFORM-1/8.2.b")
async def test_a_cancelled_response_is_announced_and_dropped_alone(assistant: MakeAssistant) -> None:
    async def handler(turn: Turn) -> None:
        await turn.speak("one")
        await turn.speak("two")

    def hush(text: str, ctx: Ctx) -> str:
        if text == "one":
            ctx.cancel("parental_control")
        return text

    async with assistant(transformer("dialog", "hush", hush), claims(handler=handler)) as hark:
        assert await hark.hears("go", session="x") == ["two"]
        [cancelled] = hark.of(topics.UTTERANCE_CANCELLED)
        assert cancelled.data == {"cancel_reason": "parental_control", "cancel_by": "hush"}
        assert cancelled.session_id == "x"
        assert len(hark.of(topics.UTTERANCE_HANDLED)) == 1
        assert len(hark.of(topics.HANDLER_COMPLETE)) == 1


def test_a_registry_of_one_kind_knows_nothing_of_the_others() -> None:
    registries = {kind: Registry[Any](f"{kind} transformer") for kind in SIX}
    for kind in SIX:
        registries[kind].add(link(kind, f"only-{kind}", unchanged))
    assert all(len(registry) == 1 for registry in registries.values())


# §6: asking what is loaded.


async def listed(hark: Any, kind: TransformerType) -> dict[str, Any]:
    query = Message(topics.transformer_list(kind), {}, {"source": "me", "destination": "hark"})
    answer = await ask(hark.bus, hark.clock, query)
    assert answer.type == f"ovos.transformer.{kind}.list.response"
    assert (answer.context["source"], answer.context["destination"]) == ("hark", "me")
    return dict(answer.data)


@pytest.mark.spec("TRANSFORM-1/6.a")
@pytest.mark.spec("TRANSFORM-1/6.b")
@pytest.mark.spec("TRANSFORM-1/6.c")
@every_kind
async def test_who_asks_is_told_what_is_loaded_and_its_priorities(
    assistant: MakeAssistant, kind: TransformerType
) -> None:
    links = [link(kind, "b", priority=7), link(kind, "a", priority=90), link(kind, "bad id", priority=1)]
    settings = {"transformers": {kind: ["a"]}}
    async with assistant(*links, settings=settings) as hark:
        answer = await listed(hark, kind)
    assert set(answer) == {"loaded", "priorities"}
    assert sorted(answer["loaded"]) == ["a", "b"], "what is loaded, not what would run"
    assert answer["priorities"] == {"a": 90, "b": 7}


@pytest.mark.spec("TRANSFORM-1/6.d")
@every_kind
async def test_a_chain_with_nothing_in_it_says_so(assistant: MakeAssistant, kind: TransformerType) -> None:
    async with assistant() as hark:
        assert await listed(hark, kind) == {"loaded": (), "priorities": {}}


@pytest.mark.one_worker  # each process says what it has loaded
@pytest.mark.spec("TRANSFORM-1/6.g")
@every_kind
async def test_what_is_loaded_is_announced_once_at_the_start(assistant: MakeAssistant, kind: TransformerType) -> None:
    async with assistant(link(kind, "a", priority=3)) as hark:
        [announced] = hark.of(f"ovos.transformer.{kind}.list.response")
        assert announced.data == {"loaded": ("a",), "priorities": {"a": 3}}


@pytest.mark.spec("TRANSFORM-1/6.c")
async def test_a_transformer_that_did_not_start_is_not_listed(assistant: MakeAssistant) -> None:
    async def fail() -> None:
        raise ValueError("no licence")

    broken = link("dialog", "broken")
    broken.start = fail  # type: ignore[method-assign]
    async with assistant(broken, link("dialog", "fine")) as hark:
        assert (await listed(hark, "dialog"))["loaded"] == ("fine",)


# What transformers and producers make of it.


@pytest.mark.spec("TRANSFORM-1/3.0.d")
async def test_a_transformer_that_is_told_no_language_may_look_into_the_session(assistant: MakeAssistant) -> None:
    def greet(text: str, ctx: Ctx) -> str:
        return f"{text} ({ctx.lang or ctx.session.output_lang})"

    async def handler(turn: Turn) -> None:
        turn.emit(topics.UTTERANCE_SPEAK, {"utterance": "olá"})

    async with assistant(transformer("dialog", "greet", greet), claims(handler=handler)) as hark:
        assert await hark.hears("go", session=Session("x", output_lang="pt-PT")) == ["olá (pt-PT)"]


@pytest.mark.spec("TRANSFORM-1/1.3.d")
@every_kind
async def test_a_message_a_transformer_changed_and_sent_on_names_it_last(
    assistant: MakeAssistant, kind: TransformerType
) -> None:
    plugin = link(kind, "relay")
    async with assistant(plugin) as hark:
        came = Message("test.note", {"n": 1}, {stamp_key(kind): ["earlier"]}, Session("x"))
        plugin.host.send(came.forward("test.note.changed", {"n": 2}))
        await settle()
        [sent] = hark.of("test.note.changed")
    assert sent.context[stamp_key(kind)] == ("earlier", "relay")
    assert sent.session_id == "x"


@pytest.mark.spec("TRANSFORM-1/5.1.c")
@pytest.mark.spec("TRANSFORM-1/5.2.d")
@pytest.mark.spec("PIPELINE-1/5.2.e")
def test_an_empty_list_is_left_out_of_a_session_that_is_sent() -> None:
    names = [f"{kind}_transformers" for kind in SIX]
    names += [f"blacklisted_{name}" for name in (*names, "skills", "intents", "pipelines")]
    session = Session("x", **{name: [] for name in names})
    assert session.wire() == {"session_id": "x"}
    assert Session("x", **{name: ["a"] for name in names}).replace(**{name: [] for name in names}) == session
