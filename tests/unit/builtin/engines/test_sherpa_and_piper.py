"""Sherpa-onnx and Piper, whose models are too large for a test: stand-ins for the libraries. benchmarks/voice runs
both with real models."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hark.builtin.engines.piper import Piper
from hark.builtin.engines.sherpa import SherpaOnnx
from hark.model import Audio
from unit.builtin.engines.engine_stage import stage

SOUND = Audio(b"\x01\x02" * 1_600, 16_000)


class FakeRecogniser:
    """Hears one word for each tenth of a second; `calls` is how it was made."""

    def __init__(self, calls: list[tuple[str, dict[str, Any]]]) -> None:
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("from_"):
            raise AttributeError(name)

        def make(**how: Any) -> FakeRecogniser:
            if how["tokens"].endswith("bad-tokens.txt"):
                raise RuntimeError("no such model")
            self._calls.append((name, how))
            return self

        return make

    def create_stream(self) -> Any:
        stream = SimpleNamespace(samples=0, finished=False, decoded=0, result=SimpleNamespace(text=""))
        stream.accept_waveform = lambda rate, numbers: setattr(stream, "samples", stream.samples + len(numbers))
        stream.input_finished = lambda: setattr(stream, "finished", True)
        return stream

    def is_ready(self, stream: Any) -> bool:
        return bool(stream.samples - stream.decoded >= 1_600)

    def decode_stream(self, stream: Any) -> None:
        stream.decoded += 1_600
        stream.result.text = f" {'word ' * min(3, stream.decoded // 1_600)}"

    def get_result(self, stream: Any) -> str:
        return str(stream.result.text)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    calls: list[tuple[str, dict[str, Any]]] = []
    library = SimpleNamespace(OnlineRecognizer=FakeRecogniser(calls), OfflineRecognizer=FakeRecogniser(calls))
    monkeypatch.setitem(sys.modules, "sherpa_onnx", library)  # type: ignore[arg-type]
    return calls


def model(folder: Path, *names: str) -> str:
    for name in names:
        (folder / name).write_bytes(b"x" * (1 if "int8" in name else 2))
    return str(folder)


async def test_a_moonshine_model_is_found_by_its_files(tmp_path: Path, made: list[Any]) -> None:
    folder = model(tmp_path, "tokens.txt", "encoder_model.ort", "decoder_model_merged.ort")
    async with stage() as on:
        engine = SherpaOnnx()
        assert await on.add(engine, model=folder) is None
        assert engine.transcribe(SOUND, "en-US").utterances == ("word",)
        assert engine.transcribe(Audio(b"", 16_000), "en-US").utterances == ()
        assert engine.recognition("en-US") is None
        assert "moonshine-v2 model" in engine.about()
    [(how, files)] = made
    assert how == "from_moonshine_v2"
    assert Path(files["decoder"]).name == "decoder_model_merged.ort"


async def test_of_two_precisions_the_smaller_is_taken(tmp_path: Path, made: list[Any]) -> None:
    names = ("tokens.txt", "encoder.onnx", "encoder.int8.onnx", "decoder.onnx", "joiner.int8.onnx", "joiner.onnx")
    async with stage() as on:
        engine = SherpaOnnx()
        assert await on.add(engine, model=model(tmp_path, *names), architecture="transducer", langs=["de"]) is None
        assert engine.serves("de-AT")
        assert not engine.serves("en")
    [(how, files)] = made
    assert how == "from_transducer"
    assert Path(files["encoder"]).name == "encoder.int8.onnx"
    assert Path(files["decoder"]).name == "decoder.onnx"


async def test_the_four_files_of_an_old_moonshine_are_distinguished(tmp_path: Path, made: list[Any]) -> None:
    parts = ("preprocess.onnx", "encode.int8.onnx", "uncached_decode.int8.onnx", "cached_decode.int8.onnx")
    async with stage() as on:
        folder = model(tmp_path, "tokens.txt", *parts)
        assert await on.add(SherpaOnnx(), model=folder, architecture="moonshine") is None
    [(_, files)] = made
    assert [Path(files[name]).name for name in ("preprocessor", "encoder", "uncached_decoder", "cached_decoder")] == [
        *parts
    ]


async def test_whisper_is_given_the_language(tmp_path: Path, made: list[Any]) -> None:
    folder = model(tmp_path, "base-tokens.txt", "base-encoder.onnx", "base-decoder.onnx")
    async with stage() as on:
        assert await on.add(SherpaOnnx(), model=folder, architecture="whisper", langs=["pt-BR"]) is None
    assert made[0][1]["language"] == "pt"


async def test_a_streaming_model_recognises_during_the_recording(tmp_path: Path, made: list[Any]) -> None:
    folder = model(tmp_path, "tokens.txt", "encoder.onnx", "decoder.onnx", "joiner.onnx")
    async with stage() as on:
        engine = SherpaOnnx()
        assert await on.add(engine, model=folder, architecture="streaming-transducer") is None
        recognition = engine.recognition("en")
        assert recognition is not None
        assert recognition.feed(SOUND.samples[:100]) == ""
        assert recognition.feed(SOUND.samples).split() == ["word"]
        assert recognition.feed(SOUND.samples).split() == ["word", "word"]
        assert recognition.finish().utterances == ("word word word",)
        assert engine.transcribe(SOUND, "en").utterances == ("word word word",)


async def test_a_folder_without_the_model_files_is_reported(tmp_path: Path, made: list[Any]) -> None:
    async with stage() as on:
        refusal = await on.add(SherpaOnnx())
        assert refusal is not None
        assert "is not a model folder" in refusal.reason
        refusal = await on.add(SherpaOnnx(), model=model(tmp_path, "tokens.txt"))
        assert refusal is not None
        assert "has no file *encoder_model*" in refusal.reason


async def test_a_model_the_library_refuses_is_reported(tmp_path: Path, made: list[Any]) -> None:
    folder = model(tmp_path, "bad-tokens.txt", "encoder_model.ort", "decoder_model_merged.ort")
    async with stage() as on:
        refusal = await on.add(SherpaOnnx(), model=folder)
        assert refusal is not None
        assert "no such model" in refusal.reason


class FakeVoice:
    def __init__(self, path: Path) -> None:
        self.config = SimpleNamespace(espeak_voice="fr-fr")
        self._name = path.stem

    @classmethod
    def load(cls, path: Path) -> FakeVoice:
        return cls(path)

    def synthesize(self, text: str, config: Any) -> Any:
        for sentence in text.split(". "):
            yield SimpleNamespace(
                audio_int16_bytes=f"{self._name}:{sentence}:{config.length_scale:g}".encode().ljust(60),
                sample_rate=22_050, sample_width=2, sample_channels=1,
            )  # fmt: skip


@pytest.fixture
def voices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    library = SimpleNamespace(PiperVoice=FakeVoice, SynthesisConfig=SimpleNamespace)
    monkeypatch.setitem(sys.modules, "piper", library)  # type: ignore[arg-type]
    names = ("en_US-joe-medium", "en_GB-alba-medium", "upmc")
    for name in names:
        (tmp_path / f"{name}.onnx").touch()
        (tmp_path / f"{name}.onnx.json").touch()
    return [str(tmp_path / f"{name}.onnx") for name in names]


async def test_piper_speaks_with_the_voice_of_the_language(voices: list[str]) -> None:
    async with stage() as on:
        engine = Piper()
        assert await on.add(engine, voices=voices, speed=2.0) is None
        assert engine.langs == ("en-US", "en-GB", "fr-fr")
        assert engine.voices("en-GB") == ("en_GB-alba-medium", "en_US-joe-medium")
        assert engine.synthesize("Hello", "en-GB").samples.strip() == b"en_GB-alba-medium:Hello:0.5"
        assert engine.synthesize("Hello", "en", "en_US-joe-medium").samples.startswith(b"en_US")
        assert engine.synthesize("Salut", "fr-CA").samples.startswith(b"upmc")
        assert len(list(engine.stream("One. Two", "en"))) == 2
        assert "joe" in engine.about()


async def test_piper_without_a_voice_or_its_description_is_reported(voices: list[str]) -> None:
    async with stage() as on:
        refusal = await on.add(Piper())
        assert refusal is not None
        assert "no voice is set" in refusal.reason
        refusal = await on.add(Piper(), voices=[*voices, f"{voices[0]}.json"])
        assert refusal is not None
        assert "does not exist" in refusal.reason
