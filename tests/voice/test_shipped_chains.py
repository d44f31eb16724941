"""The transformers that ship with Hark, in spoken turns: all six chains full at once, and translation both ways."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hark.app.settings import settings_from
from hark.builtin import Cancel, Normalize, Values
from hark.builtin.transformers import SHIPPED
from hark.model import Audio
from hark.model.audio import int16_bytes, int16_samples
from hark.plugins import Plugin, Turn
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing.voice.assistant import VoiceAssistant
from hark.testing.voice.input import Scene
from unit.builtin.transformers.http_services import LocalService, chat, libretranslate, serving
from voice_engines import Real, voice_settings
from voice_samples import spoken

ENGINES = (("vad", "silero"), ("stt", "faster-whisper"), ("tts", "nanotts"))
MODELS = ("spoken-language",)
"""What needs a model that no package of the tests carries."""


class Weather(Skill):
    """Answers with what has to be written out to be spoken."""

    id = "weather.skill"

    @intent("what is the weather [in {city}]", "how is the weather [in {city}]")
    async def weather(self, turn: Turn) -> None:
        await turn.speak(f"**{turn.slots.get('city', 'nowhere')}**: -3 °C at 17:30, 5 km/h of wind. Darn cold.")


class EnglishPizza(Skill):
    """Understands and speaks English alone."""

    id = "pizza.skill"

    @intent("order a pizza")
    async def order(self, turn: Turn) -> None:
        await turn.speak("hello", lang="en-US")


@pytest.fixture
def model() -> Iterator[LocalService]:
    with serving(chat(lambda _system, user: f"Well. {user}")) as service:
        yield service


def full_settings(model: LocalService, folder: Path) -> dict[str, Any]:
    """Settings that give every transformer something to do."""
    (folder / "entities").mkdir()
    (folder / "entities" / "city.txt").write_text("Lisbon = PT-11\nParis = FR-75\n")
    (folder / "corrections.txt").write_text("what is the weather = how is the weather\n")
    tables: dict[str, Any] = {
        "privacy": {"otherwise": "all"},
        "publish": {"url": "nats://127.0.0.1:9"},
        "corrections": {"file": str(folder / "corrections.txt")},
        "language": {"langs": ["en-US", "de-DE"], "always": True},
        "translate": {"url": "http://127.0.0.1:9", "langs": ["fr"]},
        "policy": {"rules": [{"phrases": ["self destruct"]}]},
        "router": {"routes": [{"devices": ["default"], "pipeline": ["stop", "template"]}]},
        "entities": {"folder": str(folder / "entities")},
        "defaults": {"slots": {"weather.skill:units": "system_unit"}, "values": {"system_unit": "metric"}},
        "tone": {"url": f"{model.url}/v1", "model": "m"},
        "content": {"rules": [{"phrases": ["darn"], "say": "rather"}]},
        "length": {"characters": 200},
        "tempo": {"tempo": 1.1},
    }
    return {**voice_settings(), "plugins": tables}


def shipped() -> list[Plugin]:
    return [Normalize(), Cancel(), Values(), *(one.load()() for one in SHIPPED if one.id not in MODELS)]


async def test_six_full_chains_in_one_spoken_turn(real: Real, model: LocalService, tmp_path: Path) -> None:
    faint = spoken("what is the weather in Lisbon", before=1.0, after=1.0)
    faint = Audio(int16_bytes(array("h", (n // 8 for n in int16_samples(faint.samples)))), 16_000)
    settings = full_settings(model, tmp_path)
    async with VoiceAssistant(Weather(), *shipped(), engines=real.engines(*ENGINES), settings=settings) as house:
        assert not house.runtime.refusals, house.runtime.refusals
        answer = await house.hears(faint)
        why = house.why()
    ran = re.findall(r"^ +[\d.]+ ms +(\w+) +(\S+) +(changed|unchanged)\b", why, re.MULTILINE)
    chains = {kind: [who for stage, who, _how in ran if stage == kind] for kind in ("audio", "utterance", "metadata")}
    assert chains["audio"] == ["privacy", "publish", "denoise", "level"]
    assert chains["utterance"] == ["language", "normalize", "corrections", "cancel", "validate", "translate", "policy"]
    assert chains["metadata"] == ["privacy", "rate-limit", "router"]
    assert [who for stage, who, _how in ran if stage == "intent"] == [
        "values", "entities", "keywords", "defaults", "redact",
    ]  # fmt: skip
    assert [who for stage, who, _how in ran if stage == "dialog"] == [
        "tone", "length", "content", "translate", "speakable",
    ]  # fmt: skip
    assert {who for stage, who, _how in ran if stage == "tts"} >= {"tempo", "loudness", "earcon"}
    assert house.shown == [
        "Well. lisbon: minus three degrees Celsius at seventeen thirty, five kilometers per hour of wind. rather cold."
    ]
    [dispatch] = house.of("weather.skill:weather")
    assert dispatch.data["slots"]["units"] == "metric"
    assert dispatch.data["slots"]["city.id"] == "PT-11"
    heard = real.understands(*answer).casefold()
    # The recogniser writes what it heard in one of several ways.
    assert re.search(r"degrees|°", heard), heard
    assert re.search(r"(kilomet(er|re)s|km) per hour|km/h", heard), heard
    assert len(house.of(topics.UTTERANCE_HANDLED)) == 1


async def test_spanish_by_voice_with_english_inside_and_a_translator_that_dies(real: Real) -> None:
    from hark.builtin.transformers.translation import DialogTranslation, UtteranceTranslation

    with serving(libretranslate) as service:
        settings = settings_from(
            {
                "assistant": {"lang": "es-ES", "langs": ["en-US"]},
                "plugins": {"translate": {"url": service.url, "inside": "en-US", "langs": ["es"]}},
            }
        )
        engines = real.engines(("tts", "nanotts"))
        plugins = (UtteranceTranslation(), DialogTranslation(), EnglishPizza())
        async with VoiceAssistant(*plugins, engines=engines, settings=settings) as house:
            first = await house.hears(Scene().says("pide una pizza"))
            assert house.shown == ["hola"]
            assert sum(sound.seconds for sound in first) > 0.2
            assert house.of("pizza.skill:order")[0].data["lang"] == "en-US"
            service.stop()
            await house.hears(Scene().says("di hola"))
            assert house.shown == ["hola"], "what nobody could translate is not understood, and does not hang"
            assert "cannot be reached" in house.why()
            again = await house.hears(Scene().says("pide una pizza"))
            assert house.shown == ["hola", "hola"], "what was translated before still is"
            assert again
            assert len(house.of(topics.UTTERANCE_HANDLED)) == len(house.of(topics.UTTERANCE_HANDLE)) == 3
