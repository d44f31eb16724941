"""Bringing every voice to one loudness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from hark.builtin.engines.extras import need
from hark.builtin.transformers.loudness import audio_of, brought_to, numbers
from hark.plugins import Audio, Ctx, TTSTransformer


class SpeechLoudness(TTSTransformer):
    """Brings speech to one loudness by ITU-R BS.1770, whichever engine and voice made it, without clipping."""

    id = "loudness"
    priority = 60

    @dataclass(frozen=True)
    class Settings:
        """How loud."""

        target: Annotated[float, Meta(ge=-60, le=0)] = -18.0
        """The loudness in LUFS; -23 is that of broadcasts, -16 of podcasts."""
        most: Annotated[float, Meta(ge=0, le=60)] = 20.0
        """Decibels by which speech is amplified at most."""

    settings: Settings

    async def start(self) -> None:
        need("numpy", "sound")

    def transform(self, audio: Audio, ctx: Ctx) -> Audio:
        samples, gain = brought_to(numbers(audio), audio.sample_rate, self.settings.target, self.settings.most)
        if abs(gain) < 0.1:
            return audio
        ctx.set("loudness.gain", round(gain, 1))
        return audio_of(samples, audio)
