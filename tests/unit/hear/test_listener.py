"""From the microphone to an utterance."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from flow.listening import Listening, SlowSTT, command
from hark.bus import LocalBus
from hark.hear import ListenerState
from hark.hear.audio_source import AudioSource
from hark.hear.detectors import Detectors
from hark.hear.recording import BYTES_A_SECOND
from hark.model import Message, Session, decode
from hark.model.audio import Level
from hark.plugins.engines import WakeWord
from hark.spec import topics
from hark.testing import settle
from hark.testing.voice.input import Scene, words_in

CAPTURED = [topics.LISTENER_RECORD_STARTED, topics.LISTENER_RECORD_ENDED]


async def test_what_follows_the_wake_word_becomes_an_utterance(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.hears(command("what time is it"))
        assert stage.topics() == [
            topics.LISTENER_WAKEWORD,
            topics.AUDIO_STOP,
            topics.LISTENER_RECORD_STARTED,
            topics.LISTENER_RECORD_ENDED,
            topics.UTTERANCE_HANDLE,
        ]
        assert stage.of(topics.LISTENER_WAKEWORD)[0].data == {"wake_word": "hey jarvis"}
        [handle] = stage.of(topics.UTTERANCE_HANDLE)
        assert handle.data == {"utterances": ("what time is it",), "lang": "en-US"}
        assert handle.session is not None
        assert (handle.session_id, handle.session.stt_lang, handle.utterance_id) == ("default", "en-US", None)
        assert stage.states() == ["waiting", "listening", "thinking", "waiting"]
        assert words_in(stage.stt.heard[0][0].samples) == ["what", "time", "is", "it"]


async def test_command_after_command(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        for text in ("one", "two", "three"):
            await stage.hears(command(f"number {text}"))
        assert stage.said() == ["number one", "number two", "number three"]
        ids = {message.context["hark_capture"] for message in stage.of(topics.UTTERANCE_HANDLE)}
        assert len(ids) == 3


async def test_without_a_wake_word_nothing_is_recorded(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.hears(Scene().says("what time is it").silence(2).says("jarvis hey").silence(2))
        assert stage.topics() == []
        assert stage.stt.heard == []


@pytest.mark.parametrize("pause", [0.05, 0.3, 2.0])
async def test_the_first_word_is_whole_and_the_wake_word_is_left_out(bus: LocalBus, pause: float) -> None:
    async with Listening(bus) as stage:
        await stage.hears(command("what time is it", pause))
        [(audio, _)] = stage.stt.heard
        scene = Scene().says("what time is it")
        assert words_in(audio.samples) == ["what", "time", "is", "it"]
        assert _voiced(audio.samples) == _voiced(scene.samples)


async def test_in_one_breath_nothing_of_the_command_is_lost(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.hears(Scene().silence(0.5).says("hey jarvis what time is it").silence(1.0))
        [(audio, _)] = stage.stt.heard
        assert words_in(audio.samples) == ["jarvis", "what", "time", "is", "it"]
        assert stage.said() == ["what time is it"]
        assert _voiced(audio.samples) >= _voiced(Scene().says("what time is it").samples)


async def test_a_single_word_in_one_breath_is_a_command(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.hears(Scene().silence(0.5).says("hey jarvis stop", 0.2).silence(1.0))
        assert stage.said() == ["stop"]


async def test_after_a_pause_the_name_is_part_of_the_command(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.hears(command("jarvis is who"))
        assert stage.said() == ["jarvis is who"]


async def test_silence_after_the_wake_word_is_not_recognised(bus: LocalBus) -> None:
    async with Listening(bus, no_speech=3.0) as stage:
        await stage.hears(Scene().says("hey jarvis").silence(2.9))
        assert stage.listener.state == "listening"
        await stage.hears(Scene().silence(0.5))
        assert stage.outcomes() == [topics.STT_FAILED]
        assert stage.topics()[-2:] == [topics.LISTENER_RECORD_ENDED, topics.STT_FAILED]
        assert stage.stt.heard == []


@pytest.mark.parametrize("silence", [0.3, 1.5])
async def test_the_silence_that_ends_a_command_is_as_long_as_was_set(bus: LocalBus, silence: float) -> None:
    async with Listening(bus, silence=silence) as stage:
        await stage.hears(Scene().says("hey jarvis").silence(0.5).says("go").silence(silence - 0.1))
        assert stage.outcomes() == []
        await stage.hears(Scene().silence(0.2))
        assert stage.said() == ["go"]


async def test_a_command_without_end_is_cut_off(bus: LocalBus) -> None:
    async with Listening(bus, longest=2.0) as stage:
        await stage.hears(Scene().says("hey jarvis").silence(0.5).says("blah " * 12))
        assert len(stage.outcomes()) == 1
        assert stage.stt.heard[0][0].seconds <= 2.0


async def test_several_wake_words_each_with_language_and_persona(bus: LocalBus) -> None:
    words = (
        WakeWord("butler", "hey jarvis", persona="butler"),
        WakeWord("german", "hallo computer", lang="de-DE"),
    )
    async with Listening(bus, wake_words=words) as stage:
        await stage.hears(Scene().says("hallo computer").silence(0.3).says("wie spät").silence(1))
        await stage.hears(Scene().says("hey jarvis").silence(0.3).says("what time").silence(1))
        first, second = stage.of(topics.LISTENER_WAKEWORD)
        assert first.data == {"wake_word": "hallo computer", "lang": "de-DE"}
        assert second.data == {"wake_word": "hey jarvis"}
        german, english = stage.of(topics.UTTERANCE_HANDLE)
        assert german.session == Session(request_lang="de-DE", stt_lang="de-DE")
        assert english.session == Session(persona_id="butler", stt_lang="en-US")
        assert [lang for _, lang in stage.stt.heard] == ["de-DE", "en-US"]


async def test_a_wake_word_inside_a_command_opens_nothing(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.hears(command("who is hey jarvis then"))
        assert stage.said() == ["who is hey jarvis then"]
        assert len(stage.of(topics.LISTENER_WAKEWORD)) == 1
        await stage.hears(Scene().silence(3))
        assert stage.topics().count(topics.LISTENER_RECORD_STARTED) == 1


# Listening without a wake word.


@pytest.mark.parametrize("session", [None, Session(), Session("default")])
async def test_a_request_starts_a_recording(bus: LocalBus, session: Session | None) -> None:
    async with Listening(bus) as stage:
        await stage.told(topics.MIC_LISTEN, session, utterance_id="old", skill_id="a.skill", canceled=True)
        assert stage.listener.state == "listening"
        await stage.hears(Scene().silence(0.5).says("five minutes").silence(1))
        assert stage.topics() == [topics.MIC_LISTEN, *CAPTURED, topics.UTTERANCE_HANDLE]
        [handle] = stage.of(topics.UTTERANCE_HANDLE)
        assert handle.data["utterances"] == ("five minutes",)
        assert set(handle.context) == {"hark_capture"}


async def test_sessions_that_are_not_ours_are_left_alone(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.told(topics.MIC_LISTEN, Session("kitchen"))
        await stage.hears(Scene().says("five minutes").silence(1))
        assert stage.topics() == [topics.MIC_LISTEN]


async def test_a_session_of_our_own_is_carried_whole(bus: LocalBus) -> None:
    async with Listening(bus, serves={"default", "kitchen"}.__contains__) as stage:
        known = Session("kitchen", site_id="here", lang="de-DE", stt_lang="en-GB", detected_lang="fr-FR")
        await stage.told(topics.MIC_LISTEN, known)
        await stage.hears(Scene().says("fünf Minuten").silence(1))
        assert all(message.session_id == "kitchen" for message in stage.messages[-5:] if "state" not in message.data)
        [handle] = stage.of(topics.UTTERANCE_HANDLE)
        assert handle.session == Session("kitchen", site_id="here", lang="de-DE", stt_lang="de-DE")


async def test_asking_twice_opens_once(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.told(topics.MIC_LISTEN)
        await stage.told(topics.MIC_LISTEN)
        await stage.hears(Scene().says("yes").silence(1))
        assert stage.topics().count(topics.LISTENER_RECORD_STARTED) == 1


async def test_push_to_talk_lasts_until_it_is_released(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        assert stage.listener.listen(lang="fr-FR", held=True)
        assert not stage.listener.listen()
        await stage.hears(Scene().says("one").silence(3).says("two").silence(6))
        assert stage.listener.state == "listening"
        stage.listener.release()
        await stage.hears(Scene().silence(0.1))
        assert stage.topics() == [*CAPTURED, topics.UTTERANCE_HANDLE]
        assert stage.said() == ["one two"]
        assert stage.stt.heard[0][1] == "fr-FR"


async def test_releasing_what_is_not_held_does_nothing(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        stage.listener.release()
        await settle()
        assert stage.topics() == []


async def test_a_moment_before_the_button_is_pushed_is_kept(bus: LocalBus) -> None:
    async with Listening(bus, pre_roll=0.5) as stage:
        await stage.hears(Scene().says("early", 0.3))
        stage.listener.listen()
        await stage.hears(Scene().says("bird", 0.3).silence(1))
        assert stage.said() == ["early bird"]


async def test_speech_starts_a_recording_where_no_wake_word_is_needed(bus: LocalBus) -> None:
    async with Listening(bus, opens_by="speech", wake_words=()) as stage:
        await stage.hears(Scene().silence(1).says("what time is it").silence(1).says("and now").silence(1))
        assert stage.said() == ["what time is it", "and now"]
        assert stage.topics() == [*CAPTURED, topics.UTTERANCE_HANDLE] * 2


# Sleep.


async def test_asleep_nothing_starts_a_recording(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.told(topics.LISTENER_SLEEP, Session("somebody"))
        await stage.hears(command())
        await stage.told(topics.MIC_LISTEN)
        assert not stage.listener.listen()
        assert stage.topics() == [topics.LISTENER_SLEEP, topics.MIC_LISTEN]
        assert stage.states() == ["waiting", "asleep"]


async def test_awake_again_the_last_words_before_are_forgotten(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.hears(Scene().says("hey"))
        await stage.told(topics.LISTENER_SLEEP)
        await stage.told(topics.LISTENER_WAKE, Session("somebody"))
        await stage.hears(Scene().says("jarvis").silence(0.5))
        assert stage.topics() == [topics.LISTENER_SLEEP, topics.LISTENER_WAKE, topics.LISTENER_AWOKEN]
        assert stage.of(topics.LISTENER_AWOKEN)[0].session_id == "somebody"
        await stage.hears(command())
        assert stage.said() == ["what time is it"]


async def test_sleep_drops_the_recording(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.hears(Scene().says("hey jarvis").silence(0.3).says("what time"))
        await stage.told(topics.LISTENER_SLEEP)
        await stage.hears(Scene().silence(2))
        assert stage.topics()[-2:] == [topics.LISTENER_SLEEP, topics.LISTENER_RECORD_ENDED]
        assert stage.outcomes() == []
        assert stage.traces.find("capture").outcome == "asleep"


async def test_what_was_said_before_sleep_is_still_recognised(bus: LocalBus) -> None:
    async with Listening(bus, in_step=False) as stage:
        stage.stt.answers = []
        stage.microphone.give(command("go to sleep"))
        await stage.microphone.heard()
        await stage.told(topics.LISTENER_SLEEP)
        assert stage.said() == ["go to sleep"]


async def test_a_wake_word_ends_sleep_where_that_is_wanted(bus: LocalBus) -> None:
    async with Listening(bus, wake_by_voice=True) as stage:
        await stage.told(topics.LISTENER_SLEEP)
        await stage.hears(command())
        assert stage.topics() == [topics.LISTENER_SLEEP, topics.LISTENER_AWOKEN]
        assert stage.of(topics.LISTENER_AWOKEN)[0].session == Session()
        await stage.hears(command())
        assert stage.said() == ["what time is it"]


# While the assistant talks.


async def test_a_wake_word_stops_what_is_being_said(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.told(topics.AUDIO_OUTPUT_STARTED)
        await stage.hears(command())
        stop = stage.of(topics.AUDIO_STOP)
        assert [message.session for message in stop] == [Session()]
        assert stage.topics()[1:4] == [topics.LISTENER_WAKEWORD, topics.AUDIO_STOP, topics.LISTENER_RECORD_STARTED]
        assert stage.said() == ["what time is it"]


async def test_a_wake_word_stops_nothing_where_that_is_not_wanted(bus: LocalBus) -> None:
    async with Listening(bus, barge_in=False) as stage:
        await stage.told(topics.AUDIO_OUTPUT_STARTED)
        await stage.hears(command())
        assert stage.of(topics.AUDIO_STOP) == []


async def test_half_duplex_hears_only_wake_words_while_it_talks(bus: LocalBus) -> None:
    async with Listening(bus, half_duplex=True, opens_by="speech") as stage:
        await stage.told(topics.AUDIO_OUTPUT_STARTED)
        await stage.hears(Scene().says("I am the assistant").silence(1))
        assert stage.topics() == [topics.AUDIO_OUTPUT_STARTED]
        await stage.hears(Scene().says("hey jarvis").says("talking talking"))
        assert stage.topics()[1:] == [topics.LISTENER_WAKEWORD, topics.AUDIO_STOP, topics.LISTENER_RECORD_STARTED]
        await stage.told(topics.AUDIO_OUTPUT_ENDED)
        await stage.hears(Scene().silence(0.4).says("what time").silence(1))
        assert stage.said() == ["what time"]


async def test_the_end_of_its_own_question_is_no_answer(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.told(topics.AUDIO_OUTPUT_STARTED)
        await stage.hears(Scene().says("which city do you mean"))
        await stage.told(topics.AUDIO_OUTPUT_ENDED)
        await stage.told(topics.MIC_LISTEN)
        await stage.hears(Scene().says("mean", 0.2).silence(1.5))
        assert stage.listener.state == "listening"
        await stage.hears(Scene().says("Lisbon").silence(1))
        assert stage.said() == ["Lisbon"]


@pytest.mark.parametrize("half_duplex", [False, True])
async def test_a_yes_at_once_is_an_answer_where_it_does_not_hear_itself(bus: LocalBus, half_duplex: bool) -> None:
    async with Listening(bus, half_duplex=half_duplex) as stage:
        await stage.told(topics.AUDIO_OUTPUT_STARTED)
        await stage.hears(Scene().silence(1.5))
        await stage.told(topics.AUDIO_OUTPUT_ENDED)
        await stage.told(topics.MIC_LISTEN)
        await stage.hears(Scene().says("yes", 0.2).silence(1))
        assert stage.said() == ["yes"]


@pytest.mark.parametrize("half_duplex", [False, True])
async def test_a_yes_after_the_least_pause_is_an_answer(bus: LocalBus, half_duplex: bool) -> None:
    async with Listening(bus, half_duplex=half_duplex) as stage:
        await stage.told(topics.AUDIO_OUTPUT_STARTED)
        await stage.hears(Scene().says("shall I turn it off"))
        await stage.told(topics.AUDIO_OUTPUT_ENDED)
        await stage.told(topics.MIC_LISTEN)
        await stage.hears(Scene().silence(0.064).says("yes", 0.2).silence(1))
        assert stage.said() == ["yes"]


async def test_of_a_word_it_is_not_known_yet_whether_the_machine_hears_itself(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.told(topics.AUDIO_OUTPUT_STARTED)
        await stage.hears(Scene().silence(0.2))
        await stage.told(topics.AUDIO_OUTPUT_ENDED)
        await stage.told(topics.MIC_LISTEN)
        await stage.hears(Scene().says("well", 0.2).silence(0.5))
        assert stage.said() == []


async def test_half_duplex_its_own_echo_is_not_heard(bus: LocalBus) -> None:
    async with Listening(bus, half_duplex=True, opens_by="speech", echo_tail=0.3) as stage:
        await stage.told(topics.AUDIO_OUTPUT_STARTED)
        await stage.hears(Scene().says("I am the assistant"))
        await stage.told(topics.AUDIO_OUTPUT_ENDED)
        await stage.hears(Scene().says("assistant", 0.25).silence(1))
        assert stage.of(topics.LISTENER_RECORD_STARTED) == []
        await stage.hears(Scene().says("hello").silence(1))
        assert stage.said() == ["hello"]


async def test_half_duplex_answers_are_waited_for_when_it_is_silent(bus: LocalBus) -> None:
    async with Listening(bus, half_duplex=True) as stage:
        await stage.told(topics.AUDIO_OUTPUT_STARTED)
        await stage.told(topics.MIC_LISTEN)
        assert stage.listener.state == "waiting"
        await stage.hears(Scene().says("which city"))
        await stage.told(topics.AUDIO_OUTPUT_ENDED)
        assert stage.listener.state == "listening"
        await stage.hears(Scene().silence(0.3).says("Lisbon").silence(1))
        assert stage.said() == ["Lisbon"]


async def test_half_duplex_a_recording_ends_although_the_talking_does_not(bus: LocalBus) -> None:
    async with Listening(bus, half_duplex=True, longest=2.0) as stage:
        await stage.told(topics.MIC_LISTEN)
        await stage.told(topics.AUDIO_OUTPUT_STARTED)
        await stage.hears(Scene().says("blah " * 9))
        assert stage.outcomes() == [topics.STT_FAILED]


async def test_what_is_played_to_others_does_not_matter(bus: LocalBus) -> None:
    async with Listening(bus, half_duplex=True, opens_by="speech") as stage:
        await stage.told(topics.AUDIO_OUTPUT_STARTED, Session("kitchen"))
        await stage.hears(Scene().says("hello").silence(1))
        assert stage.said() == ["hello"]


# Many commands, the end of the sound, and closing.


async def test_commands_are_recognised_in_the_order_they_were_spoken(bus: LocalBus) -> None:
    async with Listening(bus, SlowSTT()) as stage:
        stage.microphone.give(command("one"))
        stage.microphone.give(command("two"))
        await stage.microphone.heard()
        assert stage.listener.state == "thinking"
        assert stage.outcomes() == []
        await stage.clock.advance(2)
        assert stage.said() == ["one"]
        await stage.clock.advance(2)
        assert stage.said() == ["one", "two"]


async def test_when_too_many_wait_no_other_is_taken(bus: LocalBus, caplog: pytest.LogCaptureFixture) -> None:
    async with Listening(bus, SlowSTT(), most_waiting=2) as stage:
        for text in ("one", "two", "three"):
            stage.microphone.give(command(text))
        await stage.microphone.heard()
        assert len(stage.of(topics.LISTENER_RECORD_STARTED)) == 2
        assert "2 commands wait to be recognised" in caplog.text
        await stage.clock.advance(4)
        await stage.hears(Scene().silence(0.1))
        assert stage.said() == ["one", "two"]


async def test_when_the_sound_ends_the_command_is_over(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        stage.microphone.give(Scene().says("hey jarvis").silence(0.3).says("what time is it"))
        stage.microphone.give(b"\0" * 10)
        stage.microphone.runs_out()
        async with asyncio.timeout(20):
            await stage.listener.finished()
        assert stage.said() == ["what time is it"]
        assert not stage.microphone.open
        assert not stage.listener.listen()
        assert stage.listener.state == "waiting"


async def test_a_closed_listener_has_ended_what_it_began(bus: LocalBus) -> None:
    tasks = asyncio.all_tasks()
    async with Listening(bus, SlowSTT()) as stage:
        await stage.microphone.hears(command("one"))
        await stage.microphone.hears(Scene().says("hey jarvis").silence(0.3).says("two"))
        assert stage.listener.state == "listening"
    await settle()
    assert [stage.topics().count(topic) for topic in CAPTURED] == [2, 2]
    assert stage.outcomes() == [topics.STT_FAILED]
    assert not stage.microphone.open
    assert asyncio.all_tasks() == tasks


async def test_what_waits_when_the_listener_is_closed_has_an_outcome(bus: LocalBus) -> None:
    async with Listening(bus, SlowSTT()) as stage:
        for text in ("one", "two", "three"):
            await stage.microphone.hears(command(text))
    assert stage.outcomes() == [topics.STT_FAILED] * 3
    assert stage.listener.state == "waiting"


async def test_of_very_many_sessions_the_last_ones_are_known(bus: LocalBus) -> None:
    async with Listening(bus, serves=lambda session_id: True) as stage:
        for number in range(70):
            bus.emit(Message(topics.UTTERANCE_HANDLED, {}, {}, Session(f"s{number}", lang="de-DE")))
        for session_id in ("s69", "s0"):
            assert stage.listener.listen(session_id)
            await stage.hears(Scene().says("hello").silence(1))
        assert [lang for _, lang in stage.stt.heard] == ["de-DE", "en-US"]


LISTENED_TO = (
    topics.MIC_LISTEN,
    topics.LISTENER_SLEEP,
    topics.LISTENER_WAKE,
    topics.AUDIO_OUTPUT_STARTED,
    topics.AUDIO_OUTPUT_ENDED,
    topics.UTTERANCE_HANDLED,
    topics.UTTERANCE_SPEAK,
    topics.SPEECH_RENDERED,
    topics.HANDLER_WAITING,
    topics.INTENT_MATCHED,
    topics.INTENT_UNMATCHED,
    topics.UTTERANCE_CANCELLED,
)


@pytest.mark.parametrize("garbage", [None, 7, "x", [], [1], {}, {"x": [None]}, True])
async def test_nothing_that_comes_by_can_harm_it(bus: LocalBus, garbage: Any) -> None:
    keys = ("session_id", "lang", "stt_lang", "detected_lang", "audio_transformers", "persona_id")
    async with Listening(bus, in_step=True, half_duplex=True) as stage:
        for topic in LISTENED_TO:
            data = {"waits": garbage, "utterance": garbage}
            for key in keys:
                context = {"hark_capture": garbage, "utterance_id": garbage, "session": {key: garbage}}
                bus.emit(decode(json.dumps({"type": topic, "data": data, "context": context}).encode()))
        for topic in (topics.LISTENER_WAKE, topics.AUDIO_OUTPUT_ENDED):
            await stage.told(topic)
        for _ in range(len(keys)):
            await stage.told(topics.SPEECH_RENDERED)
        stage.listener.release()
        await settle()
        stage.messages.clear()
        await stage.told(topics.MIC_LISTEN)
        stage.microphone.give(Scene().silence(0.5).says("yes").silence(1))
        await settle()
        for _ in range(10):
            await stage.clock.advance(0.1)
        assert stage.said() == ["yes"]


async def test_a_cancelled_listening_task_is_started_again(bus: LocalBus, caplog: pytest.LogCaptureFixture) -> None:
    async with Listening(bus) as stage:
        for task in asyncio.all_tasks():
            if task.get_name() == "listening":
                task.cancel()
        await settle()
        await stage.hears(command())
        assert stage.said() == ["what time is it"]
        assert stage.microphone.opened == 2


async def test_a_cancelled_recognition_task_ends_one_command(bus: LocalBus) -> None:
    async with Listening(bus, SlowSTT()) as stage:
        stage.microphone.give(command("one"))
        stage.microphone.give(command("two"))
        await stage.microphone.heard()
        [task] = [task for task in asyncio.all_tasks() if task.get_name() == "recognising commands"]
        task.cancel()
        await stage.clock.advance(4)
        assert stage.outcomes() == [topics.STT_FAILED, topics.UTTERANCE_HANDLE]
        assert stage.said() == ["two"]


async def test_levels_are_shown_for_each_block(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.hears(Scene().silence(0.064).noise(0.064))
        assert [round(one.peak, 1) for one in stage.levels] == [0.0, 0.0, 0.3, 0.3]


async def test_a_meter_that_fails_is_shown_no_more(bus: LocalBus, caplog: pytest.LogCaptureFixture) -> None:
    levels: list[Level] = []

    def broken(level: Level) -> None:
        levels.append(level)
        raise RuntimeError("no terminal")

    async with Listening(bus, on_level=broken) as stage:
        await stage.hears(command())
        assert len(levels) == 1
        assert stage.said() == ["what time is it"]


async def test_a_recording_without_any_sound_ends_by_the_clock(bus: LocalBus, caplog: pytest.LogCaptureFixture) -> None:
    async with Listening(bus, stall=10.0) as stage:
        stage.listener.listen()
        await stage.clock.advance(8)
        await stage.hears(Scene().silence(0.1))
        await stage.clock.advance(8)
        assert stage.listener.state == "listening"
        await stage.clock.advance(8)
        assert stage.outcomes() == [topics.STT_FAILED]
        assert "no sound has come for 10 s" in caplog.text


async def test_a_subscriber_may_drop_the_recording_when_it_starts(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        bus.on(topics.LISTENER_RECORD_STARTED, lambda message: bus.emit(Message(topics.LISTENER_SLEEP)))
        await stage.hears(command())
        assert stage.listener.state == "asleep"
        assert stage.topics()[-1] == topics.LISTENER_RECORD_ENDED
        assert stage.outcomes() == []


async def test_what_it_calls_itself_is_on_every_message(bus: LocalBus) -> None:
    async with Listening(bus, source="kitchen-microphone") as stage:
        await stage.hears(command())
        assert {message.context.get("source") for message in stage.messages} == {"kitchen-microphone"}
        assert not any("destination" in message.context for message in stage.messages)


async def test_the_session_of_the_last_message_is_used(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        told = Session(lang="pt-PT", site_id="here", stt_lang="en-US", request_lang="en-US", detected_lang="en-US")
        await stage.told(topics.UTTERANCE_HANDLED, told)
        await stage.hears(command())
        [handle] = stage.of(topics.UTTERANCE_HANDLE)
        assert handle.session == Session(stt_lang="pt-PT")
        assert stage.stt.heard[0][1] == "pt-PT"


def _voiced(samples: bytes) -> float:
    """Seconds of sound that are not silent."""
    return sum(64 for at in range(0, len(samples), 64) if any(samples[at : at + 64])) / BYTES_A_SECOND


async def test_a_subscriber_may_send_it_to_sleep_at_the_wake_word(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        bus.on(topics.LISTENER_WAKEWORD, lambda message: bus.emit(Message(topics.LISTENER_SLEEP)))
        await stage.hears(command())
        assert stage.topics() == [topics.LISTENER_WAKEWORD, topics.LISTENER_SLEEP, topics.AUDIO_STOP]
        assert stage.listener.state == "asleep"


async def test_a_request_within_the_wake_word_signal_opens_once(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        bus.on(topics.LISTENER_WAKEWORD, lambda message: bus.emit(Message(topics.MIC_LISTEN)))
        await stage.hears(command())
        assert stage.topics().count(topics.LISTENER_RECORD_STARTED) == 1
        assert len(stage.outcomes()) == 1


async def test_what_breaks_inside_is_begun_again(
    bus: LocalBus, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Listening(bus, reopen_after=0.5) as stage:
        block = AudioSource.block
        errors = [ValueError("a mistake of ours")]

        async def broken(source: AudioSource, size: int) -> bytes | None:
            if errors:
                raise errors.pop()
            return await block(source, size)

        monkeypatch.setattr(AudioSource, "block", broken)
        stage.microphone.give(Scene().silence(0.032))
        await stage.clock.advance(0.5)
        await stage.hears(command())
        assert stage.said() == ["what time is it"]
        assert "failed and is started again" in caplog.text


async def test_a_block_that_cannot_be_listened_to_is_left_out(
    bus: LocalBus, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Listening(bus) as stage:
        monkeypatch.setattr(Detectors, "detect", None)
        await stage.hears(Scene().silence(0.1))
        monkeypatch.undo()
        await stage.hears(command())
        assert stage.said() == ["what time is it"]
        assert "could not be processed" in caplog.text


async def test_woken_while_a_command_is_recognised_it_is_thinking(bus: LocalBus) -> None:
    async with Listening(bus, SlowSTT()) as stage:
        await stage.microphone.hears(command("one"))
        await stage.told(topics.LISTENER_SLEEP)
        assert stage.listener.state is ListenerState.ASLEEP
        await stage.told(topics.LISTENER_WAKE)
        assert stage.listener.state is ListenerState.THINKING
        await stage.clock.advance(2)
        assert stage.said() == ["one"]
        assert stage.states() == ["waiting", "listening", "thinking", "asleep", "thinking", "waiting"]


async def test_another_command_may_be_recorded_while_one_is_recognised(bus: LocalBus) -> None:
    async with Listening(bus, SlowSTT()) as stage:
        await stage.microphone.hears(command("one"))
        await stage.microphone.hears(Scene().says("hey jarvis").silence(0.3).says("two"))
        assert stage.listener.state is ListenerState.LISTENING
        await stage.clock.advance(2)
        assert stage.said() == ["one"]
        assert stage.listener.state is ListenerState.LISTENING
        stage.listener.release()
        assert stage.listener.state is ListenerState.THINKING
        await stage.clock.advance(2)
        assert stage.states() == ["waiting", "listening", "thinking", "listening", "thinking", "waiting"]
