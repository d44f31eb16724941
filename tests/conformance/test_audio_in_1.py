"""OVOS-AUDIO-IN-1: from a microphone to an utterance."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from flow.listening import Listening, command, ears_of, ended
from flow.stage import transformer
from hark.bus import LocalBus, ask
from hark.chains import ChainListing
from hark.hear.transcript import language
from hark.model import Audio, Message, Session
from hark.model.lang import is_tag
from hark.plugins import Ctx, Transformer, Turn
from hark.plugins.engines import Transcript, WakeWord
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import Assistant, settle
from hark.testing.voice.input import Scene, words_in

CAPTURED = [topics.LISTENER_RECORD_STARTED, topics.LISTENER_RECORD_ENDED]
TO_US = (topics.LISTENER_SLEEP, topics.LISTENER_WAKE)
ENDINGS = (topics.UTTERANCE_HANDLED, topics.INTENT_UNMATCHED)

Step = Callable[[Audio, Ctx], Audio]


def unchanged(audio: Audio, ctx: Ctx) -> Audio:
    return audio


def link(name: str, step: Step = unchanged, priority: int = 50) -> Transformer:
    return transformer("audio", name, step, priority=priority)


def spy(name: str, calls: list[str], priority: int = 50) -> Transformer:
    def note(audio: Audio, ctx: Ctx) -> Audio:
        calls.append(name)
        return audio

    return link(name, note, priority)


def cancelling(reason: str = "policy_block") -> Step:
    def cancel(audio: Audio, ctx: Ctx) -> Audio:
        ctx.cancel(reason)
        return audio

    return cancel


def handle_of(stage: Listening) -> Message:
    [handle] = stage.of(topics.UTTERANCE_HANDLE)
    return handle


# §3 and §5: speech becomes an utterance.


@pytest.mark.spec("AUDIO-IN-1/3.a")
@pytest.mark.spec("AUDIO-IN-1/5.a")
async def test_a_capture_that_was_understood_is_one_utterance(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.hears(command())
        assert stage.outcomes() == [topics.UTTERANCE_HANDLE]
        assert stage.said() == ["what time is it"]


@pytest.mark.spec("AUDIO-IN-1/5.b")
@pytest.mark.spec("AUDIO-IN-1/5.h")
async def test_candidates_are_sent_best_first(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        stage.stt.answers = [Transcript(("ice cream", "I scream", "nice cream"))]
        await stage.hears(command())
        assert handle_of(stage).data["utterances"] == ("ice cream", "I scream", "nice cream")


@pytest.mark.spec("AUDIO-IN-1/5.c")
@pytest.mark.spec("AUDIO-IN-1/PIPELINE-1/9.1.a")
@pytest.mark.parametrize(("returned", "stated"), [(None, "pt-PT"), ("en-GB", "en-GB")])
async def test_the_language_is_the_one_the_decoder_produced(bus: LocalBus, returned: str | None, stated: str) -> None:
    async with Listening(bus, lang="pt-PT") as stage:
        stage.stt.answers = [Transcript(("olá",), lang=returned)]
        await stage.hears(command())
        assert handle_of(stage).data["lang"] == stated
        assert is_tag(stated)
        assert stage.stt.heard[0][1] == "pt-PT"


UNUSABLE = [Transcript(), "", Transcript(("  ",)), RuntimeError("no model"), Transcript(("x",), confidence=0.1)]


@pytest.mark.spec("AUDIO-IN-1/5.d")
@pytest.mark.spec("AUDIO-IN-1/5.e")
@pytest.mark.spec("AUDIO-IN-1/5.g")
@pytest.mark.parametrize("answer", UNUSABLE, ids=["none", "empty", "blank", "raises", "unsure"])
async def test_what_cannot_be_used_is_one_failure_and_nothing_else(bus: LocalBus, answer: Any) -> None:
    async with Listening(bus, min_confidence=0.5) as stage:
        stage.stt.answers = [answer]
        await stage.hears(command())
        assert stage.topics()[-3:] == [*CAPTURED, topics.STT_FAILED]
        assert stage.outcomes() == [topics.STT_FAILED]
        [failed] = stage.of(topics.STT_FAILED)
        assert failed.session is not None
        assert not any(stage.of(topic) for topic in ENDINGS)


# §4: the audio chain.


@pytest.mark.spec("AUDIO-IN-1/4.a")
async def test_the_recogniser_gets_what_the_chain_made(bus: LocalBus) -> None:
    other = Audio(Scene().says("something else").samples, 16_000)
    async with Listening(bus, chain=[link("replace", lambda audio, ctx: other)]) as stage:
        await stage.hears(command())
        assert [audio for audio, _ in stage.stt.heard] == [other]


@pytest.mark.spec("AUDIO-IN-1/4.b")
@pytest.mark.spec("AUDIO-IN-1/TRANSFORM-1/4.a")
async def test_the_chain_goes_by_priority_or_by_the_deployers_list(bus: LocalBus) -> None:
    calls: list[str] = []
    chain = [spy("late", calls, 90), spy("early", calls, 10), spy("usual", calls)]
    async with Listening(bus, chain=chain) as stage:
        await stage.hears(command())
        assert calls == ["early", "usual", "late"]
        calls.clear()
        stage.chain.reorder(("late", "early"))
        await stage.hears(command())
        assert calls == ["late", "early"]


@pytest.mark.spec("AUDIO-IN-1/4.c")
@pytest.mark.spec("AUDIO-IN-1/4.d")
@pytest.mark.spec("AUDIO-IN-1/TRANSFORM-1/3.1.c")
async def test_a_transformer_gets_sound_format_context_and_no_invented_language(bus: LocalBus) -> None:
    seen: list[Any] = []

    def look(audio: Audio, ctx: Ctx) -> Audio:
        seen.append((audio.sample_rate, audio.sample_width, audio.channels, ctx.lang, ctx.session.lang))
        ctx.lang = "de-DE"
        return audio

    def look_again(audio: Audio, ctx: Ctx) -> Audio:
        seen.append(ctx.lang)
        return audio

    chain = [link("look", look, 10), link("again", look_again, 20)]
    async with Listening(bus, chain=chain, lang="fr-FR") as stage:
        await stage.told(topics.UTTERANCE_HANDLED, Session(lang="en-GB", stt_lang="en-GB", detected_lang="en-GB"))
        await stage.hears(command())
        assert seen == [(16_000, 2, 1, None, "en-GB"), "de-DE"]


@pytest.mark.spec("AUDIO-IN-1/4.e")
async def test_what_a_transformer_writes_reaches_the_utterance(bus: LocalBus) -> None:
    def write(audio: Audio, ctx: Ctx) -> Audio:
        ctx.set("voice_match", {"who": "alice"})
        ctx.session = ctx.session.replace(detected_lang="it-IT", site_id="hall")
        return audio

    async with Listening(bus, chain=[link("write", write)]) as stage:
        await stage.hears(command())
        handle = handle_of(stage)
        assert handle.context["voice_match"] == {"who": "alice"}
        assert handle.session == Session(detected_lang="it-IT", site_id="hall", stt_lang="it-IT")


@pytest.mark.spec("AUDIO-IN-1/TRANSFORM-1/1.3.a")
async def test_the_utterance_says_who_worked_on_it(bus: LocalBus) -> None:
    async with Listening(bus, chain=[link("second", priority=60), link("first", priority=40)]) as stage:
        await stage.hears(command())
        assert handle_of(stage).context["audio_transformer_ids"] == ("first", "second")


@pytest.mark.spec("AUDIO-IN-1/TRANSFORM-1/3.0.a")
async def test_the_language_the_chain_ends_with_is_the_detected_one(bus: LocalBus) -> None:
    def detect(audio: Audio, ctx: Ctx) -> Audio:
        ctx.lang = "pt-PT"
        return audio

    async with Listening(bus, chain=[link("detect", detect)]) as stage:
        await stage.hears(command())
        assert handle_of(stage).session == Session(detected_lang="pt-PT", stt_lang="pt-PT")
        assert stage.stt.heard[0][1] == "pt-PT"


@pytest.mark.spec("AUDIO-IN-1/TRANSFORM-1/3.1.a")
async def test_another_format_is_part_of_the_sound_and_what_does_not_fit_is_refused(bus: LocalBus) -> None:
    def wider(audio: Audio, ctx: Ctx) -> Audio:
        return Audio(bytes(4 * 48_000), 48_000, 2, 2)

    def wrong(audio: Audio, ctx: Ctx) -> Audio:
        return Audio(audio.samples + b"\0", 16_000)

    async with Listening(bus, chain=[link("wider", wider, 10), link("wrong", wrong, 20)]) as stage:
        stage.stt.answers = ["yes"]
        await stage.hears(command())
        [(audio, _)] = stage.stt.heard
        assert (audio.sample_rate, audio.channels, audio.seconds) == (16_000, 1, 1.0)
        assert handle_of(stage).context["audio_transformer_ids"] == ("wider",)


TABLE = [
    ({}, ["a", "b", "c"]),
    ({"audio_transformers": ["c", "a"]}, ["c", "a"]),
    ({"audio_transformers": ["unknown", "b"]}, ["b"]),
    ({"audio_transformers": ["unknown"]}, []),
    ({"blacklisted_audio_transformers": ["a", "unknown"]}, ["b", "c"]),
    ({"audio_transformers": ["b", "a"], "blacklisted_audio_transformers": ["b"]}, ["a"]),
]


@pytest.mark.spec("AUDIO-IN-1/TRANSFORM-1/5.a")
@pytest.mark.spec("AUDIO-IN-1/TRANSFORM-1/5.b")
@pytest.mark.parametrize(("fields", "wanted"), TABLE)
async def test_who_runs_is_preferred_loaded_and_not_denied(
    bus: LocalBus, fields: dict[str, Any], wanted: list[str]
) -> None:
    calls: list[str] = []
    async with Listening(bus, chain=[spy(name, calls) for name in "abc"]) as stage:
        await stage.told(topics.UTTERANCE_HANDLED, Session(**fields))
        await stage.hears(command())
        assert calls == wanted
        assert stage.said() == ["what time is it"]


@pytest.mark.spec("AUDIO-IN-1/TRANSFORM-1/6.a")
async def test_who_asks_learns_which_transformers_are_loaded(bus: LocalBus) -> None:
    async with Listening(bus, chain=[link("a", priority=10), link("b")]) as stage:
        listing = ChainListing(bus, [stage.chain])
        answer = await ask(bus, stage.clock, Message(topics.transformer_list("audio")))
        listing.close()
        assert answer.type == "ovos.transformer.audio.list.response"
        assert answer.data == {"loaded": ("a", "b"), "priorities": {"a": 10, "b": 50}}


@pytest.mark.spec("AUDIO-IN-1/TRANSFORM-1/7.a")
@pytest.mark.spec("AUDIO-IN-1/TRANSFORM-1/7.b")
@pytest.mark.parametrize("broken", ["raises", "wrong shape"])
async def test_a_transformer_that_fails_is_skipped_and_nothing_is_taken_back(bus: LocalBus, broken: str) -> None:
    def write(audio: Audio, ctx: Ctx) -> Audio:
        ctx.set("first.note", 1)
        return audio

    def fail(audio: Audio, ctx: Ctx) -> Audio:
        ctx.set("failed.note", 1)
        if broken == "raises":
            raise RuntimeError("out of order")
        return "sound"  # type: ignore[return-value]

    calls: list[str] = []
    chain = [link("first", write, 10), link("fails", fail, 20), spy("last", calls, 30)]
    async with Listening(bus, chain=chain) as stage:
        await stage.hears(command())
        context = handle_of(stage).context
        assert (context["first.note"], "failed.note" in context, calls) == (1, False, ["last"])
        assert context["audio_transformer_ids"] == ("first", "last")
        assert stage.said() == ["what time is it"]


@pytest.mark.spec("AUDIO-IN-1/TRANSFORM-1/8.1.a")
@pytest.mark.spec("AUDIO-IN-1/TRANSFORM-1/8.1.c")
async def test_who_cancelled_is_known_to_the_frame_alone(bus: LocalBus) -> None:
    def lie(audio: Audio, ctx: Ctx) -> Audio:
        with pytest.raises(PermissionError):
            ctx.set("cancel_by", "somebody.else")
        ctx.cancel("because I say so")
        return audio

    async with Listening(bus, chain=[link("liar", lie)]) as stage:
        await stage.hears(command())
        [told] = stage.of(topics.UTTERANCE_CANCELLED)
        assert told.data == {"cancel_reason": "because I say so", "cancel_by": "liar"}
        assert {key: told.context[key] for key in ("canceled", "cancel_reason", "cancel_by")} == {
            "canceled": True,
            "cancel_reason": "because I say so",
            "cancel_by": "liar",
        }


@pytest.mark.spec("AUDIO-IN-1/TRANSFORM-1/8.1.b")
@pytest.mark.parametrize(("key", "value"), [("canceled", True), ("cancel_reason", "half")])
async def test_half_a_cancellation_is_none(bus: LocalBus, key: str, value: Any) -> None:
    def half(audio: Audio, ctx: Ctx) -> Audio:
        ctx.set(key, value)
        return audio

    calls: list[str] = []
    async with Listening(bus, chain=[link("half", half, 10), spy("next", calls)]) as stage:
        await stage.hears(command())
        assert calls == ["next"]
        assert stage.said() == ["what time is it"]
        assert not {"canceled", "cancel_reason", "cancel_by"} & set(handle_of(stage).context)


@pytest.mark.spec("AUDIO-IN-1/TRANSFORM-1/8.2.1.a")
@pytest.mark.spec("AUDIO-IN-1/TRANSFORM-1/8.2.1.b")
@pytest.mark.spec("AUDIO-IN-1/TRANSFORM-1/8.2.1.c")
async def test_a_cancellation_ends_the_capture_and_stands_alone(bus: LocalBus) -> None:
    calls: list[str] = []
    async with Listening(bus, chain=[link("cancel", cancelling(), 10), spy("later", calls)]) as stage:
        await stage.hears(command())
        assert stage.outcomes() == [topics.UTTERANCE_CANCELLED]
        assert (calls, stage.stt.heard) == ([], [])
        assert not any(stage.of(topic) for topic in ENDINGS)


# §5.1: which language.


@pytest.mark.spec("AUDIO-IN-1/5.1.a")
@pytest.mark.spec("AUDIO-IN-1/5.1.b")
@pytest.mark.spec("AUDIO-IN-1/5.1.c")
@pytest.mark.parametrize(
    ("detected", "asked", "preferred"),
    list(product([None, "", "pt-PT"], [None, "", "de-DE"], [None, "", "fr-FR"])),
)
def test_the_first_language_that_is_there_counts(
    detected: str | None, asked: str | None, preferred: str | None
) -> None:
    fields = {"detected_lang": detected, "request_lang": asked, "lang": preferred}
    session = Session(**{name: value for name, value in fields.items() if value is not None})
    assert language(session, "en-US") == (detected or asked or preferred or "en-US")


@pytest.mark.spec("AUDIO-IN-1/5.1.a")
@pytest.mark.spec("AUDIO-IN-1/5.1.d")
async def test_the_chosen_language_is_in_the_session_and_given_to_the_recogniser(bus: LocalBus) -> None:
    def detect(audio: Audio, ctx: Ctx) -> Audio:
        ctx.lang = "pt-PT"
        return audio

    word = WakeWord("w", "hey jarvis", lang="de-DE")
    async with Listening(bus, wake_words=(word,)) as stage:
        await stage.told(topics.UTTERANCE_HANDLED, Session(lang="fr-FR"))
        await stage.hears(command())
        stage.chain.registry.add(link("detect", detect))
        await stage.hears(command())
        await stage.told(topics.MIC_LISTEN)
        assert [lang for _, lang in stage.stt.heard] == ["de-DE", "pt-PT"]
        sessions = [message.session for message in stage.of(topics.UTTERANCE_HANDLE)]
        assert [session.stt_lang for session in sessions if session is not None] == ["de-DE", "pt-PT"]


@pytest.mark.spec("AUDIO-IN-1/5.1.e")
async def test_of_a_translation_the_session_names_what_was_spoken(bus: LocalBus) -> None:
    async with Listening(bus, lang="de-DE") as stage:
        stage.stt.answers = [Transcript(("what time is it",), lang="en-US")]
        await stage.hears(command("wie spät ist es"))
        handle = handle_of(stage)
        assert handle.data["lang"] == "en-US"
        assert handle.session == Session(stt_lang="de-DE")


# §5.2: whose session.


@pytest.mark.spec("AUDIO-IN-1/5.2.a")
@pytest.mark.spec("AUDIO-IN-1/5.2.b")
async def test_every_message_has_a_session_and_it_is_the_devices_own(bus: LocalBus) -> None:
    answers = iter([cancelling(), unchanged, unchanged])
    async with Listening(bus, chain=[link("now.and.then", lambda audio, ctx: next(answers)(audio, ctx))]) as stage:
        stage.stt.answers = ["", "hello"]
        for _ in range(3):
            await stage.hears(command())
        await stage.told(topics.LISTENER_SLEEP)
        await stage.told(topics.LISTENER_WAKE)
        own = [message for message in stage.messages if message.type not in TO_US]
        assert {message.type for message in own} >= {
            topics.LISTENER_WAKEWORD,
            *CAPTURED,
            topics.UTTERANCE_CANCELLED,
            topics.STT_FAILED,
            topics.UTTERANCE_HANDLE,
            topics.LISTENER_AWOKEN,
        }
        assert all(message.session is not None for message in own)
        assert {message.session_id for message in own} == {"default"}


@pytest.mark.spec("AUDIO-IN-1/SESSION-1/3.1.a")
@pytest.mark.parametrize("context", [{}, {"session": {}}, {"session": {"session_id": "default"}}])
async def test_no_session_an_empty_one_and_the_default_one_are_the_same(bus: LocalBus, context: dict[str, Any]) -> None:
    async with Listening(bus) as stage:
        stage.bus.emit(Message(topics.MIC_LISTEN, {}, context))
        await stage.hears(Scene().says("yes").silence(1))
        assert stage.said() == ["yes"]
        assert handle_of(stage).session_id == "default"


# §6.1, §6.2: the bounds of a capture.


async def _by_wake_word(stage: Listening) -> None:
    await stage.hears(Scene().says("hey jarvis").silence(0.3))


async def _by_push_to_talk(stage: Listening) -> None:
    stage.listener.listen()


async def _by_request(stage: Listening) -> None:
    await stage.told(topics.MIC_LISTEN)


OPENED_BY = [_by_wake_word, _by_push_to_talk, _by_request]


@pytest.mark.spec("AUDIO-IN-1/6.1.a")
@pytest.mark.spec("AUDIO-IN-1/6.6.a")
@pytest.mark.parametrize("opens", OPENED_BY)
async def test_a_capture_begins_with_one_signal(bus: LocalBus, opens: Callable[[Listening], Any]) -> None:
    async with Listening(bus) as stage:
        await opens(stage)
        await settle()
        [started] = stage.of(topics.LISTENER_RECORD_STARTED)
        assert started.data == {}
        assert stage.of(topics.LISTENER_RECORD_ENDED) == []


async def _succeeds(stage: Listening) -> None:
    await stage.hears(Scene().says("what time is it").silence(1))


async def _is_silent(stage: Listening) -> None:
    await stage.hears(Scene().silence(6))


async def _fails(stage: Listening) -> None:
    stage.stt.answers = [RuntimeError("out of order")]
    await _succeeds(stage)


async def _is_dropped(stage: Listening) -> None:
    await stage.told(topics.LISTENER_SLEEP)


async def _is_unplugged(stage: Listening) -> None:
    stage.microphone.fail(OSError("unplugged"))
    await stage.clock.advance(1)


@pytest.mark.spec("AUDIO-IN-1/6.2.a")
@pytest.mark.parametrize("opens", OPENED_BY)
@pytest.mark.parametrize("ends", [_succeeds, _is_silent, _fails, _is_dropped, _is_unplugged])
async def test_a_capture_ends_with_one_signal(
    bus: LocalBus, opens: Callable[[Listening], Any], ends: Callable[[Listening], Any]
) -> None:
    async with Listening(bus) as stage:
        await opens(stage)
        await ends(stage)
        [ended] = stage.of(topics.LISTENER_RECORD_ENDED)
        assert ended.data == {}
        signals = [topic for topic in stage.topics() if topic in CAPTURED]
        assert signals == CAPTURED
        assert len(stage.outcomes()) == (0 if ends is _is_dropped else 1)


# §6.3, §6.4: sleep.


@pytest.mark.spec("AUDIO-IN-1/6.3.a")
@pytest.mark.spec("AUDIO-IN-1/6.3.b")
@pytest.mark.spec("AUDIO-IN-1/6.3.c")
@pytest.mark.spec("AUDIO-IN-1/6.3.d")
@pytest.mark.parametrize("session", [None, Session(), Session("somebody")])
async def test_asleep_nothing_is_captured_for_anybody_and_nothing_is_said(
    bus: LocalBus, session: Session | None
) -> None:
    async with Listening(bus, serves=lambda session_id: True) as stage:
        await stage.told(topics.LISTENER_SLEEP, session)
        await stage.clock.advance(10)
        await stage.hears(command())
        for other in (None, Session("somebody"), Session("anybody")):
            await stage.told(topics.MIC_LISTEN, other)
        assert not stage.listener.listen()
        await stage.hears(command())
        assert stage.topics() == [topics.LISTENER_SLEEP, *[topics.MIC_LISTEN] * 3]


@pytest.mark.spec("AUDIO-IN-1/6.3.e")
async def test_nobody_answers_questions_about_the_state(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.told(topics.LISTENER_SLEEP)
        asked = ["ovos.listener.state", "ovos.listener.status", "ovos.listener.is_asleep", "hark.listener.state.get"]
        before = len(stage.messages)
        for topic in asked:
            await stage.told(topic)
        await stage.clock.advance(10)
        assert [message.type for message in stage.messages[before:]] == asked


@pytest.mark.spec("AUDIO-IN-1/6.4.a")
@pytest.mark.spec("AUDIO-IN-1/6.4.c")
@pytest.mark.spec("AUDIO-IN-1/6.3.d")
async def test_whoever_asks_for_it_wakes_the_device(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.told(topics.LISTENER_SLEEP, Session("one"))
        await stage.told(topics.LISTENER_WAKE, Session("another"))
        [awoken] = stage.of(topics.LISTENER_AWOKEN)
        assert (awoken.data, awoken.session_id) == ({}, "another")
        await stage.hears(command())
        assert stage.said() == ["what time is it"]


@pytest.mark.spec("AUDIO-IN-1/6.4.b")
@pytest.mark.spec("AUDIO-IN-1/6.4.d")
async def test_who_is_awake_cannot_be_woken(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.told(topics.LISTENER_WAKE)
        assert stage.topics() == [topics.LISTENER_WAKE]
        await stage.told(topics.LISTENER_SLEEP)
        await stage.told(topics.LISTENER_WAKE)
        await stage.told(topics.LISTENER_WAKE)
        assert stage.topics().count(topics.LISTENER_AWOKEN) == 1


# §6.5: wake words.


@pytest.mark.spec("AUDIO-IN-1/6.5.a")
@pytest.mark.spec("AUDIO-IN-1/6.5.b")
@pytest.mark.spec("AUDIO-IN-1/6.5.c")
@pytest.mark.spec("AUDIO-IN-1/6.5.e")
@pytest.mark.parametrize("lang", [None, "de-DE"])
async def test_a_wake_word_is_told_before_the_capture_it_opens(bus: LocalBus, lang: str | None) -> None:
    word = WakeWord("jarvis", "hey_jarvis", lang=lang)
    async with Listening(bus, wake_words=(word,)) as stage:
        await stage.hears(command())
        [told] = stage.of(topics.LISTENER_WAKEWORD)
        assert told.data == {"wake_word": "hey jarvis"} | ({} if lang is None else {"lang": lang})
        assert stage.topics().index(topics.LISTENER_WAKEWORD) < stage.topics().index(topics.LISTENER_RECORD_STARTED)
        session = handle_of(stage).session
        assert session is not None
        assert session.request_lang == lang


@pytest.mark.spec("AUDIO-IN-1/6.5.d")
@pytest.mark.parametrize("opens", [_by_push_to_talk, _by_request])
async def test_what_was_opened_otherwise_tells_of_no_wake_word(
    bus: LocalBus, opens: Callable[[Listening], Any]
) -> None:
    async with Listening(bus) as stage:
        await opens(stage)
        await stage.hears(Scene().says("hey jarvis what time is it").silence(1))
        assert stage.of(topics.LISTENER_WAKEWORD) == []
        assert words_in(stage.stt.heard[0][0].samples)[0] == "hey"


# An utterance is a new beginning.


class Which(Skill):
    id = "which.skill"

    @intent("set a timer")
    async def timer(self, turn: Turn) -> None:
        answer = await turn.ask("For how long?")
        await turn.speak(f"For {answer}.")


@pytest.mark.spec("AUDIO-IN-1/PIPELINE-1/9.1.1.a")
async def test_the_answer_to_a_question_is_a_turn_of_its_own(bus_type: type[LocalBus]) -> None:
    async with Assistant(Which(), bus=bus_type) as assistant, ears_of(assistant) as ears:
        await ears.hears(command("set a timer"))
        await settle()
        [question] = assistant.of(topics.UTTERANCE_SPEAK)
        assistant.bus.emit(question.forward(topics.MIC_LISTEN))
        await settle()
        await ears.hears(Scene().silence(0.3).says("five minutes").silence(1))
        await ended(assistant, 2)
        first, second = assistant.of(topics.UTTERANCE_HANDLE)
        assert "utterance_id" not in first.context
        assert set(second.context) == {"hark_capture"}
        ids = {message.utterance_id for message in assistant.of(topics.UTTERANCE_HANDLED)}
        assert len(ids) == 2
        said = [message.data["utterance"] for message in assistant.of(topics.UTTERANCE_SPEAK)]
        assert said == ["For how long?", "For five minutes."]
