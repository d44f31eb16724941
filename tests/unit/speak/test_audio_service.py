"""Responses that are heard."""

from __future__ import annotations

import asyncio
import base64
import logging

import pytest

from flow.chain_rig import link
from flow.sounding import ENDED, LISTEN, STARTED, Sounding
from hark.bus import LocalBus
from hark.model import Audio, Session
from hark.model.wav import write_wav
from hark.plugins import Ctx
from hark.speak.instant_sounds import earcon
from hark.speak.synthesis import is_device
from hark.spec import topics
from hark.testing import settle
from hark.testing.voice.output import FakePlayer, SlowTTS, read, voiced


def packed(text: str) -> str:
    return base64.b64encode(write_wav(voiced(text))).decode()


async def test_what_is_said_is_heard_between_two_signals(bus: LocalBus) -> None:
    async with Sounding(bus) as room:
        room.say("hello")
        await settle()
        assert room.player.heard == ["hello"]
        assert room.signals() == [STARTED, ENDED]
        assert room.outcomes == ["rendered"]
        assert [spoken.text for spoken in room.shown] == ["hello"]


async def test_sentences_are_heard_one_after_the_other_and_the_next_is_made_meanwhile(bus: LocalBus) -> None:
    voice = SlowTTS()
    async with Sounding(bus, voice, player=FakePlayer(1.0)) as room:
        room.say("One is here. Two is here. Three is here.", listen=True)
        voice.release()
        await settle()
        assert len(room.player.playing) == 1
        assert voice.texts == ["One is here.", "Two is here."], "the second is made while the first plays"
        assert room.shown, "it is shown when it begins to be heard"
        voice.release(2)
        await room.pass_by(1.0)
        assert (room.signals(), room.outcomes) == ([STARTED], [])
        await room.pass_by(2.0)
        assert room.player.heard == ["One is here.", "Two is here.", "Three is here."]
        assert room.signals() == [STARTED, ENDED, LISTEN]
        assert room.player.most_at_once == 1


async def test_a_stop_ends_it_at_once(bus: LocalBus) -> None:
    async with Sounding(bus, player=FakePlayer(5.0)) as room:
        room.say("One. Two. Three.", listen=True)
        room.say("Another.")
        await settle()
        room.emit(topics.STOP)
        await settle()
        assert len(room.player.cut) == 1
        assert room.player.heard == []
        assert room.signals() == [STARTED, ENDED]
        assert room.outcomes == ["stopped", "stopped"]
        room.say("And now?")
        await room.pass_by(5.0)
        assert room.player.heard == ["And now?"]


async def test_a_subscriber_may_stop_it_when_output_starts(bus: LocalBus) -> None:
    async with Sounding(bus) as room:
        bus.on(STARTED, lambda message: bus.emit(message.forward(topics.AUDIO_STOP)))
        room.say("One. Two.", listen=True)
        await settle()
        assert (room.player.sounds, room.shown) == ([], [])
        assert (room.signals(), room.outcomes) == ([STARTED, ENDED], ["stopped"])


async def test_a_subscriber_may_say_more_when_output_ends(bus: LocalBus) -> None:
    async with Sounding(bus) as room:
        more = iter(["Two.", "Three."])
        bus.on(ENDED, lambda message: [room.say(text) for text in [next(more, None)] if text])
        room.say("One.", listen=True)
        await settle()
        assert room.player.heard == ["One.", "Two.", "Three."]
        assert room.signals() == [STARTED, ENDED, LISTEN, STARTED, ENDED, STARTED, ENDED]


async def test_no_more_is_made_than_is_soon_heard(bus: LocalBus) -> None:
    text = " ".join(f"Sentence {n}." for n in range(9))
    async with Sounding(bus, player=FakePlayer(1.0), ahead=2) as room:
        room.say(text)
        await settle()
        assert len(room.tts.asked) == 3, "one that plays and two that wait"
        await room.pass_by(1.0)
        assert len(room.tts.asked) == 4
        await room.pass_by(9.0)
        assert len(room.player.heard) == 9


async def test_without_looking_ahead_a_response_begins_when_all_of_it_is_there(bus: LocalBus) -> None:
    voice = SlowTTS()
    async with Sounding(bus, voice, player=FakePlayer(1.0), ahead=0) as room:
        room.say("One. Two. Three.")
        voice.release(2)
        await settle()
        assert (room.player.playing, room.shown) == ([], [])
        voice.release()
        await room.pass_by(3.0)
        assert room.player.heard == ["One.", "Two.", "Three."]


async def test_a_transformer_that_cancels_midway_ends_the_response_there(bus: LocalBus) -> None:
    def hush(audio: Audio, ctx: Ctx) -> Audio:
        if "Three" in read(audio):
            ctx.cancel("policy_block")
        return audio

    async with Sounding(bus, tts=(link("tts", "hush", hush),), player=FakePlayer(1.0)) as room:
        room.say("One. Two. Three. Four.", listen=True)
        room.say("Next.")
        await room.pass_by(10.0)
        assert room.player.heard == ["One.", "Next."]
        assert room.outcomes == ["cancelled", "rendered"]
        assert room.signals().count(topics.UTTERANCE_CANCELLED) == 1
        assert LISTEN not in room.signals()


async def test_nothing_to_say_is_said_at_once(bus: LocalBus) -> None:
    async with Sounding(bus) as room:
        room.say("", listen=True)
        room.say("...")
        await settle()
        assert (room.tts.asked, room.outcomes) == ([], ["rendered", "rendered"])
        assert room.signals() == [LISTEN]


async def test_sessions_are_heard_at_the_same_time(bus: LocalBus) -> None:
    async with Sounding(bus, player=FakePlayer(1.0)) as room:
        room.say("to all", "default")
        room.say("to the cook", "kitchen")
        await settle()
        assert len(room.player.playing) == 2
        await room.pass_by(1.0)
        assert room.signals("default") == room.signals("kitchen") == [STARTED, ENDED]


async def test_a_session_that_cannot_hear_it_reads_it(bus: LocalBus) -> None:
    served = {"default", "terminal"}
    async with Sounding(bus, player=FakePlayer(5.0), hears=is_device, serves=served.__contains__) as room:
        room.say("aloud")
        for session in ("terminal", "sat-3"):
            room.say(f"to {session}", session, listen=True)
        await settle()
        assert [read(audio) for audio in room.player.playing] == ["aloud"]
        assert [spoken.text for spoken in room.shown] == ["to terminal", "aloud"]
        assert (room.outcomes, room.signals("terminal")) == (["rendered"], [])


async def test_closing_ends_what_is_heard_and_being_made(bus: LocalBus) -> None:
    voice = SlowTTS()
    async with Sounding(bus, voice, player=FakePlayer(5.0)) as room:
        voice.release()
        room.say("One. Two.", listen=True)
        room.emit(topics.AUDIO_PLAY_SOUND, audio=packed("ping"))
        await settle()
        assert len(room.player.playing) == 2
        closing = asyncio.create_task(room.speaker.close())
        await settle()
        assert closing.done()
        assert (room.player.playing, room.outcomes) == ([], ["stopped"])
        assert room.signals() == [STARTED, ENDED]
        room.say("too late")
        await settle()
        assert voice.texts == ["One.", "Two."]


@pytest.mark.parametrize("which", ["play", "make"])
async def test_a_cancelled_player_task_costs_that_piece_alone(bus: LocalBus, which: str) -> None:
    voice = SlowTTS()
    async with Sounding(bus, voice, player=FakePlayer(1.0)) as room:
        voice.release()
        room.say("One.")
        room.say("Two.")
        await settle()
        [task] = [task for task in room.speaker.tasks if task.get_name().startswith(which)]
        task.cancel()
        voice.release(2)
        room.say("Three.")
        await room.pass_by(5.0)
        assert room.player.heard[-1] == "Three."
        assert len(room.outcomes) == 3
        assert room.signals() == [STARTED, ENDED]


async def test_a_transformer_that_moves_a_response_elsewhere_does_not_move_its_signals(bus: LocalBus) -> None:
    def move(text: str, ctx: Ctx) -> str:
        ctx.session = Session("elsewhere")
        return text

    async with Sounding(bus, dialog=(link("dialog", "move", move),)) as room:
        room.say("hello", "kitchen")
        await settle()
        assert room.signals("kitchen") == [STARTED, ENDED]


async def test_earcons_mark_start_and_end_of_a_recording(bus: LocalBus) -> None:
    async with Sounding(bus, earcons=True) as room:
        for topic in (topics.LISTENER_RECORD_STARTED, topics.LISTENER_RECORD_ENDED, topics.STT_FAILED):
            room.emit(topic)
            room.emit(topic, "sat-3")
        await settle()
        assert room.player.sounds == [earcon("listening"), earcon("done"), earcon("error")]
        assert room.signals() == []


async def test_without_the_option_there_are_no_earcons(bus: LocalBus) -> None:
    async with Sounding(bus) as room:
        room.emit(topics.LISTENER_RECORD_STARTED)
        await settle()
        assert room.player.sounds == []


async def test_too_many_instant_sounds_are_dropped(bus: LocalBus, caplog: pytest.LogCaptureFixture) -> None:
    async with Sounding(bus, player=FakePlayer(1.0), instant_sounds=3) as room:
        with caplog.at_level(logging.WARNING, "hark.speak"):
            for n in range(5):
                room.emit(topics.AUDIO_PLAY_SOUND, audio=packed(f"ping {n}"))
            await room.pass_by(1.0)
        assert len(room.player.sounds) == 3
        assert caplog.text.count("dropped ovos.audio.play_sound") == 2
        room.emit(topics.AUDIO_PLAY_SOUND, audio=packed("again"))
        await room.pass_by(1.0)
        assert len(room.player.sounds) == 4
