"""OVOS-AUDIO-1: from responses and sounds to what is heard."""

from __future__ import annotations

import base64
import logging
from typing import Any

import pytest

from flow.chain_rig import link
from flow.sounding import ENDED, LISTEN, SIGNALS, STARTED, Sounding
from flow.stage import MakeAssistant, claims, transformer, turn_of
from hark.bus import LocalBus, ask
from hark.model import Audio, Message, Session
from hark.model.wav import read_wav, write_wav
from hark.plugins import Ctx
from hark.speak.synthesis import is_device
from hark.spec import topics
from hark.testing import settle
from hark.testing.voice.output import FakePlayer, FakeTTS, SlowTTS, read, voiced

SPEECH = topics.AUDIO_SPEECH
BOTH = pytest.mark.parametrize("topic", [topics.UTTERANCE_SPEAK, topics.UTTERANCE_SPEAK_B64])


def packed(text: str) -> str:
    """A sound as it is sent: a WAV file in base64."""
    return base64.b64encode(write_wav(voiced(text))).decode()


def unpacked(message: Message) -> Audio:
    return read_wav(base64.b64decode(message.data["audio"], validate=True))


def broken(text: str) -> Any:
    raise RuntimeError("out of order")


# Rendering.


@pytest.mark.spec("AUDIO-1/2.a", "AUDIO-1/4.1.b", "AUDIO-1/4.1.c", "AUDIO-1/4.1.a")
async def test_what_is_said_to_the_device_is_heard_and_what_is_said_to_others_is_not(bus: LocalBus) -> None:
    async with Sounding(bus, hears=is_device) as room:
        room.say("for the satellite", "sat-3")
        room.emit(topics.AUDIO_QUEUE, "sat-3", audio=packed("bell"))
        room.emit(topics.AUDIO_PLAY_SOUND, "sat-3", audio=packed("bell"))
        room.say("no session at all")
        room.say("the default one", "default")
        await settle()
        assert room.player.heard == ["no session at all", "the default one"]
        assert room.signals("sat-3") == []


@pytest.mark.spec("AUDIO-1/2.b")
async def test_without_an_audio_output_the_lifecycle_is_the_same(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:
        assert await hark.hears("hello") == ["hello"]
        assert [m.type for m in turn_of(hark)][-2:] == [topics.HANDLER_COMPLETE, topics.UTTERANCE_HANDLED]
        assert [m for m in hark.messages if m.type in SIGNALS] == []


@pytest.mark.spec("AUDIO-1/3.b")
async def test_the_chains_of_the_output_are_listed_where_they_run(assistant: MakeAssistant) -> None:
    members = [transformer(kind, f"my-{kind}", lambda artifact, ctx: artifact) for kind in ("dialog", "tts")]
    async with assistant(*members) as hark:
        for kind in ("dialog", "tts"):
            answer = await ask(hark.bus, hark.clock, Message(f"ovos.transformer.{kind}.list"))
            assert answer.data["loaded"] == (f"my-{kind}",)


@BOTH
@pytest.mark.spec("AUDIO-1/3.a", "TRANSFORM-1/2.d")
async def test_both_modes_go_through_the_same_stages_in_the_same_order(bus: LocalBus, topic: str) -> None:
    story: list[str] = []

    def tell(stage: str) -> Any:
        def step(artifact: Any, ctx: Ctx) -> Any:
            story.append(stage)
            return artifact

        return step

    def spoken(text: str) -> Audio:
        story.append("TTS")
        return voiced(text)

    members = {"dialog": (link("dialog", "d", tell("dialog")),), "tts": (link("tts", "t", tell("tts")),)}
    async with Sounding(bus, FakeTTS(spoken), **members) as room:
        room.say("hello", topic=topic)
        await settle()
    assert story == ["dialog", "TTS", "tts"]


@BOTH
@pytest.mark.spec("AUDIO-1/3.1.a", "AUDIO-1/3.1.b", "AUDIO-1/3.1.c", "TRANSFORM-1/3.5.a")
async def test_the_words_of_the_dialog_chain_are_what_is_spoken(bus: LocalBus, topic: str) -> None:
    seen: list[Any] = []

    def rewrite(text: str, ctx: Ctx) -> str:
        ctx.set("rewrite.mood", "formal")
        return f"{text}, sir"

    def look(audio: Audio, ctx: Ctx) -> Audio:
        seen.append((read(audio), ctx.get("rewrite.mood"), ctx.get("dialog_transformer_ids")))
        return audio

    async with Sounding(bus, dialog=(link("dialog", "rewrite", rewrite),), tts=(link("tts", "look", look),)) as room:
        room.say("hello", topic=topic)
        await settle()
        assert room.tts.texts == ["hello, sir"]
        assert seen == [("hello, sir", "formal", ["rewrite"])]
        if topic == topics.UTTERANCE_SPEAK:
            assert room.shown[0].text == "hello, sir"


@pytest.mark.parametrize(
    ("stated", "session", "spoken"),
    [
        ("pt-PT", Session("default", output_lang="de-DE", lang="fr-FR"), "pt-PT"),
        (None, Session("default", output_lang="de-DE", lang="fr-FR", request_lang="es-ES"), "de-DE"),
        (None, Session("default", lang="fr-FR", request_lang="es-ES"), "fr-FR"),
        (None, Session("default", request_lang="es-ES", stt_lang="it-IT"), "en-GB"),
        ("no tag at all", Session("default", lang="fr-FR"), "fr-FR"),
        ("PT-pt", None, "pt-PT"),
    ],
)
@pytest.mark.spec("AUDIO-1/3.2.a", "TRANSFORM-1/3.0.b", "TRANSFORM-1/3.0.c")
@pytest.mark.spec("SESSION-1/3.2.3.d", "PIPELINE-1/9.6.e")
async def test_the_language_is_the_stated_one_else_what_the_session_wants_to_hear(
    bus: LocalBus, stated: str | None, session: Session | None, spoken: str
) -> None:
    seen: list[str | None] = []

    def look(artifact: Any, ctx: Ctx) -> Any:
        seen.append(ctx.lang)
        return artifact

    chains = {"dialog": (link("dialog", "look", look),), "tts": (link("tts", "look", look),)}
    async with Sounding(bus, lang="en-GB", **chains) as room:
        room.say("hello", session, **({} if stated is None else {"lang": stated}))
        await settle()
        assert [lang for _, lang, _ in room.tts.asked] == [spoken]
        assert seen == [stated, stated], "chains are told what was stated and nothing else"


@pytest.mark.spec("AUDIO-1/3.2.a")
async def test_a_response_that_is_translated_is_spoken_in_its_new_language(bus: LocalBus) -> None:
    def translate(text: str, ctx: Ctx) -> str:
        ctx.lang = None if text == "unsay" else "pt-PT"
        return text

    async with Sounding(bus, dialog=(link("dialog", "translate", translate),)) as room:
        room.say("hello", lang="en-US")
        room.say("unsay", Session("default", lang="it-IT"), lang="en-US")
        await settle()
        assert [lang for _, lang, _ in room.tts.asked] == ["pt-PT", "it-IT"]
        assert [dict(spoken.message.data).get("lang") for spoken in room.shown] == ["pt-PT", None]


@BOTH
@pytest.mark.spec("AUDIO-1/3.2.b")
async def test_where_an_engine_fails_another_speaks_that_sentence(bus: LocalBus, topic: str) -> None:
    def choosy(text: str) -> Any:
        return broken(text) if "Two" in text else voiced(text)

    first, second = FakeTTS(choosy, id="first"), FakeTTS(id="second")
    async with Sounding(bus, first, second) as room:
        room.say("One. Two. Three.", topic=topic)
        await settle()
        assert second.texts == ["Two."]
        if topic == topics.UTTERANCE_SPEAK:
            assert room.player.heard == ["One.", "Two.", "Three."]
        else:
            assert read(unpacked(room.of(SPEECH)[0])) == "One.Two.Three."


@pytest.mark.spec("AUDIO-1/3.2.c")
async def test_a_sentence_nobody_can_speak_is_left_out_and_the_end_is_told_once(bus: LocalBus) -> None:
    def choosy(text: str) -> Any:
        return broken(text) if "Two" in text else voiced(text)

    async with Sounding(bus, FakeTTS(choosy)) as room:
        room.say("One. Two. Three.", listen=True)
        await settle()
        assert room.player.heard == ["One.", "Three."]
        assert room.signals() == [STARTED, ENDED, LISTEN]
        assert room.outcomes == ["rendered"]


@BOTH
@pytest.mark.spec("AUDIO-1/3.3.a", "AUDIO-1/3.3.b", "TRANSFORM-1/3.6.a", "TRANSFORM-1/3.6.b")
async def test_what_the_tts_chain_makes_of_the_sound_is_what_is_heard(bus: LocalBus, topic: str) -> None:
    other = Audio(b"\x05\x06\x07\x08" * 6, 44_100, 2, 2)

    def replace(audio: Audio, ctx: Ctx) -> Audio:
        assert read(audio) == "hello"
        return other

    async with Sounding(bus, tts=(link("tts", "replace", replace),)) as room:
        room.say("hello", topic=topic)
        await settle()
        if topic == topics.UTTERANCE_SPEAK:
            assert room.player.sounds == [other]
        else:
            [speech] = room.of(SPEECH)
            assert unpacked(speech) == other
            assert speech.context["tts_transformer_ids"] == ("replace",)


# Speech for somebody else's loudspeaker.


@pytest.mark.spec("AUDIO-1/3.4.a", "AUDIO-1/3.4.b", "AUDIO-1/3.4.c", "AUDIO-1/3.2.d", "AUDIO-1/4.0.a", "AUDIO-1/4.3.a")
async def test_speech_for_elsewhere_is_sent_and_not_played(bus: LocalBus) -> None:
    async with Sounding(bus) as room:
        for session in ("sat-3", "default"):
            room.say("hello there", session, topics.UTTERANCE_SPEAK_B64)
        await settle()
        assert [read(unpacked(speech)) for speech in room.of(SPEECH)] == ["hello there"] * 2
        assert room.of(SPEECH)[0].data["mime"] == "audio/wav"
        assert "listen" not in room.of(SPEECH)[0].data
        assert room.player.sounds == []
        assert room.signals("sat-3") == room.signals() == [SPEECH]
        assert room.shown == []


@pytest.mark.spec("AUDIO-1/3.4.d", "AUDIO-1/4.4.c")
async def test_the_microphone_is_asked_for_right_after_the_speech_was_sent(bus: LocalBus) -> None:
    async with Sounding(bus, player=FakePlayer(9.0)) as room:
        room.say("what the device itself says", "default")
        room.say("Which city?", "sat-3", topics.UTTERANCE_SPEAK_B64, listen=True)
        await settle()
        assert room.signals("sat-3") == [SPEECH, LISTEN]
        assert room.of(SPEECH)[0].data["listen"] is True
        assert room.signals() == [STARTED]


@pytest.mark.spec("AUDIO-1/4.3.b")
async def test_speech_for_elsewhere_can_be_routed(bus: LocalBus) -> None:
    context = {"source": "hark", "destination": "satellite-3", "skill_id": "some.skill"}
    async with Sounding(bus) as room:
        room.say("hello", Session("sat-3", site_id="attic"), topics.UTTERANCE_SPEAK_B64, context=context)
        await settle()
        [speech] = room.of(SPEECH)
        assert {key: speech.context[key] for key in context} == context
        assert speech.session == Session("sat-3", site_id="attic")


# The form sounds come in.

CARRIERS = pytest.mark.parametrize("topic", [topics.AUDIO_QUEUE, topics.AUDIO_PLAY_SOUND])


@CARRIERS
@pytest.mark.spec("AUDIO-1/4.0.c", "AUDIO-1/4.0.e")
async def test_what_the_bytes_are_counts_not_what_is_said_of_them(bus: LocalBus, topic: str) -> None:
    async with Sounding(bus) as room:
        room.emit(topic, audio=packed("bell"), mime="audio/mpeg", sample_rate=44_100)
        await settle()
        assert room.player.sounds == [voiced("bell")]


@CARRIERS
@pytest.mark.parametrize("hints", [{}, {"mime": "audio/pcm"}, {"sample_rate": 8_000}])
@pytest.mark.spec("AUDIO-1/4.0.d", "AUDIO-1/4.0.e")
async def test_a_raw_stream_without_both_hints_is_refused(
    bus: LocalBus, topic: str, hints: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    raw = base64.b64encode(voiced("bell").samples).decode()
    async with Sounding(bus) as room:
        with caplog.at_level(logging.WARNING, "hark.speak"):
            room.emit(topic, audio=raw, **hints)
            await room.quiet()
        assert room.player.sounds == []
        assert "mime" in caplog.text
        room.emit(topic, audio=raw, mime="audio/pcm", sample_rate=8_000)
        await room.heard(1)
        assert room.player.sounds == [voiced("bell")]


@pytest.mark.spec("AUDIO-1/4.0.e", "AUDIO-1/4.0.a")
async def test_speech_of_a_service_can_be_queued_by_another(bus: LocalBus) -> None:
    async with Sounding(bus) as room:
        room.say("hello", "sat-3", topics.UTTERANCE_SPEAK_B64)
        await settle()
        room.emit(topics.AUDIO_QUEUE, **room.of(SPEECH)[0].data)
        await settle()
        assert room.player.heard == ["hello"]


# The queue.


@pytest.mark.spec("AUDIO-1/4.1.d", "AUDIO-1/4.1.e", "AUDIO-1/4.1.g", "AUDIO-1/5.1.a", "AUDIO-1/5.2.a")
async def test_responses_and_sounds_are_heard_one_at_a_time_in_the_order_they_came(bus: LocalBus) -> None:
    voice = SlowTTS()
    async with Sounding(bus, voice, player=FakePlayer(1.0)) as room:
        room.say("A long one.")
        room.emit(topics.AUDIO_QUEUE, audio=packed("bell"))
        room.say("B.")
        room.emit(topics.AUDIO_QUEUE, audio=packed("gong"))
        room.say("C.")
        await settle()
        assert room.player.playing == [], "the bell does not overtake what takes longer to make"
        voice.release(3)
        await room.pass_by(2.5)
        assert room.signals() == [STARTED], "not for each of them"
        await room.pass_by(5.0)
        assert room.player.heard == ["A long one.", "bell", "B.", "gong", "C."]
        assert room.player.most_at_once == 1
        assert room.signals() == [STARTED, ENDED]
        assert room.outcomes == ["rendered"] * 3
        room.say("D.")
        voice.release()
        await room.pass_by(1.0)
        assert room.signals() == [STARTED, ENDED] * 2


@pytest.mark.spec("PIPELINE-1/9.6.c")
async def test_a_short_response_does_not_overtake_a_long_one(bus: LocalBus) -> None:
    voice = SlowTTS()
    async with Sounding(bus, voice) as room:
        room.say("A very long sentence that takes its time.")
        room.say("Short.")
        voice.release(2)
        await settle()
        assert room.player.heard == ["A very long sentence that takes its time.", "Short."]


BAD_REQUESTS: list[dict[str, Any]] = [
    {},
    {"uri": "bell.wav", "audio": packed("bell")},
    {"uri": 7},
    {"audio": ["x"]},
    {"audio": packed("bell"), "mime": 7},
    {"audio": packed("bell"), "sample_rate": "fast"},
    {"audio": "no base64!"},
    {"audio": ""},
    {"audio": base64.b64encode(b"RIFF....WAVE").decode()},
    {"uri": "https://example.org/bell.wav"},
    {"uri": "file:///etc/passwd"},
    {"uri": "data:audio/wav"},
    {"uri": "http://["},
]


@CARRIERS
@pytest.mark.parametrize("data", BAD_REQUESTS)
@pytest.mark.spec("AUDIO-1/4.1.h", "AUDIO-1/4.2.d")
async def test_a_request_that_makes_no_sense_is_dropped_and_told(
    bus: LocalBus, topic: str, data: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    async with Sounding(bus) as room:
        with caplog.at_level(logging.WARNING, "hark.speak"):
            room.emit(topic, **data)
            await room.quiet()
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        room.say("next")
        await settle()
        assert room.player.heard == ["next"]
        assert room.signals() == [STARTED, ENDED]


@pytest.mark.spec("AUDIO-1/4.1.i")
async def test_a_sound_may_ask_for_the_microphone(bus: LocalBus) -> None:
    async with Sounding(bus) as room:
        room.emit(topics.AUDIO_QUEUE, audio=packed("bell"), listen=True)
        await settle()
        assert room.signals() == [STARTED, ENDED, LISTEN]


# Instant sounds.


@pytest.mark.spec("AUDIO-1/4.2.a", "AUDIO-1/4.2.b", "AUDIO-1/4.2.e")
async def test_an_instant_sound_is_heard_over_everything(bus: LocalBus) -> None:
    async with Sounding(bus, player=FakePlayer(4.0)) as room:
        room.say("hello")
        await room.pass_by(1.0)
        for name in ("ping", "pong"):
            room.emit(topics.AUDIO_PLAY_SOUND, audio=packed(name), listen=True)
        await settle()
        assert sorted(map(read, room.player.playing)) == ["hello", "ping", "pong"]
        await room.pass_by(3.0)
        assert room.player.heard == ["hello"], "it was neither stopped nor paused"
        assert room.signals() == [STARTED, ENDED], "which does not wait for instant sounds"
        await room.pass_by(1.0)
        assert sorted(room.player.heard) == ["hello", "ping", "pong"]
        assert room.signals() == [STARTED, ENDED]


@pytest.mark.parametrize("stop", [topics.AUDIO_STOP, topics.STOP])
@pytest.mark.spec("AUDIO-1/4.2.c")
async def test_nothing_stops_an_instant_sound(bus: LocalBus, stop: str) -> None:
    async with Sounding(bus, player=FakePlayer(4.0)) as room:
        room.emit(topics.AUDIO_PLAY_SOUND, audio=packed("ping"))
        await room.pass_by(1.0)
        room.emit(stop)
        await room.pass_by(3.0)
        assert (room.player.heard, room.player.cut) == (["ping"], [])
        assert room.signals() == []


# Signals.


@pytest.mark.spec("AUDIO-1/4.4.a", "AUDIO-1/5.2.b")
async def test_the_microphone_is_opened_once_after_everything_was_heard(bus: LocalBus) -> None:
    async with Sounding(bus, player=FakePlayer(1.0)) as room:
        room.say("One. Two. Which city?", listen=True)
        await room.pass_by(2.0)
        assert room.signals() == [STARTED]
        await room.pass_by(1.0)
        assert room.signals() == [STARTED, ENDED, LISTEN]


@pytest.mark.spec("AUDIO-1/4.4.a")
async def test_who_asked_for_the_microphone_gets_it_after_what_others_said(bus: LocalBus) -> None:
    async with Sounding(bus, player=FakePlayer(1.0)) as room:
        room.say("Which city?", listen=True)
        room.say("Dinner is ready.")
        await room.pass_by(5.0)
        assert room.signals() == [STARTED, ENDED, LISTEN]


@pytest.mark.parametrize("stop", [topics.AUDIO_STOP, topics.STOP])
@pytest.mark.spec("AUDIO-1/4.4.b", "AUDIO-1/4.1.f", "AUDIO-1/6.a", "AUDIO-1/6.b", "AUDIO-1/6.c", "STOP-1/5.3.b")
async def test_a_stop_ends_what_is_heard_and_drops_what_waits(bus: LocalBus, stop: str) -> None:
    async with Sounding(bus, player=FakePlayer(4.0)) as room:
        room.say("Which city?", listen=True)
        room.say("Two.", listen=True)
        room.emit(topics.AUDIO_QUEUE, audio=packed("bell"), listen=True)
        await room.pass_by(1.0)
        room.emit(stop)
        await settle()
        assert room.signals() == [STARTED, ENDED], "at once"
        await settle()
        assert [read(audio) for audio in room.player.cut] == ["Which city?"]
        assert room.player.playing == []
        await room.pass_by(60.0)
        assert room.player.heard == []
        assert room.signals() == [STARTED, ENDED], "and the microphone stays shut"
        assert room.outcomes == ["stopped", "stopped"]


@pytest.mark.parametrize("stop", [topics.AUDIO_STOP, topics.STOP])
@pytest.mark.spec("AUDIO-1/6.c")
async def test_a_stop_where_nothing_is_heard_ends_nothing(bus: LocalBus, stop: str) -> None:
    voice = SlowTTS()
    async with Sounding(bus, voice) as room:
        room.emit(stop)
        room.say("still being made", listen=True)
        room.say("for elsewhere", "default", topics.UTTERANCE_SPEAK_B64, listen=True)
        await settle()
        room.emit(stop)
        await settle()
        voice.release(2)
        await settle()
        assert voice.texts == ["still being made", "for elsewhere"]
        assert (room.signals(), room.player.sounds, room.outcomes) == ([], [], ["stopped"])


@pytest.mark.spec("AUDIO-1/6.d", "STOP-1/5.3.c")
async def test_a_stop_is_for_its_session_alone(bus: LocalBus) -> None:
    async with Sounding(bus, player=FakePlayer(2.0)) as room:
        for session in ("default", "kitchen"):
            room.say(f"to {session}", session)
        await room.pass_by(1.0)
        room.emit(topics.AUDIO_STOP, "kitchen")
        await room.pass_by(1.0)
        assert room.player.heard == ["to default"]
        assert room.signals("kitchen") == room.signals() == [STARTED, ENDED]


@pytest.mark.spec("AUDIO-1/6.e")
async def test_barge_in_is_somebody_elses_decision(bus: LocalBus) -> None:
    async with Sounding(bus, player=FakePlayer(2.0), earcons=True) as room:
        room.say("hello")
        await room.pass_by(1.0)
        room.emit(topics.LISTENER_WAKEWORD, wake_word="hey you")
        await room.pass_by(1.0)
        assert room.player.heard == ["hello"]


@pytest.mark.spec("AUDIO-1/5.1.b", "AUDIO-1/5.2.a")
async def test_signals_say_whose_they_are_and_nothing_else(bus: LocalBus) -> None:
    async with Sounding(bus) as room:
        room.say("hello", Session("kitchen", site_id="downstairs"), listen=True, context={"destination": "sat"})
        await settle()
        signals = [message for message in room.messages if message.type in SIGNALS]
        assert [message.type for message in signals] == [STARTED, ENDED, LISTEN]
        for message in signals:
            assert (message.data, message.session_id, message.session.site_id) == ({}, "kitchen", "downstairs")
            assert (message.context["skill_id"], message.utterance_id) == ("some.skill", "u1")


@pytest.mark.spec("AUDIO-1/5.3.b", "AUDIO-1/5.3.c")
async def test_who_asks_is_told_whether_that_session_is_spoken_to(bus: LocalBus) -> None:
    async with Sounding(bus, player=FakePlayer(2.0)) as room:

        async def speaking(session: Session | None) -> bool:
            query = Message(topics.AUDIO_IS_SPEAKING, {}, {"source": "asker", "destination": "hark"}, session)
            answer = await ask(bus, room.clock, query)
            assert (answer.context["source"], answer.context["destination"]) == ("hark", "asker")
            assert answer.session_id == (session or Session()).session_id
            told: bool = answer.data["speaking"]
            return told

        assert await speaking(None) is False
        room.say("hello")
        await room.pass_by(1.0)
        everybody = [None, Session(), Session("default"), Session("kitchen"), Session("sat-3")]
        assert [await speaking(one) for one in everybody] == [True, True, True, False, False]
        await room.pass_by(1.0)
        assert await speaking(None) is False


# Cancellation (TRANSFORM-1 §8, ruling R1), and what else is decided where the text is silent.


@BOTH
@pytest.mark.parametrize("kind", ["dialog", "tts"])
@pytest.mark.spec("AUDIO-1/3.a", "TRANSFORM-1/8.2.b", "TRANSFORM-1/8.2.c")
async def test_a_cancelled_response_is_told_and_not_heard(bus: LocalBus, kind: str, topic: str) -> None:
    def hush(artifact: Any, ctx: Ctx) -> Any:
        if "secret" in (artifact if isinstance(artifact, str) else read(artifact)):
            ctx.cancel("policy_block")
        return artifact

    async with Sounding(bus, **{kind: (link(kind, "hush", hush),)}) as room:
        room.say("secret", topic=topic, listen=True)
        room.say("fine", topic=topic)
        await settle()
        [cancelled] = room.of(topics.UTTERANCE_CANCELLED)
        assert cancelled.data == {"cancel_reason": "policy_block", "cancel_by": "hush"}
        assert cancelled.context["canceled"] is True
        assert room.of(LISTEN) == room.of(topics.UTTERANCE_HANDLED) == room.of(topics.INTENT_UNMATCHED) == []
        assert room.tts.texts == (["fine"] if kind == "dialog" else ["secret", "fine"])
        if topic == topics.UTTERANCE_SPEAK:
            assert room.player.heard == ["fine"]
            assert [spoken.text for spoken in room.shown] == ["fine"]
        else:
            assert [read(unpacked(speech)) for speech in room.of(SPEECH)] == ["fine"]


@BOTH
@pytest.mark.spec("AUDIO-1/3.2.b", "AUDIO-1/3.2.c")
async def test_a_response_nobody_can_speak_still_opens_the_microphone(bus: LocalBus, topic: str) -> None:
    async with Sounding(bus, FakeTTS(broken)) as room:
        room.say("Which city?", topic=topic, listen=True)
        await settle()
        assert room.signals() == [LISTEN], "a handler may be waiting for the answer"
        if topic == topics.UTTERANCE_SPEAK:
            assert room.outcomes == ["failed"]
            assert [spoken.text for spoken in room.shown] == ["Which city?"], "what cannot be heard can be read"
