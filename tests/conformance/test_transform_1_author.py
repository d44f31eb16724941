"""OVOS-TRANSFORM-1 as the author of a plugin meets it: whole turns, in odd combinations, over the public surface."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from hark.plugins import (
    Audio,
    AudioTransformer,
    Ctx,
    DialogTransformer,
    IntentTransformer,
    Match,
    Message,
    MetadataTransformer,
    PipelinePlugin,
    Session,
    Transformer,
    TTSTransformer,
    Turn,
    UtteranceTransformer,
    handles,
)
from hark.spec import TransformerType, stamp_key, topics
from hark.testing import Assistant, settle
from hark.testing.voice.assistant import VoiceAssistant
from hark.testing.voice.input import Scene

SIX: tuple[TransformerType, ...] = ("audio", "utterance", "metadata", "intent", "dialog", "tts")
TEXT = SIX[1:5]
BEFORE = SIX[1:4]
"""The chains that a typed utterance passes before its handler."""

_BASES: dict[str, Any] = {
    "audio": AudioTransformer,
    "utterance": UtteranceTransformer,
    "metadata": MetadataTransformer,
    "intent": IntentTransformer,
    "dialog": DialogTransformer,
    "tts": TTSTransformer,
}

Step = Callable[[Any, Ctx], Any]


def plugin(kind: str, plugin_id: str, step: Step, *, priority: int = 50, quick: bool = True) -> Transformer:
    """A transformer of any kind, as an author would write it; in the metadata chain `step` gets None."""

    base = _BASES[kind]

    class Made(base):  # type: ignore[misc,valid-type]
        id = plugin_id

        def transform(self, *given: Any) -> Any:
            *artifact, ctx = given
            return step(artifact[0] if artifact else None, ctx)

    Made.priority, Made.quick = priority, quick
    return Made()


def same(artifact: Any, ctx: Ctx) -> Any:
    return artifact


def noting(calls: list[str], who: str) -> Step:
    def step(artifact: Any, ctx: Ctx) -> Any:
        calls.append(who)
        return artifact

    return step


class Echo(PipelinePlugin):
    """Claims everything, and says what it was told."""

    id = "echo"
    quick = True

    def match(self, utterances: Sequence[str], lang: str, session: Session) -> Match | None:
        return Match("echo", "go", lang, utterances[0], {"word": "one"})

    @handles("go")
    async def go(self, turn: Turn) -> None:
        await turn.speak(turn.utterance)


class Spy(Echo):
    """As `Echo`, and notes what it was given."""

    def __init__(self) -> None:
        self.rounds: list[tuple[tuple[str, ...], str, Session]] = []
        self.turns: list[Turn] = []

    def match(self, utterances: Sequence[str], lang: str, session: Session) -> Match | None:
        self.rounds.append((tuple(utterances), lang, session))
        return super().match(utterances, lang, session)

    @handles("go")
    async def go(self, turn: Turn) -> None:
        self.turns.append(turn)
        await turn.speak(turn.utterance)


def markers(hark: Any) -> list[str]:
    ends = (topics.INTENT_UNMATCHED, topics.UTTERANCE_CANCELLED, topics.UTTERANCE_HANDLED)
    return [one.type for one in hark.messages if one.type in ends]


PIPELINE = {"assistant": {"pipeline": ["echo"]}}
CANCELLED = [topics.UTTERANCE_CANCELLED, topics.UTTERANCE_HANDLED]
UNMATCHED = [topics.INTENT_UNMATCHED, topics.UTTERANCE_HANDLED]
HANDLED = [topics.UTTERANCE_HANDLED]


async def _heard(kind: str, *plugins: Any, **session: Any) -> Any:
    """An assistant after one turn that passed the chain of `kind`: spoken for audio and tts, typed otherwise."""
    if kind in ("audio", "tts"):
        async with VoiceAssistant(Echo(), *plugins, settings=PIPELINE) as voiced:
            await voiced.hears(Scene().says("hello"))
        return voiced
    async with Assistant(Echo(), *plugins) as typed:
        await typed.hears("hello", session=Session("probe", **session))
    return typed


# All six chains in a whole turn.


@pytest.mark.spec("TRANSFORM-1/2.d")
async def test_the_six_chains_run_once_each_and_in_order_in_a_spoken_turn() -> None:
    calls: list[str] = []
    members = [plugin(kind, "probe", noting(calls, kind)) for kind in reversed(SIX)]
    async with VoiceAssistant(Echo(), *members, settings=PIPELINE) as hark:
        await hark.hears(Scene().says("hello"))
    assert calls == list(SIX)


@pytest.mark.spec("TRANSFORM-1/1.3.e")
async def test_the_stamps_of_all_chains_so_far_are_on_what_is_spoken() -> None:
    seen: dict[str, Any] = {}

    def note(artifact: Any, ctx: Ctx) -> Any:
        seen.update({key: ctx.get(key) for key in ctx if key.endswith("_transformer_ids")})
        return artifact

    others = [plugin(kind, f"{kind}.probe", same) for kind in SIX]
    await _heard("tts", *others, plugin("tts", "last", note, priority=60))
    assert seen == {stamp_key(kind): [f"{kind}.probe"] for kind in SIX}


@pytest.mark.spec("TRANSFORM-1/8.2.a")
@pytest.mark.parametrize("kind", SIX)
async def test_a_cancellation_in_any_chain_is_reported_once_with_who_and_why(kind: TransformerType) -> None:
    def stop(artifact: Any, ctx: Ctx) -> Any:
        ctx.cancel("parental_control")
        return artifact

    after: list[str] = []
    hark = await _heard(kind, plugin(kind, "stopper", stop), plugin(kind, "later", noting(after, "later"), priority=60))
    [cancelled] = hark.of(topics.UTTERANCE_CANCELLED)
    assert cancelled.data == {"cancel_reason": "parental_control", "cancel_by": "stopper"}
    assert cancelled.context["canceled"] is True
    assert cancelled.context[stamp_key(kind)] == ("stopper",)
    assert not after
    assert len(hark.of(topics.UTTERANCE_HANDLED)) == (0 if kind == "audio" else 1)
    if kind in BEFORE:
        assert markers(hark) == CANCELLED
        assert hark.of(topics.UTTERANCE_HANDLED)[0].context["cancel_by"] == "stopper"
    assert not hark.of(topics.INTENT_UNMATCHED)


@pytest.mark.spec("TRANSFORM-1/7.a")
@pytest.mark.spec("TRANSFORM-1/7.d")
@pytest.mark.parametrize("quick", [True, False], ids=["inline", "worker"])
@pytest.mark.parametrize("kind", SIX)
async def test_a_chain_of_every_misdeed_does_the_same_as_none(kind: TransformerType, quick: bool) -> None:
    """Each writes all it can before it fails: nothing of it is left."""

    def spoiled(ending: Callable[[], Any]) -> Step:
        def step(artifact: Any, ctx: Ctx) -> Any:
            ctx.set("spoiled", True)
            ctx.session = ctx.session.replace(site_id="spoiled")
            ctx.remember("spoiled")
            ctx.for_this_turn(persona_id="spoiled")
            ctx.emit("probe.spoiled")
            ctx.reply("probe.spoiled")
            ctx.cancel("other")
            if isinstance(artifact, list):
                artifact.append("spoiled")
            return ending()

        return step

    def leaves() -> Any:
        raise SystemExit(3)

    def raises() -> Any:
        raise LookupError("spoiled")

    endings = (raises, leaves, object, lambda: 5, lambda: [None], lambda: b"spoiled", lambda: ["a", 5], dict)
    bad = [plugin(kind, f"bad{n}", spoiled(one), priority=n + 1, quick=quick) for n, one in enumerate(endings)]
    seen: dict[str, Any] = {}

    def look(artifact: Any, ctx: Ctx) -> Any:
        seen.update(artifact=artifact, keys=set(ctx), session=ctx.session)
        return artifact

    hark = await _heard(kind, *bad, plugin(kind, "good", look, priority=90))
    assert not hark.of("probe.spoiled")
    assert not hark.of(topics.UTTERANCE_CANCELLED)
    assert "spoiled" not in seen["keys"]
    assert "spoiled" not in str(seen["session"])
    assert "spoiled" not in str(seen["artifact"])
    assert markers(hark) == HANDLED
    assert hark.of(topics.UTTERANCE_SPEAK)[0].context.get(stamp_key(kind), ()) == (
        ("good",) if kind not in ("dialog", "tts") else ()
    )


@pytest.mark.spec("TRANSFORM-1/7.d")
@pytest.mark.parametrize("kind", ["audio", "utterance", "intent", "dialog", "tts"])
async def test_nothing_returned_is_no_result(kind: TransformerType) -> None:
    hark = await _heard(kind, plugin(kind, "silent", lambda artifact, ctx: None))
    assert hark.of(topics.UTTERANCE_SPEAK)[0].data["utterance"] == "hello"
    assert markers(hark) == HANDLED


@pytest.mark.spec("TRANSFORM-1/7.a")
@pytest.mark.parametrize("kind", TEXT)
async def test_one_that_is_late_counts_for_nothing_also_when_it_returns_after_all(kind: TransformerType) -> None:
    begun, go_on, base = asyncio.Event(), asyncio.Event(), _BASES[kind]

    class Slow(base):  # type: ignore[misc,valid-type]
        id = "slow"

        async def transform(self, *given: Any) -> Any:
            *_, ctx = given
            begun.set()
            try:
                await go_on.wait()
            finally:
                ctx.set("late", True)
                ctx.session = ctx.session.replace(site_id="late")
                ctx.cancel("other")
                ctx.emit("probe.late")

    settings = {"limits": {"transformer": 2.0}}
    async with Assistant(Echo(), Slow(), plugin(kind, "after", same, priority=60), settings=settings) as hark:
        turn = hark.say("hello", session="probe")
        await begun.wait()
        await hark.clock.advance(2.1)
        await turn.over.wait()
        go_on.set()
        await hark.clock.advance(1.0)
        assert turn.spoken == ["hello"]
        assert not hark.of("probe.late")
        assert markers(hark) == HANDLED
        assert "late" not in str(hark.of(topics.UTTERANCE_HANDLED)[0])


# Order, preference and denial.


@pytest.mark.spec("TRANSFORM-1/4.c")
@pytest.mark.parametrize("kind", TEXT)
async def test_ties_of_own_and_configured_priorities_keep_the_order_of_loading(kind: TransformerType) -> None:
    calls: list[str] = []
    names = ["c", "a", "d", "b"]
    members = [plugin(kind, name, noting(calls, name), priority=number) for number, name in enumerate(names, 20)]
    settings = {"transformer": {kind: {name: {"priority": 7} for name in names[1:]}}}
    async with Assistant(Echo(), *members, settings=settings) as hark:
        for _ in range(3):
            await hark.hears("hello")
    assert calls == ["a", "d", "b", "c"] * 3


@pytest.mark.spec("TRANSFORM-1/5.2.a")
@pytest.mark.spec("TRANSFORM-1/5.3.a")
@pytest.mark.parametrize("kind", TEXT)
async def test_the_deployers_denials_and_those_of_the_session_add_up(kind: TransformerType) -> None:
    calls: list[str] = []
    members = [plugin(kind, name, noting(calls, name)) for name in "abcd"]
    settings = {"deny": {f"{kind}_transformers": ["a"]}, "transformers": {kind: ["a", "b", "c"]}}
    session = {f"{kind}_transformers": ["d", "ghost", "a", "c", "b", "d"], f"blacklisted_{kind}_transformers": ["b"]}
    async with Assistant(Echo(), *members, settings=settings) as hark:
        await hark.hears("hello", session=Session("one", **session))
        await hark.hears("hello", session=Session("two"))
    assert calls == ["d", "c", "b", "c"]


@pytest.mark.spec("TRANSFORM-1/5.3.b")
@pytest.mark.parametrize("kind", TEXT)
async def test_a_session_that_asks_for_what_is_not_loaded_gets_an_empty_chain_and_no_error(kind: str) -> None:
    calls: list[str] = []
    hark = await _heard(kind, plugin(kind, "a", noting(calls, "a")), **{f"{kind}_transformers": ["ghost", "no such"]})
    assert not calls
    assert markers(hark) == HANDLED


@pytest.mark.spec("TRANSFORM-1/1.1.a")
async def test_two_chains_with_one_id_have_a_priority_settings_and_denials_of_their_own() -> None:
    calls: list[str] = []
    members = [plugin(kind, "same", noting(calls, kind)) for kind in TEXT]
    before = plugin("utterance", "before", noting(calls, "before"), priority=40)
    settings = {"transformer": {"utterance": {"same": {"priority": 1}}}}
    async with Assistant(Echo(), *members, before, settings=settings) as hark:
        await hark.hears("hello", session=Session("one", blacklisted_metadata_transformers=["same"]))
    assert calls == ["utterance", "before", "intent", "dialog"]


# What one chain says about the later ones.


@pytest.mark.spec("TRANSFORM-1/3.3.b")
@pytest.mark.parametrize("kind", ["intent", "dialog"])
async def test_metadata_chooses_a_later_chain_of_this_utterance_alone(kind: TransformerType) -> None:
    calls: list[str] = []

    def choose(_nothing: Any, ctx: Ctx) -> None:
        if ctx.get("choose"):
            ctx.for_this_turn(**{f"{kind}_transformers": ["b", "a"]})

    members = [plugin(kind, name, noting(calls, name)) for name in "abc"]
    async with Assistant(Echo(), plugin("metadata", "chooser", choose), *members) as hark:
        await hark.hears("hello", session="probe", context={"choose": True})
        await hark.hears("hello", session="probe")
        await hark.hears("hello", session="other")
    assert calls == ["b", "a", *"abc", *"abc"]


@pytest.mark.spec("TRANSFORM-1/3.3.b")
async def test_metadata_can_deny_a_later_chain_but_never_allow_what_was_denied() -> None:
    calls: list[str] = []

    def deny(_nothing: Any, ctx: Ctx) -> None:
        ctx.session = ctx.session.replace(blacklisted_dialog_transformers=["b"])

    members = [plugin("dialog", name, noting(calls, name)) for name in "abc"]
    async with Assistant(Echo(), plugin("metadata", "denier", deny), *members) as hark:
        await hark.hears("hello", session=Session("probe", blacklisted_dialog_transformers=["a"]))
    assert calls == ["c"]


@pytest.mark.spec("TRANSFORM-1/7.i")
async def test_what_holds_for_this_turn_is_seen_by_all_and_kept_by_none() -> None:
    spy = Spy()

    def spanish(utterances: list[str], ctx: Ctx) -> list[str]:
        ctx.for_this_turn(site_id="kitchen", lang="es-ES")
        return utterances

    langs = {"assistant": {"langs": ["es-ES"]}}
    async with Assistant(spy, plugin("utterance", "spanish", spanish), settings=langs) as hark:
        await hark.hears("hola", session=Session("probe", site_id="attic"))
        [end] = hark.of(topics.UTTERANCE_HANDLED)
    [(_, lang, session)] = spy.rounds
    assert (lang, session.site_id) == ("es-ES", "kitchen")
    assert spy.turns[0].session.site_id == "kitchen"
    assert end.session is not None
    assert (end.session.site_id, end.session.lang) == ("attic", None)


@pytest.mark.spec("TRANSFORM-1/3.4.f")
@pytest.mark.parametrize("change", [{"intent_name": "other"}, {"skill_id": "other"}])
async def test_an_intent_transformer_that_changes_who_answers_loses_all_it_did(change: dict[str, str]) -> None:
    spy = Spy()

    def rogue(match: Match, ctx: Ctx) -> Match:
        ctx.set("rogue", True)
        ctx.remember("rogue", "yes", shared=True)
        ctx.emit("probe.rogue")
        return match.with_slots(rogue="yes").replace(**change)

    def honest(match: Match, ctx: Ctx) -> Match:
        return match.with_slots(honest="yes")

    members = (plugin("intent", "rogue", rogue), plugin("intent", "honest", honest, priority=60))
    async with Assistant(spy, *members) as hark:
        assert await hark.hears("hello") == ["hello"]
        [called] = hark.of("echo:go")
    assert called.data["slots"] == {"word": "one", "honest": "yes"}
    assert called.context[stamp_key("intent")] == ("honest",)
    assert "rogue" not in called.context
    assert not hark.of("probe.rogue")
    assert not spy.turns[0].session.intent_context


# Languages.


@pytest.mark.spec("TRANSFORM-1/3.0.c")
@pytest.mark.spec("TRANSFORM-1/3.0.g")
@pytest.mark.parametrize("stated", [None, "de-DE"])
@pytest.mark.parametrize(("steps", "left"), [
    (["fr-FR", None], None), ([None, "fr-FR"], "fr-FR"), (["fr-FR", "es-ES"], "es-ES"), ([None], None),
])  # fmt: skip
async def test_the_last_language_of_the_chain_is_that_of_the_utterance(
    stated: str | None, steps: list[str | None], left: str | None
) -> None:
    given: list[str | None] = []

    def setting(lang: str | None) -> Step:
        def step(utterances: list[str], ctx: Ctx) -> list[str]:
            given.append(ctx.lang)
            ctx.lang = lang
            return utterances

        return step

    members = [plugin("utterance", f"s{n}", setting(lang), priority=n + 1) for n, lang in enumerate(steps)]
    seen: list[str | None] = []
    look = plugin("metadata", "look", lambda _nothing, ctx: seen.append(ctx.lang))
    session = Session("probe", lang="it-IT", stt_lang="nl-NL", detected_lang="pt-PT", request_lang="sv-SE")
    async with Assistant(Echo(), *members, look) as hark:
        await hark.hears("hello", lang=stated, session=session)
    assert given == [stated, *steps[:-1]]
    assert seen == [left]


@pytest.mark.spec("TRANSFORM-1/3.0.e")
async def test_a_dialog_transformer_that_withdraws_the_language_leaves_none_for_the_tts_chain() -> None:
    seen: list[str | None] = []

    def withdraw(text: str, ctx: Ctx) -> str:
        ctx.lang = None
        return text

    def look(audio: Audio, ctx: Ctx) -> Audio:
        seen.append(ctx.lang)
        return audio

    await _heard("tts", plugin("dialog", "withdraw", withdraw), plugin("tts", "look", look))
    assert seen == [None]


# Empty lists of utterances.


@pytest.mark.spec("TRANSFORM-1/3.2.c")
@pytest.mark.spec("TRANSFORM-1/3.2.d")
@pytest.mark.parametrize("quick", [True, False], ids=["inline", "worker"])
async def test_an_emptied_list_reaches_no_further_utterance_transformer_and_no_matcher(quick: bool) -> None:
    calls: list[str] = []
    spy = Spy()
    members = (
        plugin("utterance", "emptying", lambda utterances, ctx: [], quick=quick),
        plugin("utterance", "later", noting(calls, "later"), priority=60, quick=quick),
        plugin("metadata", "meta", noting(calls, "meta"), quick=quick),
    )
    members[2].transform = lambda ctx: calls.append("meta")  # type: ignore[attr-defined]
    async with Assistant(spy, *members) as hark:
        assert await hark.hears("hello", session="probe") == []
    assert calls == ["meta"]
    assert not spy.rounds
    assert markers(hark) == UNMATCHED
    assert hark.of(topics.INTENT_UNMATCHED)[0].context[stamp_key("utterance")] == ("emptying",)


@pytest.mark.spec("TRANSFORM-1/3.2.e")
async def test_an_emptied_list_with_a_cancellation_is_a_cancellation() -> None:
    def empty(utterances: list[str], ctx: Ctx) -> list[str]:
        ctx.cancel("transcription_invalid")
        utterances.clear()
        return utterances

    hark = await _heard("utterance", plugin("utterance", "emptying", empty))
    assert markers(hark) == CANCELLED


# What a context cannot be made to say.


@pytest.mark.spec("TRANSFORM-1/8.1.g")
@pytest.mark.spec("TRANSFORM-1/1.3.h")
@pytest.mark.parametrize("key", [
    "canceled", "cancel_reason", "cancel_by", "session", "utterance_id", "hark_client", "hark_anything",
    *(f"{kind}_transformer_ids" for kind in SIX),
])  # fmt: skip
@pytest.mark.parametrize("kind", BEFORE)
async def test_reserved_keys_are_refused_and_the_attempt_is_a_failure(kind: TransformerType, key: str) -> None:
    def forge(artifact: Any, ctx: Ctx) -> Any:
        ctx.set("mine", 1)
        ctx.set(key, ["forged"])
        return artifact

    def unset(artifact: Any, ctx: Ctx) -> Any:
        ctx.unset(key)
        return artifact

    hark = await _heard(kind, plugin(kind, "forger", forge), plugin(kind, "remover", unset))
    assert markers(hark) == HANDLED
    [end] = hark.of(topics.UTTERANCE_HANDLED)
    assert "forged" not in str(end)
    assert "mine" not in end.context
    assert stamp_key(kind) not in end.context


@pytest.mark.spec("TRANSFORM-1/8.1.k")
async def test_keys_of_a_cancellation_that_came_with_the_utterance_are_no_ones_cancellation() -> None:
    context = {"canceled": True, "cancel_reason": "other", "cancel_by": "nobody"}
    async with Assistant(Echo(), *(plugin(kind, "innocent", same) for kind in TEXT)) as hark:
        assert await hark.hears("hello", context=context) == ["hello"]
    assert markers(hark) == HANDLED
    assert not {"canceled", "cancel_by"} & set(hark.of(topics.UTTERANCE_HANDLED)[0].context)


@pytest.mark.spec("TRANSFORM-1/9.g")
@pytest.mark.parametrize("kind", TEXT)
async def test_what_is_emitted_before_a_cancellation_is_sent_and_names_its_author(kind: TransformerType) -> None:
    def stop(artifact: Any, ctx: Ctx) -> Any:
        ctx.emit("probe.note", {"n": [1, {"a": None}]})
        ctx.reply("probe.answer")
        ctx.cancel("other")
        return artifact

    async with Assistant(Echo(), plugin(kind, "stopper", stop)) as hark:
        await hark.hears("hello", context={"source": "phone", "destination": "hark"})
    [note], [answer] = hark.of("probe.note"), hark.of("probe.answer")
    assert note.context[stamp_key(kind)][-1] == answer.context[stamp_key(kind)][-1] == "stopper"
    assert note.data == {"n": (1, {"a": None})}
    assert {answer.context.get("source"), answer.context.get("destination")} == {"phone", "hark"}
    if kind != "dialog":
        assert (answer.context["source"], answer.context["destination"]) == ("hark", "phone")


@pytest.mark.spec("TRANSFORM-1/8.a")
@pytest.mark.parametrize("topic", [
    topics.UTTERANCE_CANCELLED, topics.UTTERANCE_HANDLED, topics.INTENT_UNMATCHED, topics.INTENT_MATCHED, "echo:go",
    topics.HANDLER_START, "hark.dispatch.done", "",
])  # fmt: skip
@pytest.mark.parametrize("kind", TEXT)
async def test_no_transformer_ends_or_answers_a_turn_by_a_message(kind: TransformerType, topic: str) -> None:
    def forge(artifact: Any, ctx: Ctx) -> Any:
        ctx.set("mine", 1)
        ctx.emit(topic, {"cancel_reason": "other", "cancel_by": "x"})
        return artifact

    async with Assistant(Echo(), plugin(kind, "forger", forge)) as hark:
        assert await hark.hears("hello") == ["hello"]
    assert markers(hark) == HANDLED
    assert len(hark.of("echo:go")) == len(hark.of(topics.HANDLER_START)) == 1


# The intent context and the session.


@pytest.mark.spec("TRANSFORM-1/9.c")
@pytest.mark.parametrize("kind", BEFORE)
async def test_what_is_remembered_lasts_as_many_utterances_as_it_says(kind: TransformerType) -> None:
    recalled: list[list[str]] = []
    keys = ("once", "twice", "brief", "lasting")

    def remember(artifact: Any, ctx: Ctx) -> Any:
        if not recalled:
            ctx.remember("once", turns=1)
            ctx.remember("twice", "2", turns=2)
            ctx.remember("brief", seconds=30)
            ctx.remember("lasting", shared=True)
            ctx.remember("theirs", skill_id="echo")
        known = [key for key in keys if ctx.recall(key, shared=key == "lasting")]
        recalled.append(known)
        assert ctx.recall("theirs", skill_id="echo")
        assert ctx.recall("theirs") is None
        return artifact

    async with Assistant(Echo(), plugin(kind, "keeper", remember)) as hark:
        await hark.hears("one", session="probe")
        await hark.hears("two", session="probe")
        await hark.clock.advance(31)
        await hark.hears("three", session="probe")
    # What is remembered before the match round has its first turn in it.
    later = ["once", "twice", "brief", "lasting"] if kind == "intent" else ["twice", "brief", "lasting"]
    assert recalled == [list(keys), [*later], ["twice", "lasting"] if kind == "intent" else ["lasting"]]


@pytest.mark.spec("TRANSFORM-1/7.h")
async def test_a_context_message_counts_at_once_and_is_not_undone_by_a_later_cancellation() -> None:
    seen: list[set[str]] = []

    def tell(utterances: list[str], ctx: Ctx) -> list[str]:
        if utterances == ["first"]:
            ctx.emit("ovos.context.set", {"key": "known", "value": "x", "scope": "shared", "skill_id": "echo"})
        return utterances

    def look(utterances: list[str], ctx: Ctx) -> list[str]:
        seen.append(set(ctx.session.intent_context))
        if utterances == ["first"]:
            ctx.cancel()
        return utterances

    members = (plugin("utterance", "tell", tell), plugin("utterance", "look", look, priority=60))
    async with Assistant(Echo(), *members) as hark:
        await hark.hears("first", session="probe")
        await hark.hears("second", session="probe")
    assert seen[0] == seen[1]
    assert len(seen[0]) == 1


@pytest.mark.spec("TRANSFORM-1/7.f")
async def test_turns_at_once_in_many_sessions_do_not_see_one_another() -> None:
    wrong: list[str] = []

    class Careful(UtteranceTransformer):
        id = "careful"

        async def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
            ctx.set("careful.was", utterances[0])
            ctx.session = ctx.session.replace(site_id=utterances[0])
            await asyncio.sleep(0)
            if ctx.get("careful.was") != utterances[0] or ctx.session.session_id != utterances[0]:
                wrong.append(utterances[0])
            return utterances

    def check(text: str, ctx: Ctx) -> str:
        if not text == ctx.get("careful.was") == ctx.session.site_id == ctx.session.session_id:
            wrong.append(text)
        return text

    async with Assistant(Echo(), Careful(), plugin("dialog", "check", check, quick=False)) as hark:
        turns = [hark.say(f"s{n}", session=f"s{n}") for n in range(40)]
        await asyncio.gather(*(turn.over.wait() for turn in turns))
        assert [turn.spoken for turn in turns] == [[f"s{n}"] for n in range(40)]
    assert not wrong


# Loading, unloading, listing.


async def listed(hark: Any, kind: TransformerType) -> dict[str, Any]:
    hark.bus.emit(Message(topics.transformer_list(kind)))
    await asyncio.sleep(0)
    data: dict[str, Any] = dict(hark.of(f"{topics.transformer_list(kind)}.response")[-1].data)
    return data


@pytest.mark.spec("TRANSFORM-1/6.b")
async def test_each_list_names_its_own_chain_with_the_priorities_in_force() -> None:
    members = [plugin(kind, name, same, priority=n) for kind in SIX for n, name in enumerate("ab", 10)]
    settings = {"transformer": {"dialog": {"a": {"priority": 3}}}, "transformers": {"utterance": ["b"]}}
    async with VoiceAssistant(Echo(), *members, settings=settings) as hark:
        for kind in SIX:
            answer = await listed(hark, kind)
            assert answer["priorities"] == {"a": 3 if kind == "dialog" else 10, "b": 11}
            assert set(answer["loaded"]) == {"a", "b"}


@pytest.mark.spec("TRANSFORM-1/6.c")
async def test_one_that_cannot_start_is_refused_listed_nowhere_and_harms_no_turn() -> None:
    class Broken(DialogTransformer):
        id = "broken"

        async def start(self) -> None:
            raise OSError("no disk")

        def transform(self, text: str, ctx: Ctx) -> str:
            return "broken"

    async with Assistant(Echo(), Broken(), plugin("dialog", "sound", same)) as hark:
        assert await hark.hears("hello") == ["hello"]
        assert (await listed(hark, "dialog"))["loaded"] == ("sound",)
        assert [refusal.name for refusal in hark.runtime.refusals] == ["broken"]


@pytest.mark.spec("TRANSFORM-1/1.a")
@pytest.mark.parametrize("kind", TEXT)
async def test_a_turn_that_is_in_a_chain_when_a_member_goes_ends_as_every_other(kind: TransformerType) -> None:
    calls: list[str] = []
    begun, go_on, base = asyncio.Event(), asyncio.Event(), _BASES[kind]

    class First(base):  # type: ignore[misc,valid-type]
        id = "first"
        priority = 1

        async def transform(self, *given: Any) -> Any:
            begun.set()
            await go_on.wait()
            return given[0] if len(given) > 1 else None

    async with Assistant(Echo(), First(), plugin(kind, "goes", noting(calls, "goes"))) as hark:
        turn = hark.say("hello")
        await begun.wait()
        entry = hark.runtime.transformers[kind].get("goes")
        assert entry is not None
        await hark.runtime.plugin_set.unload(entry)
        go_on.set()
        await turn.over.wait()
        assert turn.spoken == ["hello"]
        assert not calls, "a transformer that was stopped is not called"
        assert await hark.hears("again") == ["again"]
        assert (await listed(hark, kind))["loaded"] == ("first",)
    assert not calls


# What a transformer writes, and how far it goes.


@pytest.mark.spec("TRANSFORM-1/7.d")
@pytest.mark.parametrize("value", [object(), {1, 2}, b"x", float("nan"), {5: "x"}, "\ud800", [[object()]]])
@pytest.mark.parametrize("kind", ["utterance", "metadata", "dialog"])
async def test_what_no_message_can_carry_is_refused_where_it_is_written(kind: TransformerType, value: Any) -> None:
    def write(artifact: Any, ctx: Ctx) -> Any:
        ctx.set("fine", 1)
        ctx.set("mine", value)
        return artifact

    def send(artifact: Any, ctx: Ctx) -> Any:
        ctx.set("fine", 1)
        ctx.emit("probe.note", {"value": value})
        return artifact

    hark = await _heard(kind, plugin(kind, "writer", write), plugin(kind, "sender", send))
    assert markers(hark) == HANDLED
    assert not hark.of("probe.note")
    assert all("fine" not in message.context for message in hark.messages)


@pytest.mark.spec("TRANSFORM-1/3.0.e")
@pytest.mark.parametrize("tag", ["en--US", "e", "en US", "en_US", 5, "", "*"])
@pytest.mark.parametrize("kind", ["utterance", "dialog"])
async def test_what_is_no_language_is_refused_and_the_text_stays(kind: TransformerType, tag: Any) -> None:
    def wrong(artifact: Any, ctx: Ctx) -> Any:
        ctx.lang = tag
        return ["other"] if kind == "utterance" else "other"

    hark = await _heard(kind, plugin(kind, "wrong", wrong))
    assert hark.of(topics.UTTERANCE_SPEAK)[0].data["utterance"] == "hello"


@pytest.mark.spec("TRANSFORM-1/3.3.b")
@pytest.mark.parametrize("kind", BEFORE[:2])
async def test_routing_fields_last_in_a_named_session_and_never_on_the_device(kind: TransformerType) -> None:
    calls: list[str] = []

    def choose(artifact: Any, ctx: Ctx) -> Any:
        if ctx.get("choose"):
            ctx.session = ctx.session.replace(dialog_transformers=["b"], site_id="kitchen")
        return artifact

    members = [plugin("dialog", name, noting(calls, name)) for name in "ab"]
    async with Assistant(Echo(), plugin(kind, "chooser", choose), *members) as hark:
        for session in (None, "named"):
            calls.clear()
            await hark.hears("hello", session=session, context={"choose": True})
            await hark.hears("hello", session=session)
            assert calls == (["b", "a", "b"] if session is None else ["b", "b"])
            last = hark.of(topics.UTTERANCE_HANDLED)[-1].session
            assert last is not None
            assert last.site_id == "kitchen"


@pytest.mark.spec("TRANSFORM-1/3.2.b")
async def test_a_candidate_that_was_added_can_be_the_one_that_is_matched() -> None:
    class Second(Spy):
        def match(self, utterances: Sequence[str], lang: str, session: Session) -> Match | None:
            return super().match(utterances[-1:], lang, session)

    spy = Second()
    expand = plugin("utterance", "expand", lambda utterances, ctx: (*utterances, utterances[0].upper()))
    async with Assistant(spy, expand) as hark:
        assert await hark.hears(["hello", "hullo"]) == ["HELLO"]
    assert hark.of("echo:go")[0].data["utterance"] == "HELLO"


@pytest.mark.spec("TRANSFORM-1/8.2.e")
async def test_a_question_that_was_not_asked_is_not_waited_for() -> None:
    answers: list[Any] = []

    class Asks(Echo):
        @handles("go")
        async def go(self, turn: Turn) -> None:
            if turn.utterance == "ask":
                answers.append(await turn.ask("Which one?", retries=3))
            else:
                await turn.speak(turn.utterance)

    def stop(text: str, ctx: Ctx) -> str:
        if "?" in text:
            ctx.cancel("policy_block")
        return text

    async with Assistant(Asks(), plugin("dialog", "stop", stop)) as hark:
        assert await hark.hears("ask", session="probe") == []
        await settle()
        assert await hark.hears("next", session="probe") == ["next"]
        assert answers == [None]
        assert len(hark.of(topics.UTTERANCE_CANCELLED)) == 1
        assert len(hark.of(topics.UTTERANCE_HANDLED)) == 2


@pytest.mark.spec("TRANSFORM-1/8.2.e")
async def test_of_three_answers_the_cancelled_one_alone_is_not_said() -> None:
    class Talks(Echo):
        @handles("go")
        async def go(self, turn: Turn) -> None:
            for text in ("one", "two", "three"):
                await turn.speak(text, wait=True)

    seen: list[Any] = []

    def second(text: str, ctx: Ctx) -> str:
        seen.append((text, ctx.get("canceled"), ctx.get(stamp_key("dialog"))))
        if text == "two":
            ctx.cancel("other")
        return text

    async with Assistant(Talks(), plugin("dialog", "second", second)) as hark:
        assert await hark.hears("hello") == ["one", "three"]
    assert seen == [("one", None, None), ("two", None, None), ("three", None, None)]


@pytest.mark.spec("TRANSFORM-1/1.3.d")
async def test_what_a_dialog_transformer_holds_for_this_response_is_gone_with_the_next() -> None:
    seen: list[Any] = []

    class Talks(Echo):
        @handles("go")
        async def go(self, turn: Turn) -> None:
            await turn.speak("one", wait=True)
            await turn.speak("two", wait=True)

    def once(text: str, ctx: Ctx) -> str:
        seen.append((ctx.session.site_id, ctx.session.persona_id))
        if text == "one":
            ctx.for_this_turn(site_id="kitchen")
            ctx.session = ctx.session.replace(persona_id="clown")
        return text

    async with Assistant(Talks(), plugin("dialog", "once", once)) as hark:
        await hark.hears("hello")
        await hark.hears("hello")
    assert [site for site, _persona in seen] == [None] * 4
    assert seen[2][1] == "clown", "what lasts is there in the next turn of the device"


@pytest.mark.spec("TRANSFORM-1/9.b")
@pytest.mark.parametrize("kind", TEXT)
async def test_any_way_to_write_transform_that_can_be_called_is_called(kind: TransformerType) -> None:
    calls: list[str] = []
    has_artifact, base = kind != "metadata", _BASES[kind]

    def returned(given: tuple[Any, ...]) -> Any:
        return given[0] if has_artifact else None

    class Stars(base):  # type: ignore[misc,valid-type]
        id = "stars"

        def transform(self, *given: Any) -> Any:
            calls.append(self.id)
            return returned(given)

    class Static(base):  # type: ignore[misc,valid-type]
        id = "static"

        @staticmethod
        def transform(*given: Any, **_more: Any) -> Any:
            calls.append("static")
            return returned(given)

    class Async(base):  # type: ignore[misc,valid-type]
        id = "async"

        async def transform(self, *given: Any) -> Any:
            calls.append(self.id)
            return returned(given)

    class TooMany(base):  # type: ignore[misc,valid-type]
        id = "too-many"

        def transform(self, artifact: Any, ctx: Ctx, more: Any) -> Any:
            return artifact

    async with Assistant(Echo(), Stars(), Static(), Async(), TooMany()) as hark:
        assert await hark.hears("hello") == ["hello"]
        assert [refusal.name for refusal in hark.runtime.refusals] == ["too-many"]
    assert calls == ["stars", "static", "async"]


@pytest.mark.parametrize("kind", TEXT)
async def test_an_essential_one_that_settings_deny_or_that_comes_unwanted_stops_every_turn(kind: str) -> None:
    settings: dict[str, Any] = {
        "transformer": {kind: {"guard": {"essential": True}}}, "transformers": {kind: ["other"]},
    }  # fmt: skip
    members = (plugin(kind, "guard", same), plugin(kind, "other", same))
    async with Assistant(Echo(), *members, settings=settings) as hark:
        assert await hark.hears("hello") == ["hello"], "it runs although the list does not name it"
    settings["deny"] = {f"{kind}_transformers": ["guard"]}
    async with Assistant(Echo(), *members, settings=settings) as hark:
        assert await hark.hears("hello") == []
        assert hark.of(topics.UTTERANCE_CANCELLED)[0].data == {"cancel_reason": "policy_block", "cancel_by": "guard"}


@pytest.mark.spec("TRANSFORM-1/7.b")
async def test_a_failing_one_is_called_every_time_and_a_late_one_rests() -> None:
    calls: list[str] = []
    stuck = asyncio.Event()

    def raises(utterances: list[str], ctx: Ctx) -> list[str]:
        calls.append("raises")
        raise LookupError

    class Late(UtteranceTransformer):
        id = "late"

        async def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
            calls.append("late")
            await stuck.wait()
            return utterances

    settings = {"limits": {"transformer": 1.0, "failures": 2}}
    async with Assistant(Echo(), plugin("utterance", "raises", raises), Late(), settings=settings) as hark:
        for _ in range(2):
            turn = hark.say("hello")
            await hark.clock.advance(1.0)
            await turn.over.wait()
        assert "late" in (await listed(hark, "utterance"))["suspended"]
        for _ in range(20):
            assert await hark.hears("hello") == ["hello"]
        await hark.clock.advance(10.1)
        stuck.set()
        assert await hark.hears("hello") == ["hello"]
        assert "suspended" not in await listed(hark, "utterance")
    assert calls.count("raises") == 23
    assert calls.count("late") == 3
