"""Level of recorded speech, and the silence around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final

from msgspec import Meta

from hark.builtin.engines.extras import need
from hark.builtin.transformers.loudness import audio_of, brought_to, numbers
from hark.plugins import Audio, AudioTransformer, Ctx

_FRAME: Final = 0.01
_ABOVE: Final = 4.0
"""How many times the level of the background speech has to have, to be told from it."""


class SpeechLevel(AudioTransformer):
    """Amplifies quiet speech to one level, and trims silence at both ends: less sound to recognise."""

    id = "level"
    priority = 40

    @dataclass(frozen=True)
    class Settings:
        """How loud, and what to trim."""

        target: Annotated[float, Meta(ge=-60, le=0)] = -23.0
        """The loudness in LUFS."""
        most: Annotated[float, Meta(ge=0, le=60)] = 30.0
        """Decibels by which speech is amplified at most."""
        trim: bool = True
        """Whether silence at both ends is trimmed."""
        margin: Annotated[float, Meta(ge=0.05, le=2)] = 0.3
        """Seconds that are kept before and after speech."""

    settings: Settings

    async def start(self) -> None:
        self._numpy: Any = need("numpy", "sound")

    def transform(self, audio: Audio, ctx: Ctx) -> Audio:
        samples = numbers(audio)
        kept = self._spoken(samples, audio.sample_rate) if self.settings.trim else samples
        leveled, gain = brought_to(kept, audio.sample_rate, self.settings.target, self.settings.most)
        if abs(gain) < 0.5 and kept.shape == samples.shape:
            return audio
        ctx.set("level.gain", round(gain, 1))
        return audio_of(leveled, audio)

    def _spoken(self, samples: Any, rate: int) -> Any:
        """The samples from the first sound above the background to the last one, with a margin."""
        numpy, frame = self._numpy, round(_FRAME * rate)
        count = samples.shape[1] // frame
        if count < 20:
            return samples
        mono = samples[:, : count * frame].mean(axis=0).reshape(count, frame)
        levels = numpy.sqrt((mono * mono).mean(axis=1))
        threshold = max(_ABOVE * float(numpy.percentile(levels, 10)), 0.02 * float(levels.max()), 1e-4)
        loud = numpy.flatnonzero(levels > threshold)
        # Where hardly anything stands out, the background may be speech that fills the recording.
        if len(loud) < 5 or float(levels.max()) < 2 * threshold:
            return samples
        margin = round(self.settings.margin * rate)
        begin = max(0, int(loud[0]) * frame - margin)
        return samples[:, begin : (int(loud[-1]) + 1) * frame + margin]
