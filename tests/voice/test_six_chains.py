"""All six chains at work on one spoken turn, and each of them cancelling it."""

from __future__ import annotations

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from hark.model import Audio, Match
from hark.plugins import (
    AudioTransformer,
    Ctx,
    DialogTransformer,
    IntentTransformer,
    MetadataTransformer,
    Plugin,
    Transformer,
    TTSTransformer,
    UtteranceTransformer,
)
from hark.spec import topics
from hark.testing.voice.assistant import VoiceAssistant
from voice_engines import Real, voice_settings

ENGINES = (("vad", "silero"), ("stt", "faster-whisper"), ("tts", "nanotts"))


def example() -> Any:
    path = Path(__file__).resolve().parents[2] / "examples" / "six_chains.py"
    spec = spec_from_file_location("six_chains", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SIX = example()


def house_with(real: Real, *plugins: Plugin) -> VoiceAssistant:
    return VoiceAssistant(SIX.Lamps(), *plugins, engines=real.engines(*ENGINES), settings=voice_settings())


async def test_one_turn_shows_what_each_chain_changed(real: Real) -> None:
    async with house_with(real, *(made() for made in SIX.SIX)) as house:
        answer = await house.hears(SIX.spoken("please turn on the lights", _outside(real)))
        story = house.why().splitlines()

    def told(who: str) -> str:
        [line, *_] = [line for line in story if re.search(rf"\b{who}\s+changed\b", line)]
        return line

    before, after = re.findall(r"peak (\d\.\d\d)", told("audio +leveller"))
    assert float(before) < 0.2
    assert float(after) == pytest.approx(0.7, abs=0.1)
    assert '"Please turn on the lights." → "turn on the lights"' in told("utterance +polite")
    assert "context room" in told("metadata +who-is-there")
    assert '"lamps.skill:light" → "lamps.skill:light, place = kitchen"' in told("intent +default-place")
    assert '→ "Certainly. The lights in the kitchen are on."' in told("dialog +butler")
    before, after = re.findall(r"peak (\d\.\d\d)", told("tts +soft-start"))
    assert float(after) == pytest.approx(0.6 * float(before), abs=0.05)
    order = [line.split("ms")[1].split()[0] for line in story if "changed" in line]
    assert list(dict.fromkeys(order)) == ["audio", "utterance", "metadata", "intent", "dialog", "tts"]
    assert house.shown == ["Certainly. The lights in the kitchen are on."]
    heard = real.understands(*answer).lower()
    assert "kitchen" in heard
    assert "certainly" in heard


def _outside(real: Real) -> Any:
    """The voice of the example, loaded by the tests."""
    return type(real.loaded("tts", "hibari"))()


class NoAudio(AudioTransformer):
    id = "no-audio"

    def transform(self, audio: Audio, ctx: Ctx) -> Audio:
        ctx.cancel("policy")
        return audio


class NoUtterance(UtteranceTransformer):
    id = "no-utterance"

    def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        ctx.cancel("policy")
        return utterances


class NoMetadata(MetadataTransformer):
    id = "no-metadata"

    def transform(self, ctx: Ctx) -> None:
        ctx.cancel("policy")


class NoIntent(IntentTransformer):
    id = "no-intent"

    def transform(self, match: Match, ctx: Ctx) -> Match:
        ctx.cancel("policy")
        return match


class NoDialog(DialogTransformer):
    id = "no-dialog"

    def transform(self, text: str, ctx: Ctx) -> str:
        ctx.cancel("policy")
        return text


class NoTTS(TTSTransformer):
    id = "no-tts"

    def transform(self, audio: Audio, ctx: Ctx) -> Audio:
        ctx.cancel("policy")
        return audio


CANCELLERS: tuple[type[Transformer], ...] = (NoAudio, NoUtterance, NoMetadata, NoIntent, NoDialog, NoTTS)


@pytest.mark.parametrize("canceller", CANCELLERS)
async def test_a_chain_that_cancels_ends_it_as_ruled(canceller: type[Transformer], real: Real) -> None:
    """Ruling R1: one marker for each entry, none where there is no entry, never a second one."""
    chain = canceller.type
    async with house_with(real, canceller()) as house:
        answer = await house.hears(real.says("turn on the lights", "hibari"))
        story = house.why()
    entries = 0 if chain == "audio" else 1
    assert len(house.of(topics.UTTERANCE_HANDLE)) == entries
    assert len(house.of(topics.UTTERANCE_HANDLED)) == entries
    [cancelled] = house.of(topics.UTTERANCE_CANCELLED)
    assert cancelled.data["cancel_reason"] == "policy"
    assert cancelled.data["cancel_by"] == f"no-{chain}"
    assert answer == []
    assert house.shown == []
    assert house.of(topics.STT_FAILED) == []
    assert ("stt" in story) == (chain != "audio")
    if chain in ("utterance", "metadata", "intent"):
        assert "A transformer cancelled it." in story
        assert house.of(topics.HANDLER_START) == []
    if chain in ("dialog", "tts"):
        assert len(house.of(topics.HANDLER_COMPLETE)) == 1
        assert [message.data["outcome"] for message in house.of(topics.SPEECH_RENDERED)] == ["cancelled"]
