"""Real engines, loaded once for all tests of this folder. Their models come inside packages."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from flow.hark_process import World
from hark.app.settings import settings_from
from hark.app.voice.engines import ChosenEngine, EngineFactory
from hark.model import Audio
from hark.model.resample import resample_mono
from hark.plugins.engines import Engine, EngineKind, Transcript
from hark.testing.scripts.voice import VoiceSetup
from voice_samples import whisper_tiny


def inside(package: str) -> Path:
    """The folder of a package of which only files are wanted: nothing of it is imported."""
    spec = find_spec(package)
    assert spec is not None, f"{package} is not installed"
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0])


MODEL = whisper_tiny()


def voice_settings(tts: str = "nanotts") -> dict[str, Any]:
    """Settings with a recogniser whose model is there, and a voice; users have the clearer one by default."""
    recogniser = {"model": MODEL, "download": False, "threads": 1}
    return {"engine": {"faster-whisper": recogniser}, "voice": {"tts": [tts]}}


class Real:
    """Real engines: `real.engines(("stt", "faster-whisper"))`, and what they say and recognise by themselves."""

    def __init__(self, ensemble: VoiceSetup) -> None:
        self._ensemble = ensemble
        self._choice = EngineFactory(settings_from(voice_settings()), installed=False)
        self._outside: dict[str, Any] = {}

    def engines(self, *wanted: tuple[EngineKind, str]) -> list[Engine]:
        """These, for one assistant; their models are loaded once."""
        lent = [self._ensemble.shared(one) for kind, name in wanted for one in self._choice.of(kind, [name])]
        assert all(isinstance(one, ChosenEngine) for one in lent), lent
        return [one.engine for one in lent if isinstance(one, ChosenEngine)]

    def says(self, text: str, engine: str) -> Audio:
        """Text as speech."""
        audio: Audio = self.loaded("tts", engine).synthesize(text, "en-US")
        return audio

    def understands(self, *sounds: Audio) -> str:
        """Speech as text."""
        pause = bytes(16_000)
        whole = Audio(pause.join(resample_mono(sound, 16_000).samples for sound in sounds), 16_000)
        transcript: Transcript = self.loaded("stt", "faster-whisper").transcribe(whole, "en-US")
        return " ".join(transcript.utterances)

    def loaded(self, kind: EngineKind, name: str) -> Any:
        if name not in self._outside:
            [chosen] = [one for one in self._choice.of(kind, [name]) if isinstance(one, ChosenEngine)]
            engine = chosen.engine
            engine.settings = engine.Settings(**chosen.settings)
            engine.load()
            self._outside[name] = engine
        return self._outside[name]


@pytest.fixture(scope="session")
def ensemble() -> Iterator[VoiceSetup]:
    """Engines that stay loaded from test to test; every answer is listened to."""
    made = VoiceSetup(listen_back=True)
    yield made
    made.close()


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A home directory."""
    return World(tmp_path)


@pytest.fixture(scope="session")
def real(ensemble: VoiceSetup) -> Real:
    """Real engines."""
    return Real(ensemble)
