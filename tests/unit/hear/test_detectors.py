"""Voice activity and wake words: engines that work, fail, hang, and are not there."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any

import pytest

from flow.listening import JARVIS, Listening, command
from hark.bus import LocalBus
from hark.hear import HearOptions
from hark.hear.detectors import Detectors, Loudness
from hark.plugins.engines import (
    Unavailable,
    VADEngine,
    VoiceDetector,
    WakeDetector,
    WakeWord,
    WakeWordEngine,
)
from hark.spec import topics
from hark.testing import settle
from hark.testing.voice.input import FakeVAD, FakeWakeWords, Scene
from hark.testing.voice.sound import BLOCK


class Voice(VoiceDetector):
    """Says what it is told to, then as the fake one does."""

    def __init__(self, answers: list[Any]) -> None:
        self.answers = answers
        self.blocks: list[int] = []
        self._fake = FakeVAD().detector()

    def probability(self, samples: bytes) -> float:
        self.blocks.append(len(samples))
        answer = self.answers.pop(0) if self.answers else self._fake.probability(samples)
        if isinstance(answer, BaseException):
            raise answer
        return answer  # type: ignore[no-any-return]

    def reset(self) -> None:
        """Nothing to forget."""


class OneVAD(VADEngine):
    id = "one"
    quick = True

    def __init__(self, *answers: Any, made: Any = None) -> None:
        self.voice = Voice(list(answers))
        self.made = made

    def detector(self) -> VoiceDetector:
        if isinstance(self.made, BaseException):
            raise self.made
        return self.voice if self.made is None else self.made  # type: ignore[no-any-return]


class SlowVAD(OneVAD):
    id = "slow"
    quick = False


class Spotter(WakeDetector):
    def __init__(self, engine: Spotters, word: WakeWord) -> None:
        self._engine = engine
        self._fake = FakeWakeWords().detector(word)

    def hears(self, samples: bytes) -> bool:
        self._engine.calls += 1
        if self._engine.errors:
            raise self._engine.errors.pop(0)
        return self._fake.hears(samples)

    def reset(self) -> None:
        self._engine.resets += 1
        self._fake.reset()


class Spotters(WakeWordEngine):
    id = "spotters"

    def __init__(self, *errors: BaseException) -> None:
        self.errors = list(errors)
        self.calls = 0
        self.resets = 0

    def detector(self, wake_word: WakeWord) -> WakeDetector:
        return Spotter(self, wake_word)


class Ignorant(WakeWordEngine):
    id = "ignorant"

    def detector(self, wake_word: WakeWord) -> WakeDetector:
        raise Unavailable(f"it does not know {wake_word.phrase}", "train it")


async def test_engines_on_workers_hear_the_same(bus: LocalBus) -> None:
    async with Listening(bus, SlowVAD(), Spotters()) as stage:
        await stage.hears(command())
        assert stage.said() == ["what time is it"]


async def test_a_block_is_as_long_as_the_detector_wants_it(bus: LocalBus) -> None:
    vad = OneVAD()
    vad.voice.block = 1_536  # type: ignore[misc]
    async with Listening(bus, vad) as stage:
        await stage.hears(command())
        assert set(vad.voice.blocks) == {2 * 1_536}
        assert stage.said() == ["what time is it"]


async def test_speech_lasts_until_it_is_clearly_less_likely(bus: LocalBus) -> None:
    chances = [0.4, 0.6, 0.45, 0.4, 0.3, 0.4, 0.5]
    vad = OneVAD(*chances)
    async with Listening(bus, vad) as stage:
        detectors = Detectors(
            stage.runner, stage.engines["vad"], stage.engines["wakeword"], HearOptions(speech_threshold=0.5)
        )
        await detectors.open()
        voices = [(await detectors.detect(bytes(2 * BLOCK))).voice for _ in chances]
        assert voices == [False, True, True, True, False, False, True]


async def test_one_failure_changes_nothing(bus: LocalBus) -> None:
    async with Listening(bus, OneVAD(RuntimeError("once"), float("nan"))) as stage:
        await stage.hears(command())
        assert stage.said() == ["what time is it"]


@pytest.mark.parametrize("first", [OneVAD, SlowVAD])
async def test_where_one_keeps_failing_the_next_takes_over(
    bus: LocalBus, first: type[OneVAD], caplog: pytest.LogCaptureFixture
) -> None:
    broken = first(*[RuntimeError("out of order")] * 1_000)
    async with Listening(bus, broken, FakeVAD()) as stage:
        await stage.hears(command())
        assert len(broken.voice.blocks) == 3
        assert stage.said() == ["what time is it"]
        assert "out of order" in caplog.text


async def test_one_that_works_again_is_taken_again(bus: LocalBus, caplog: pytest.LogCaptureFixture) -> None:
    vad = OneVAD(*[RuntimeError("out of order")] * 3)
    async with Listening(bus, vad) as stage:
        await stage.hears(Scene().silence(1))
        assert len(vad.voice.blocks) == 3
        await stage.clock.advance(60)
        await stage.hears(command())
        assert len(vad.voice.blocks) > 50
        assert stage.said() == ["what time is it"]
        assert caplog.text.count("detected by its loudness") == 1


@pytest.mark.parametrize("made", ["no detector", RuntimeError("no model")])
async def test_where_none_works_loudness_tells(bus: LocalBus, made: Any, caplog: pytest.LogCaptureFixture) -> None:
    async with Listening(bus, OneVAD(made=made)) as stage:
        assert "speech is detected by its loudness" in caplog.text
        await stage.hears(Scene().silence(1).says("hey jarvis").silence(0.5).says("what time is it").silence(1))
        assert stage.said() == ["what time is it"]


async def test_a_detector_with_an_impossible_block_is_not_taken(
    bus: LocalBus, caplog: pytest.LogCaptureFixture
) -> None:
    vad = OneVAD()
    vad.voice.block = 0  # type: ignore[misc]
    async with Listening(bus, vad, FakeVAD()) as stage:
        await stage.hears(command())
        assert vad.voice.blocks == []
        assert stage.said() == ["what time is it"]


def test_loudness_gets_used_to_a_steady_noise() -> None:
    loudness = Loudness()
    [hum] = Scene().noise(0.032).blocks()
    [quiet] = Scene().silence(0.032).blocks()
    assert loudness.probability(quiet) < 0.5
    assert loudness.probability(hum) >= 0.5
    for _ in range(3_000):
        chance = loudness.probability(hum)
    assert chance < 0.5
    loudness.reset()
    assert loudness.probability(hum) >= 0.5


async def test_a_wake_word_goes_to_the_first_engine_that_knows_it(bus: LocalBus) -> None:
    spotters = Spotters()
    async with Listening(bus, Ignorant(), spotters) as stage:
        await stage.hears(command())
        assert spotters.calls
        assert stage.listener.refusals == []
        assert stage.said() == ["what time is it"]


async def test_a_wake_word_may_name_its_engine(bus: LocalBus) -> None:
    spotters = Spotters()
    word = WakeWord("jarvis", "hey jarvis", engine="spotters")
    async with Listening(bus, FakeWakeWords(), spotters, wake_words=(word,)) as stage:
        await stage.hears(command())
        assert spotters.calls
        assert stage.said() == ["what time is it"]


async def test_an_unknown_wake_word_is_reported_and_the_others_work(
    bus: LocalBus, caplog: pytest.LogCaptureFixture
) -> None:
    strange = WakeWord("strange", "hokus pokus", engine="ignorant")
    nobody = WakeWord("nobody", "anybody", engine="missing")
    async with Listening(bus, Ignorant(), FakeWakeWords(), wake_words=(strange, nobody, JARVIS)) as stage:
        first, second = stage.listener.refusals
        assert (first.name, first.reason, first.remedy) == ("strange", "it does not know hokus pokus", "train it")
        assert (second.name, second.reason) == ("nobody", "no engine 'missing' is loaded")
        await stage.hears(command())
        assert stage.said() == ["what time is it"]


async def test_a_spotter_that_fails_is_left_out_for_a_while(bus: LocalBus) -> None:
    spotters = Spotters(*[RuntimeError("out of order")] * 3)
    async with Listening(bus, spotters) as stage:
        await stage.hears(command())
        assert (spotters.calls, stage.topics()) == (3, [])
        await stage.clock.advance(60)
        await stage.hears(command())
        assert stage.said() == ["what time is it"]


async def test_a_spotter_forgets_what_was_before_a_command(bus: LocalBus) -> None:
    spotters = Spotters()
    async with Listening(bus, spotters) as stage:
        await stage.hears(command())
        await stage.hears(Scene().silence(0.2))
        assert spotters.resets == 1
        assert len(stage.of(topics.LISTENER_WAKEWORD)) == 1


async def test_a_detector_that_hangs_is_given_up(bus: LocalBus, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    gate = Gate()

    class Hanging(Spotters):
        id = "hanging"

        def detector(self, wake_word: WakeWord) -> WakeDetector:
            return gate

    words = (WakeWord("stuck", "never", engine="hanging"), WakeWord("jarvis", "hey jarvis", engine="fake-wakeword"))
    async with Listening(bus, Hanging(), FakeWakeWords(), wake_words=words) as stage:
        stage.microphone.give(command())
        for _ in range(400):
            await asyncio.to_thread(gate.entered.wait, 0.001)
            await stage.clock.advance(0.5)
            if stage.said():
                break
        assert stage.said() == ["what time is it"]
        assert caplog.text.count("took longer than 2 s") == 1  # it was not called while it was at it
        gate.opened.set()
    await settle()


async def test_a_voice_detector_that_hangs_is_exchanged_at_once(bus: LocalBus) -> None:
    stuck = SlowVAD()
    reached, opened = threading.Event(), threading.Event()

    def hang(samples: bytes) -> float:
        reached.set()
        assert opened.wait(20)
        return 0.0

    stuck.voice.probability = hang  # type: ignore[method-assign]
    async with Listening(bus, stuck, FakeVAD()) as stage:
        stage.microphone.give(command())
        await asyncio.to_thread(reached.wait, 20)
        for _ in range(5):
            await stage.clock.advance(0.5)
        await stage.hears(Scene().silence(0.1))
        assert stage.said() == ["what time is it"]
        opened.set()


class Gate(WakeDetector):
    def __init__(self) -> None:
        self.entered = threading.Event()
        self.opened = threading.Event()

    def hears(self, samples: bytes) -> bool:
        self.entered.set()
        self.opened.wait(20)
        return False

    def reset(self) -> None:
        """Nothing to forget."""
