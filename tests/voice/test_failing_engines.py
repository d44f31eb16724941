"""Engines that crash, hang, return nonsense or are missing, in a whole assistant: how the turn ends."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from hark.app.diagnostics.examine import examine
from hark.app.voice.engines import NoEngine
from hark.model import Audio
from hark.plugins import Turn
from hark.plugins.engines import (
    Engine,
    Microphone,
    Player,
    STTEngine,
    Transcript,
    TTSEngine,
    Unavailable,
    VADEngine,
    VoiceDetector,
)
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import FakeClock
from hark.testing.voice.assistant import VoiceAssistant
from hark.testing.voice.input import FakeMicrophone, FakeSTT, Scene
from hark.testing.voice.output import FakeTTS, read

QUESTION = Scene().silence(0.3).says("open the door")
LIMIT = 31.0
"""Seconds after which an engine that hangs is given up."""


class Door(Skill):
    id = "door.skill"

    @intent("open the door")
    def open(self, turn: Turn) -> str:
        return "It is open."

    @intent("who is there")
    async def ask(self, turn: Turn) -> None:
        await turn.speak("Who is it?", listen=True)


@pytest.fixture
def released() -> Iterator[threading.Event]:
    """Set at the end of a test: hanging engines return then."""
    event = threading.Event()
    yield event
    event.set()


class Bad(Engine):
    """An engine with a way to fail."""

    def __init__(self, how: str, released: threading.Event) -> None:
        self.id = f"bad-{self.kind}"  # type: ignore[misc]
        self.how = how
        self.entered = threading.Event()
        self._released = released

    def load(self) -> None:
        if self.how == "missing":
            raise Unavailable("its model is not there", "download it")
        if self.how == "broken":
            raise RuntimeError("the model is no model")

    def fail(self, nonsense: Any) -> Any:
        self.entered.set()
        if self.how == "crashes":
            raise RuntimeError("out of memory")
        if self.how == "exits":
            raise SystemExit(1)
        if self.how == "hangs":
            self._released.wait(60)
        return nonsense


class BadSTT(Bad, STTEngine):
    def transcribe(self, audio: Audio, lang: str) -> Transcript:
        answer: Transcript = self.fail(["open", b"the", None])
        return answer


class BadTTS(Bad, TTSEngine):
    def synthesize(self, text: str, lang: str, voice: str | None = None) -> Audio:
        audio: Audio = self.fail(Audio(b"odd", 16_000))
        return audio


async def given_up(house: VoiceAssistant, bad: Bad) -> None:
    """Let the time pass after which a call is given up."""
    if bad.how == "hangs":
        await asyncio.to_thread(bad.entered.wait, 10)
        await house.clock.advance(LIMIT)


FAILING = ("crashes", "exits", "hangs", "returns nonsense")


@pytest.mark.parametrize("how", FAILING)
@pytest.mark.spec("AUDIO-IN-1/5.e")
async def test_a_recogniser_that_fails_is_one_failure_and_no_turn(how: str, released: threading.Event) -> None:
    bad = BadSTT(how, released)
    async with VoiceAssistant(Door(), engines=[bad], clock=FakeClock()) as house:
        await house.takes_in(QUESTION)
        await given_up(house, bad)
        await house.settled()
        assert len(house.of(topics.STT_FAILED)) == 1
        assert house.of(topics.UTTERANCE_HANDLE) == house.of(topics.UTTERANCE_HANDLED) == []
        story = house.why()
        assert "bad-stt" in story
        assert ("late" if how == "hangs" else "failed") in story


@pytest.mark.parametrize("how", FAILING)
async def test_the_next_recogniser_takes_over(how: str, released: threading.Event) -> None:
    bad = BadSTT(how, released)
    async with VoiceAssistant(Door(), engines=[bad, FakeSTT()], clock=FakeClock()) as house:
        await house.takes_in(QUESTION)
        await given_up(house, bad)
        await house.settled()
        assert house.of(topics.STT_FAILED) == []
        assert house.shown == ["It is open."]
        assert "fake-stt" in house.why()


@pytest.mark.parametrize("how", FAILING)
@pytest.mark.spec("AUDIO-1/3.2.b")
async def test_the_next_voice_takes_over(how: str, released: threading.Event) -> None:
    bad = BadTTS(how, released)
    async with VoiceAssistant(Door(), engines=[bad, FakeTTS()], clock=FakeClock()) as house:
        await house.takes_in(QUESTION)
        await given_up(house, bad)
        await house.settled()
        assert [read(sound) for sound in house.player.sounds] == ["It is open."]
        assert len(house.of(topics.AUDIO_OUTPUT_STARTED)) == len(house.of(topics.AUDIO_OUTPUT_ENDED)) == 1
        assert "bad-tts" in house.why()


@pytest.mark.parametrize("how", FAILING)
async def test_what_no_voice_can_say_is_shown_and_the_turn_ends(how: str, released: threading.Event) -> None:
    bad = BadTTS(how, released)
    async with VoiceAssistant(Door(), engines=[bad], clock=FakeClock()) as house:
        await house.takes_in(QUESTION)
        await given_up(house, bad)
        await house.settled()
        assert house.shown == ["It is open."]
        assert house.player.sounds == []
        assert len(house.of(topics.UTTERANCE_HANDLED)) == 1
        assert [message.data["outcome"] for message in house.of(topics.SPEECH_RENDERED)] == ["failed"]
        assert house.of(topics.AUDIO_OUTPUT_STARTED) == house.of(topics.AUDIO_OUTPUT_ENDED) == []


async def test_the_microphone_opens_although_the_question_was_not_heard(released: threading.Event) -> None:
    async with VoiceAssistant(Door(), engines=[BadTTS("crashes", released)]) as house:
        await house.hears(Scene().says("who is there"))
        assert len(house.of(topics.MIC_LISTEN)) == 1


@pytest.mark.parametrize("how", ["missing", "broken"])
@pytest.mark.parametrize(("bad", "good"), [(BadSTT, FakeSTT), (BadTTS, FakeTTS)])
async def test_the_doctor_tells_what_could_not_be_loaded(
    how: str, bad: type[Bad], good: type[Engine], released: threading.Event
) -> None:
    one = bad(how, released)
    async with VoiceAssistant(Door(), engines=[one, good()]) as house:
        await house.hears(QUESTION)
        assert house.shown == ["It is open."]
        [missing] = (await examine(house.runtime, "no file")).missing
        assert missing.name == one.id
        told = {"missing": ("its model is not there", "download it"), "broken": ("the model is no model", "")}[how]
        assert told[0] in missing.reason
        assert missing.remedy == told[1]


@pytest.mark.parametrize("bad", [BadSTT, BadTTS])
async def test_without_a_working_engine_the_assistant_does_not_start(bad: type[Bad], released: threading.Event) -> None:
    before = asyncio.all_tasks()
    with pytest.raises(NoEngine, match=r"(?s)no (stt|tts) engine works here.*its model is not there.*download it"):
        async with VoiceAssistant(Door(), engines=[bad("missing", released)]):
            pass
    assert asyncio.all_tasks() == before


async def test_an_engine_that_fails_again_and_again_is_left_out_for_a_while(released: threading.Event) -> None:
    bad = BadSTT("crashes", released)
    async with VoiceAssistant(Door(), engines=[bad, FakeSTT()], clock=FakeClock()) as house:
        for _ in range(5):
            await house.hears(QUESTION)
        bad.entered.clear()
        await house.hears(QUESTION)
        assert not bad.entered.is_set()
        await house.clock.advance(61)
        await house.hears(QUESTION)
        assert bad.entered.is_set()
        assert house.shown == ["It is open."] * 7


class DyingMicrophone(FakeMicrophone):
    id = "dying-microphone"


async def test_a_microphone_that_fails_during_speech() -> None:
    """What was said until then is the command; the next microphone is listened to."""
    dying, spare = DyingMicrophone(), FakeMicrophone()
    async with VoiceAssistant(Door(), engines=[dying, spare], clock=FakeClock()) as house:
        dying.give(QUESTION)
        dying.fail(OSError("unplugged"))
        await dying.heard()
        spare.give(Scene().silence(0.1))
        await spare.heard()
        await house.settled()
        assert house.shown == ["It is open."]
        assert "ended by microphone lost" in house.why()
        assert house.runtime.listener.microphone == spare.id
        spare.give(QUESTION)
        spare.give(Scene().silence(1.0))
        await spare.heard()
        await house.settled()
        assert house.shown == ["It is open."] * 2


class Moody(Microphone):
    """Is opened, and fails at once, time and again; then it works."""

    id = "moody-microphone"

    def __init__(self, failures: int) -> None:
        self.left = failures

    async def blocks(self) -> AsyncIterator[bytes]:
        self.left -= 1
        if self.left >= 0:
            raise OSError("busy")
        yield QUESTION.samples
        yield bytes(32_000)
        await asyncio.Event().wait()


async def test_the_only_microphone_is_opened_again_until_it_works() -> None:
    async with VoiceAssistant(Door(), engines=[Moody(3)], clock=FakeClock()) as house:
        await house.clock.advance(10)
        await house.settled()
        assert house.shown == ["It is open."]


class CrashingDetector(VoiceDetector):
    def probability(self, samples: bytes) -> float:
        raise RuntimeError("no model")

    def reset(self) -> None:
        """There is nothing to forget."""


class CrashingVAD(VADEngine):
    id = "crashing-vad"
    quick = True

    def detector(self) -> VoiceDetector:
        return CrashingDetector()


async def test_without_voice_activity_loudness_tells() -> None:
    async with VoiceAssistant(Door(), engines=[CrashingVAD()], clock=FakeClock()) as house:
        await house.hears(QUESTION)
        await house.hears(QUESTION)
        assert "It is open." in house.shown


class BadPlayer(Player):
    id = "bad-player"

    async def play(self, audio: Audio) -> None:
        raise OSError("no such device")


async def test_a_response_that_no_player_can_play_is_shown() -> None:
    async with VoiceAssistant(Door(), engines=[BadPlayer()]) as house:
        await house.hears(QUESTION)
        assert house.shown == ["It is open."]
        assert [message.data["outcome"] for message in house.of(topics.SPEECH_RENDERED)] == ["failed"]
        assert len(house.of(topics.UTTERANCE_HANDLED)) == 1


async def test_the_next_player_takes_over() -> None:
    async with VoiceAssistant(Door(), clock=FakeClock()) as spare:
        player = spare.player
    async with VoiceAssistant(Door(), engines=[BadPlayer(), player]) as house:
        await house.hears(QUESTION)
        assert [read(sound) for sound in player.sounds] == ["It is open."]
