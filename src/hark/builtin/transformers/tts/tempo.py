"""Changing tempo and pitch of speech."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final

from msgspec import Meta

from hark.builtin.engines.extras import need
from hark.builtin.transformers.loudness import audio_of, below_full_scale, numbers
from hark.plugins import Audio, Ctx, TTSTransformer

_LONGEST: Final = 60.0
"""Seconds of a sentence; a longer sound is no sentence, and would keep the listener waiting."""


class TempoAndPitch(TTSTransformer):
    """Speaks faster or slower, higher or lower, without the one changing the other (Signalsmith Stretch, MIT)."""

    id = "tempo"
    priority = 40

    @dataclass(frozen=True)
    class Settings:
        """How fast and how high."""

        tempo: Annotated[float, Meta(ge=0.25, le=4.0)] = 1.0
        """How many times as fast."""
        semitones: Annotated[float, Meta(ge=-24, le=24)] = 0.0
        """How much higher; lower, if it is negative."""

    settings: Settings

    async def start(self) -> None:
        self._library: Any = need("python_stretch", "tempo").Signalsmith

    def transform(self, audio: Audio, ctx: Ctx) -> Audio:  # noqa: ARG002
        settings = self.settings
        if (settings.tempo == 1.0 and settings.semitones == 0.0) or not 0.05 <= audio.seconds <= _LONGEST:
            return audio
        stretch = self._library.Stretch()  # one for each sound: it has a memory, and calls may come at once
        stretch.preset(audio.channels, float(audio.sample_rate))
        stretch.setTimeFactor(settings.tempo)
        if settings.semitones:
            stretch.setTransposeSemitones(settings.semitones)
        return audio_of(below_full_scale(stretch.process(numbers(audio))), audio)
