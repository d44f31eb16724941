"""Speech for a loudspeaker elsewhere."""

from __future__ import annotations

import base64
import logging
from typing import Any

import pytest

from flow.sounding import LISTEN, Sounding
from hark.act.running_work import HandlerSpeech
from hark.bus import LocalBus
from hark.model import Audio, Message, Session
from hark.model.wav import read_wav
from hark.spec import topics
from hark.testing import FakeClock, settle
from hark.testing.voice.output import FakeTTS, SlowTTS, read, voiced

B64, SPEECH = topics.UTTERANCE_SPEAK_B64, topics.AUDIO_SPEECH


def sound_of(message: Message) -> Audio:
    return read_wav(base64.b64decode(message.data["audio"]))


@pytest.mark.parametrize("text", [None, 7, ["hello"], {"a": 1}])
async def test_an_utterance_that_is_not_text_is_dropped_and_reported(
    bus: LocalBus, text: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with Sounding(bus) as room:
        with caplog.at_level(logging.WARNING, "hark.speak"):
            room.say(text, "sat-3", B64, listen=True)
            room.say("next", "sat-3", B64)
            await settle()
        assert room.signals("sat-3") == [SPEECH]
        assert "not a text" in caplog.text


@pytest.mark.parametrize("outcome", ["rendered", "stopped", "failed", "dropped"])
async def test_speech_for_a_satellite_is_reported_once(bus: LocalBus, outcome: str) -> None:
    voice = SlowTTS() if outcome == "stopped" else FakeTTS(lambda text: None if outcome == "failed" else voiced(text))
    async with Sounding(bus, voice) as room:
        text = None if outcome == "dropped" else "One. Two."
        room.say(text, "sat-3", B64, context={"hark_response": "u1-1"})
        await settle()
        if isinstance(voice, SlowTTS):
            room.emit(topics.STOP, "sat-3")
            voice.release(2)
        await room.quiet()
        [told] = room.of(topics.SPEECH_RENDERED)
        assert told.data == {"outcome": outcome}
        assert told.context["hark_response"] == "u1-1"
        assert told.session_id == "sat-3"


async def test_a_handler_waits_for_speech_that_a_satellite_is_sent(bus: LocalBus) -> None:
    clock, order = FakeClock(), list[str]()
    speech = HandlerSpeech(bus, clock)
    bus.on(topics.UTTERANCE_SPEAK, lambda said: bus.emit(said.forward(B64, said.data)))  # as a bridge does
    bus.on(topics.AUDIO_SPEECH, lambda _said: order.append("sent"))
    async with Sounding(bus) as room:
        said = Message(topics.UTTERANCE_SPEAK, {"utterance": "hello"}, {"utterance_id": "u1"}, Session("sat-3"))
        await speech.say(said, wait=True)
        order.append("after")
        assert order == ["sent", "after"]
        assert len(room.of(topics.SPEECH_RENDERED)) == 1
    speech.close()


async def test_where_it_is_shown_as_well_it_is_rendered_once(bus: LocalBus) -> None:
    async with Sounding(bus) as room:
        room.say("Hello.", "kitchen", context={"hark_response": "u1-1"})
        room.say("Hello.", "kitchen", B64, context={"hark_response": "u1-1"})
        await room.quiet()
        assert len(room.of(topics.SPEECH_RENDERED)) == 1


async def test_each_satellite_is_spoken_to_in_order_and_none_waits_for_another(bus: LocalBus) -> None:
    voice = SlowTTS()
    async with Sounding(bus, voice) as room:
        room.say("Long for three.", "sat-3", B64)
        room.say("Short.", "sat-3", B64)
        room.say("For four.", "sat-4", B64)
        await settle()
        assert voice.texts == ["Long for three.", "For four."]
        voice.release(3)
        await settle()
        assert [read(sound_of(m)) for m in room.of(SPEECH, "sat-3")] == ["Long for three.", "Short."]
        assert [read(sound_of(m)) for m in room.of(SPEECH, "sat-4")] == ["For four."]


async def test_a_stop_reaches_what_is_being_made(bus: LocalBus) -> None:
    voice = SlowTTS()
    async with Sounding(bus, voice) as room:
        room.say("One. Two.", "sat-3", B64, listen=True)
        room.say("Three.", "sat-3", B64, listen=True)
        room.say("Four.", "sat-4", B64, listen=True)
        await settle()
        room.emit(topics.STOP, "sat-3")
        room.say("Stopped.", "sat-3", B64)
        voice.release(9)
        await settle()
        assert [read(sound_of(m)) for m in room.of(SPEECH, "sat-3")] == ["Stopped."]
        assert room.signals("sat-4") == [SPEECH, LISTEN]
        assert "Two." not in voice.texts


async def test_sentences_of_different_engines_become_one_sound(bus: LocalBus) -> None:
    def choosy(text: str) -> Any:
        return None if "Two" in text else voiced(text)

    first, second = FakeTTS(choosy, id="first"), FakeTTS(lambda text: Audio(bytes(3_200), 16_000), id="second")
    async with Sounding(bus, first, second) as room:
        room.say("One. Two.", "sat-3", B64)
        await room.quiet()
        [speech] = room.of(SPEECH)
        audio = sound_of(speech)
        assert audio.sample_rate == 8_000
        assert audio.seconds == pytest.approx(4 / 8_000 + 0.1)


async def test_it_can_be_left_to_another_service(bus: LocalBus) -> None:
    async with Sounding(bus, remote=False) as room:
        room.say("hello", "sat-3", B64)
        await settle()
        assert (room.of(SPEECH), room.tts.asked) == ([], [])


async def test_the_trace_tells_that_it_was_heard_elsewhere(bus: LocalBus) -> None:
    async with Sounding(bus) as room:
        trace = room.trace()
        room.say("hello", "sat-3", B64)
        await settle()
        assert [(step.stage, step.outcome) for step in trace.steps] == [("tts", "made"), ("speak", "rendered")]
