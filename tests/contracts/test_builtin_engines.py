"""The engines that come with Hark keep the contract of their kind, with real models; and the contract can be broken.

Not here, for want of a model that is small enough: sherpa-onnx and piper. Their own tests use stand-ins for the
libraries (tests/unit/builtin/engines), and benchmarks/voice runs them with real models. Nor openai-stt and openai-tts
with a real server: a small one stands in for it.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from hark.builtin.engines import ENGINES
from hark.builtin.engines.espeak_ng import EspeakNG
from hark.builtin.engines.files import FileMicrophone, FilePlayer, NullPlayer
from hark.builtin.engines.hibari import Hibari
from hark.builtin.engines.microwakeword import MicroWakeWord
from hark.builtin.engines.nanotts import NanoTTS
from hark.builtin.engines.pipe import PipeMicrophone
from hark.builtin.engines.pocketsphinx.kws import KeywordSpotter
from hark.builtin.engines.pocketsphinx.stt import Pocketsphinx
from hark.builtin.engines.silero import Silero
from hark.builtin.engines.whisper import FasterWhisper
from hark.model import Audio
from hark.model.wav import write_wav
from hark.plugins.engines import (
    Engine,
    Microphone,
    Player,
    STTEngine,
    Transcript,
    TTSEngine,
    VADEngine,
    VoiceDetector,
    WakeDetector,
    WakeWord,
    WakeWordEngine,
)
from hark.testing.contracts import contract, engine_contract
from hark.testing.contracts.clause import Clause
from voice_samples import spoken, whisper_tiny

COMMANDS = ("turn on the kitchen lights", "what is on the shopping list", "cancel the timer")
SAID = {text: spoken(text) for text in COMMANDS}
# Files that engines under contract read and write; gone when the process ends.
FOLDER = tempfile.TemporaryDirectory()
WAV = Path(FOLDER.name) / "said.wav"
WAV.write_bytes(write_wav(SAID[COMMANDS[0]]))
RAW = Path(FOLDER.name) / "said.raw"
RAW.write_bytes(SAID[COMMANDS[0]].samples)

test_faster_whisper = engine_contract(FasterWhisper, settings={"model": whisper_tiny()}, examples=SAID)
test_pocketsphinx = engine_contract(Pocketsphinx, settings={"phrases": COMMANDS}, examples=SAID)
test_hibari = engine_contract(Hibari)
test_nanotts = engine_contract(NanoTTS)
test_nanotts_in_german = engine_contract(NanoTTS, lang="de-DE")
test_espeak_ng = engine_contract(EspeakNG)
test_espeak_ng_in_portuguese = engine_contract(EspeakNG, lang="pt-BR")
test_silero = engine_contract(Silero, speech=SAID[COMMANDS[0]])
test_microwakeword = engine_contract(MicroWakeWord, phrase="hey jarvis", speech=spoken("hey jarvis", "hibari", "en-US"))
test_pocketsphinx_kws = engine_contract(
    KeywordSpotter, phrase="hey computer", speech=spoken("hey computer", "hibari", "en-US")
)
test_file_microphone = engine_contract(FileMicrophone, settings={"path": str(WAV), "paced": False})
test_pipe_microphone = engine_contract(PipeMicrophone, settings={"path": str(RAW)})
test_file_player = engine_contract(FilePlayer, settings={"path": str(Path(FOLDER.name) / "out.wav"), "paced": False})
test_null_player = engine_contract(NullPlayer)

ELSEWHERE = {("stt", "sherpa-onnx"), ("tts", "piper"), ("stt", "openai-stt"), ("tts", "openai-tts"),
             ("microphone", "sounddevice"), ("player", "sounddevice")}  # fmt: skip
HERE = (FasterWhisper, Pocketsphinx, Hibari, NanoTTS, EspeakNG, Silero, MicroWakeWord, KeywordSpotter, FileMicrophone,
        PipeMicrophone, FilePlayer, NullPlayer)  # fmt: skip


def test_nobody_is_left_out() -> None:
    assert {(one.kind, one.id) for one in HERE} | ELSEWHERE == set(ENGINES)


# Each clause can be broken.


def broken(test: Callable[..., None]) -> dict[str, str]:
    [mark] = test.pytestmark  # type: ignore[attr-defined]
    clauses: tuple[Clause, ...] = mark.args[1]
    said = {}
    for clause in clauses:
        try:
            test(clause)
        except AssertionError as error:
            said[clause.name] = str(error)
    return said


class GoodSTT(STTEngine):
    id = "good"

    def transcribe(self, audio: Audio, lang: str) -> Transcript:
        return Transcript(("hello",)) if any(audio.samples) else Transcript()


class Chatty(GoodSTT):
    def transcribe(self, audio: Audio, lang: str) -> Transcript:
        return Transcript(("thank you for watching",))


class Fussy(GoodSTT):
    def transcribe(self, audio: Audio, lang: str) -> Transcript:
        if audio.sample_rate != 16_000:
            raise ValueError("another rate, please")
        return Transcript(("hello",), confidence=7.0) if any(audio.samples) else Transcript()


class Lines(GoodSTT):
    def about(self) -> str:
        return "two\nlines"


def test_a_recogniser_that_does_nothing_wrong_breaks_nothing() -> None:
    assert broken(contract(GoodSTT, examples={"hello": SAID[COMMANDS[0]]})) == {}


def test_recognisers_can_break_it() -> None:
    assert set(broken(engine_contract(Chatty))) == {"it_makes_nothing_of_silence"}
    assert set(broken(engine_contract(Fussy, examples={"hello": SAID[COMMANDS[0]]}))) == {
        "it_takes_sound_of_any_format",
        "it_understands_its_examples",
        "several_at_once_do_not_get_mixed_up",
    }
    assert set(broken(engine_contract(Lines))) == {"it_loads_describes_itself_and_stops"}


class Mute(TTSEngine):
    id = "mute"

    def synthesize(self, text: str, lang: str, voice: str | None = None) -> Audio:
        return Audio(b"" if text else b"x", 16_000)


class Garbled(TTSEngine):
    id = "garbled"

    def synthesize(self, text: str, lang: str, voice: str | None = None) -> Any:
        return text.encode()

    def stream(self, text: str, lang: str, voice: str | None = None) -> Any:
        return iter(())


def test_voices_can_break_it() -> None:
    assert {"it_speaks", "it_copes_with_any_text"} <= set(broken(engine_contract(Mute)))
    assert {"several_at_once_do_not_get_mixed_up", "what_streams_is_all_of_it"} <= set(broken(engine_contract(Garbled)))


class Nervous(VADEngine):
    id = "nervous"

    def detector(self) -> VoiceDetector:
        return NervousDetector()


class NervousDetector(VoiceDetector):
    heard = 0

    def probability(self, samples: bytes) -> float:
        self.heard += 1
        return min(1.0, self.heard / 10)

    def reset(self) -> None:
        pass


class Sleepless(WakeWordEngine):
    id = "sleepless"

    def detector(self, wake_word: WakeWord) -> WakeDetector:
        return Awake()


class Awake(WakeDetector):
    def hears(self, samples: bytes) -> bool:
        return True

    def reset(self) -> None:
        pass


def test_detectors_can_break_it() -> None:
    assert set(broken(engine_contract(Nervous))) == {
        "it_hears_speech_and_no_silence",
        "detectors_know_nothing_of_each_other",
    }
    assert set(broken(engine_contract(Sleepless, phrase="hello", speech=SAID[COMMANDS[0]]))) == {
        "it_hears_its_phrase_once_in_pieces_of_any_length",
        "it_wakes_neither_by_silence_nor_by_noise",
        "what_it_cannot_listen_for_it_refuses",
    }


class HalfSamples(Microphone):
    id = "half"

    async def blocks(self) -> AsyncIterator[bytes]:
        yield b"odd"

    def devices(self) -> Any:
        return [7]


class Stubborn(Player):
    id = "stubborn"

    async def play(self, audio: Audio) -> None:
        if audio.channels != 1:
            raise ValueError("mono, please")


def test_microphones_and_players_can_break_it() -> None:
    assert set(broken(engine_contract(HalfSamples))) == {"it_gives_whole_samples", "its_devices_are_names"}
    assert set(broken(engine_contract(Stubborn))) == {"it_plays_to_the_end"}


def test_what_is_no_engine_has_no_contract() -> None:
    with pytest.raises(TypeError, match="six kinds"):
        engine_contract(Engine)
