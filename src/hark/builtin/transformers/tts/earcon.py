"""A short sound before each answer."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from functools import lru_cache
from math import pi, sin
from typing import Annotated

from msgspec import Meta

from hark.builtin.transformers.conditions import plugin_path
from hark.model.audio import as_16_bits, as_mono, int16_bytes, int16_samples
from hark.model.resample import resample_mono
from hark.model.wav import read_wav
from hark.plugins import Audio, Ctx, TTSTransformer
from hark.plugins.engines import Unavailable


class AnswerEarcon(TTSTransformer):
    """Plays a short sound before an answer, once, however many sentences the answer has."""

    id = "earcon"
    priority = 80

    @dataclass(frozen=True)
    class Settings:
        """Which sound."""

        file: str = ""
        """A WAV file, a relative path in the plugin's data folder; empty: two soft tones."""
        volume: Annotated[float, Meta(gt=0, le=1)] = 0.25
        """How loud the tones are."""
        sessions: tuple[str, ...] = ()
        """Sessions with the sound; empty: all."""

    settings: Settings

    async def start(self) -> None:
        self._file: Audio | None = None
        if self.settings.file:
            path = plugin_path(self.settings.file, self.host)
            try:
                self._file = as_mono(read_wav(path.read_bytes()))
            except (OSError, ValueError) as error:
                raise Unavailable(f"{path} is no WAV file that can be read: {error}", "set file to one") from None

    def transform(self, audio: Audio, ctx: Ctx) -> Audio:
        if not ctx.is_first or not audio.samples:
            return audio
        if self.settings.sessions and ctx.session.session_id not in self.settings.sessions:
            return audio
        if self._file is None:
            sound = tones(audio.sample_rate, self.settings.volume)
        else:
            sound = int16_bytes(int16_samples(resample_mono(self._file, audio.sample_rate).samples))
        speech = as_16_bits(audio)
        if speech.channels > 1:
            sound = b"".join(sound[at : at + 2] * speech.channels for at in range(0, len(sound), 2))
        return Audio(sound + speech.samples, speech.sample_rate, 2, speech.channels)


@lru_cache(maxsize=4)
def tones(rate: int, volume: float) -> bytes:
    """Two tones of a tenth of a second, a fifth apart, with soft edges, and a short rest."""
    samples = array("h")
    length, edge = rate // 10, rate // 100
    for pitch in (587.3, 880.0):
        for at in range(length):
            soft = min(1.0, at / edge, (length - at) / edge)
            samples.append(round(32_767 * volume * soft * sin(2 * pi * pitch * at / rate)))
    samples.extend([0] * (rate // 20))
    return int16_bytes(samples)
