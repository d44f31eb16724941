"""The audio chain, the recognisers, and the one outcome of each command."""

from __future__ import annotations

import asyncio
from itertools import product
from typing import Any

import pytest

from flow.listening import Listening, SlowSTT, command
from flow.stage import transformer
from hark.bus import LocalBus
from hark.hear import HearOptions
from hark.hear.recognition import Recogniser
from hark.hear.recording import Capture, Recording
from hark.hear.transcript import checked, language, without_wake_phrase
from hark.hosting import Gate, UnusableResult
from hark.model import Audio, Session
from hark.model.session_merge import Denials
from hark.plugins import Ctx
from hark.plugins.engines import Transcript
from hark.spec import topics
from hark.testing import settle
from hark.testing.voice.input import FakeSTT, Scene, words_in


class Second(FakeSTT):
    id = "second-stt"


class German(FakeSTT):
    id = "german-stt"
    langs = ("de-DE",)


def handle_of(stage: Listening) -> Any:
    [handle] = stage.of(topics.UTTERANCE_HANDLE)
    return handle


# The audio chain.


async def test_the_chain_sees_the_sound_before_the_recogniser_does(bus: LocalBus) -> None:
    seen: list[Any] = []
    said = Audio(Scene().says("something else").samples, 16_000)

    def replace(audio: Audio, ctx: Ctx) -> Audio:
        seen.append((words_in(audio.samples), audio.sample_rate, audio.sample_width, audio.channels, ctx.lang))
        ctx.set("voice_match", "alice")
        return said

    async with Listening(bus, chain=[transformer("audio", "replace", replace)]) as stage:
        await stage.told(topics.UTTERANCE_HANDLED, Session(lang="de-DE"))
        await stage.hears(command())
        assert seen == [(["what", "time", "is", "it"], 16_000, 2, 1, None)]
        assert stage.stt.heard == [(said, "de-DE")]
        assert stage.said() == ["something else"]
        assert handle_of(stage).context["voice_match"] == "alice"
        assert handle_of(stage).context["audio_transformer_ids"] == ("replace",)


async def test_what_the_chain_makes_of_the_session_reaches_the_utterance(bus: LocalBus) -> None:
    def change(audio: Audio, ctx: Ctx) -> Audio:
        ctx.session = ctx.session.replace(site_id="kitchen", detected_lang="fr-FR")
        return audio

    async with Listening(bus, chain=[transformer("audio", "change", change)]) as stage:
        await stage.told(topics.UTTERANCE_HANDLED, Session(site_id="hall", lang="en-GB"))
        await stage.hears(command())
        assert handle_of(stage).session == Session(site_id="kitchen", detected_lang="fr-FR", stt_lang="fr-FR")


async def test_the_language_the_chain_found_is_the_detected_one(bus: LocalBus) -> None:
    def detect(audio: Audio, ctx: Ctx) -> Audio:
        ctx.session = ctx.session.replace(detected_lang="fr-FR")
        ctx.lang = "pt-PT"
        return audio

    async with Listening(bus, chain=[transformer("audio", "detect", detect)]) as stage:
        await stage.hears(command())
        assert handle_of(stage).session == Session(detected_lang="pt-PT", stt_lang="pt-PT")
        assert stage.stt.heard[0][1] == "pt-PT"


async def test_sound_in_another_form_is_made_listenable(bus: LocalBus) -> None:
    def stretch(audio: Audio, ctx: Ctx) -> Audio:
        return Audio(audio.samples * 2, 48_000, 2, 2)

    async with Listening(bus, chain=[transformer("audio", "stretch", stretch)]) as stage:
        stage.stt.answers = ["understood"]
        await stage.hears(command())
        [(audio, _)] = stage.stt.heard
        assert (audio.sample_rate, audio.sample_width, audio.channels) == (16_000, 2, 1)
        assert stage.said() == ["understood"]


async def test_a_transformer_that_fails_is_as_if_it_were_not_there(bus: LocalBus) -> None:
    def fail(audio: Audio, ctx: Ctx) -> Audio:
        raise RuntimeError("out of order")

    async with Listening(bus, chain=[transformer("audio", "fail", fail)]) as stage:
        await stage.hears(command())
        assert stage.said() == ["what time is it"]


async def test_a_cancellation_stands_alone(bus: LocalBus) -> None:
    later: list[Audio] = []

    def cancel(audio: Audio, ctx: Ctx) -> Audio:
        ctx.cancel("policy_block")
        return audio

    chain = [
        transformer("audio", "cancel", cancel, priority=10),
        transformer("audio", "later", lambda audio, ctx: later.append(audio) or audio),
    ]
    async with Listening(bus, chain=chain) as stage:
        await stage.hears(command())
        assert stage.outcomes() == [topics.UTTERANCE_CANCELLED]
        [told] = stage.of(topics.UTTERANCE_CANCELLED)
        assert told.data == {"cancel_reason": "policy_block", "cancel_by": "cancel"}
        assert told.context["canceled"] is True
        assert told.session is not None
        assert (later, stage.stt.heard) == ([], [])
        assert stage.traces.find("capture").outcome == "cancelled"


# The language.


@pytest.mark.parametrize(
    ("detected", "asked", "preferred"), list(product([None, ""], [None, "", "de-DE"], [None, "fr-FR"]))
)
def test_without_a_detected_language_the_next_counts(
    detected: str | None, asked: str | None, preferred: str | None
) -> None:
    fields = {"detected_lang": detected, "request_lang": asked, "lang": preferred}
    session = Session(**{name: value for name, value in fields.items() if value is not None})
    assert language(session, "en-US") == (asked or preferred or "en-US")


def test_a_detected_language_comes_first_and_nonsense_not_at_all() -> None:
    assert language(Session(detected_lang="pt-PT", request_lang="de-DE", lang="fr-FR"), "en-US") == "pt-PT"
    assert language(Session(detected_lang="no tag at all"), "en-US") == "en-US"
    assert language(Session(stt_lang="de-DE"), "en-US") == "en-US"


async def test_a_translation_says_in_which_language_its_text_is(bus: LocalBus) -> None:
    async with Listening(bus, lang="de-DE") as stage:
        stage.stt.answers = [Transcript(("what time is it",), lang="en-US")]
        await stage.hears(command())
        assert handle_of(stage).data["lang"] == "en-US"
        assert handle_of(stage).session.stt_lang == "de-DE"


async def test_what_one_command_showed_does_not_colour_the_next(bus: LocalBus) -> None:
    langs = ["de-DE", None]

    def detect(audio: Audio, ctx: Ctx) -> Audio:
        ctx.lang = langs.pop(0)
        return audio

    async with Listening(bus, chain=[transformer("audio", "detect", detect)]) as stage:
        await stage.hears(command())
        await stage.told(topics.UTTERANCE_HANDLED, handle_of(stage).session)
        await stage.hears(command())
        assert [lang for _, lang in stage.stt.heard] == ["de-DE", "en-US"]
        assert stage.of(topics.UTTERANCE_HANDLE)[1].session == Session(stt_lang="en-US")


# The recognisers.


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Hey Jarvis, what time is it?", "what time is it?"),
        ("jarvis what time is it", "what time is it"),
        ("Jarvis! Stop.", "Stop."),
        ("what time is it", "what time is it"),
        ("hey what time is it", "hey what time is it"),
        ("who is jarvis", "who is jarvis"),
    ],
)
def test_of_a_breath_what_follows_the_wake_phrase_counts(text: str, left: str) -> None:
    assert without_wake_phrase(Transcript((text,), "en-US", 0.5), "hey_jarvis") == Transcript((left,), "en-US", 0.5)


def test_the_wake_phrase_alone_is_nothing() -> None:
    assert without_wake_phrase(Transcript(("hey jarvis", "Jarvis.", "stop", "jarvis stop")), "hey jarvis") == (
        Transcript(("stop",))
    )


async def test_several_candidates_keep_their_order(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        stage.stt.answers = [Transcript((" ice  cream ", "I scream", "", "ice cream"))]
        await stage.hears(command())
        assert handle_of(stage).data["utterances"] == ("ice cream", "I scream")


@pytest.mark.parametrize(
    "answer",
    [
        "",
        Transcript(),
        Transcript(("", "  ")),
        RuntimeError("out of order"),
        None,
        "text",
        Transcript((7,)),  # type: ignore[arg-type]
        Transcript("text"),  # type: ignore[arg-type]
        Transcript(("x",), lang="no tag!"),
        Transcript(("x",), confidence=float("nan")),
        Transcript(("x",), confidence=7),
        Transcript(("x",), confidence="sure"),  # type: ignore[arg-type]
        Transcript(("half \ud83d",)),
        Transcript(("maybe",), confidence=0.3),
    ],
    ids=repr,
)
async def test_what_cannot_be_used_fails_once(bus: LocalBus, answer: Any) -> None:
    async with Listening(bus, min_confidence=0.5) as stage:
        stage.stt.answers = [answer if answer != "text" else Scene()]
        await stage.hears(command())
        assert stage.outcomes() == [topics.STT_FAILED]
        [failed] = stage.of(topics.STT_FAILED)
        assert (failed.data, failed.session_id) == ({}, "default")
        assert failed.session is not None
        assert stage.traces.find("capture").outcome == "not understood"
        await stage.hears(command())
        assert stage.said() == ["what time is it"]


@pytest.mark.parametrize("confidence", [None, 0.5, 1])
async def test_a_confidence_above_the_limit_or_none_is_accepted(bus: LocalBus, confidence: float | None) -> None:
    async with Listening(bus, min_confidence=0.5) as stage:
        stage.stt.answers = [Transcript(("hello",), confidence=confidence)]
        await stage.hears(command())
        assert stage.said() == ["hello"]


def test_a_list_of_texts_is_no_reason_to_refuse() -> None:
    assert checked(Transcript(["a", "b"])) == Transcript(("a", "b"))  # type: ignore[arg-type]
    with pytest.raises(UnusableResult, match="a str, not a Transcript"):
        checked("a")


async def test_where_one_recogniser_fails_the_next_takes_over(bus: LocalBus) -> None:
    first, second = FakeSTT(RuntimeError("out of order")), Second()
    async with Listening(bus, first, second) as stage:
        await stage.hears(command())
        assert stage.said() == ["what time is it"]
        assert len(first.heard) == len(second.heard) == 1


async def test_an_empty_transcript_is_an_answer(bus: LocalBus) -> None:
    first, second = FakeSTT(""), Second()
    async with Listening(bus, first, second) as stage:
        await stage.hears(command())
        assert stage.outcomes() == [topics.STT_FAILED]
        assert second.heard == []


async def test_a_recogniser_that_takes_too_long_is_given_up(bus: LocalBus) -> None:
    async with Listening(bus, SlowSTT(), Second()) as stage:
        for entry in stage.engines["stt"].registry:
            entry.limit = 1.0
        await stage.microphone.hears(command())
        await stage.clock.advance(1.5)
        assert stage.said() == ["what time is it"]
        await stage.clock.advance(10)
        assert len(stage.outcomes()) == 1


async def test_a_language_without_a_recogniser_fails(bus: LocalBus) -> None:
    async with Listening(bus, German()) as stage:
        await stage.hears(command())
        assert stage.outcomes() == [topics.STT_FAILED]


async def test_the_recogniser_of_the_language_is_asked(bus: LocalBus) -> None:
    german, other = German("guten Tag"), Second("good day")
    async with Listening(bus, german, other, lang="de-AT") as stage:
        await stage.hears(command())
        assert stage.said() == ["guten Tag"]


async def test_what_breaks_inside_is_a_failure_too(
    bus: LocalBus, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Listening(bus) as stage:
        monkeypatch.setattr(stage.engines["stt"], "do", None)
        await stage.hears(command())
        assert stage.outcomes() == [topics.STT_FAILED]
        assert "could not be recognised" in caplog.text


async def test_while_plugins_are_exchanged_commands_wait(bus: LocalBus) -> None:
    gate, options = Gate(), HearOptions()
    async with Listening(bus) as stage:
        recording = Recording(options, held=True)
        for block in Scene().says("what time is it").blocks():
            recording.add(block, voice=True)
        capture = Capture(Session(), recording, stage.clock, "push-to-talk")
        recogniser = Recogniser(stage.runner, stage.chain, stage.engines["stt"], options, Denials.of, gate)
        async with gate.closed():
            outcome = asyncio.create_task(recogniser.outcome(capture))
            await settle()
            assert not outcome.done()
        async with asyncio.timeout(20):
            assert (await outcome).data["utterances"] == ("what time is it",)
