"""Removing steady noise from recorded speech."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final

from msgspec import Meta

from hark.builtin.engines.extras import need
from hark.model.resample import resample_mono
from hark.plugins import Audio, AudioTransformer, Ctx
from hark.plugins.engines import SAMPLE_RATE

_PIECE: Final = SAMPLE_RATE // 100 * 2
"""Bytes of the ten milliseconds the library takes at a time."""


class NoiseSuppression(AudioTransformer):
    """Removes steady noise (WebRTC). It helps small recognisers and hurts large ones: see docs/transformers.md.

    The result is mono at 16 kHz, which is what recognisers are given anyway.
    """

    id = "denoise"
    priority = 30

    @dataclass(frozen=True)
    class Settings:
        """How much."""

        strength: Annotated[int, Meta(ge=1, le=4)] = 2
        """From 1, little noise is removed, to 4, speech suffers too."""

    settings: Settings

    async def start(self) -> None:
        self._library: Any = need("webrtc_noise_gain", "denoise")

    def transform(self, audio: Audio, ctx: Ctx) -> Audio:  # noqa: ARG002
        samples = resample_mono(audio).samples
        if len(samples) < _PIECE:
            return audio
        suppressor = self._library.AudioProcessor(0, self.settings.strength)  # it learns the noise of one recording
        pieces = []
        for at in range(0, len(samples), _PIECE):
            piece = samples[at : at + _PIECE]
            cleaned: bytes = suppressor.Process10ms(piece.ljust(_PIECE, b"\0")).audio
            pieces.append(cleaned[: len(piece)])
        return Audio(b"".join(pieces), SAMPLE_RATE)
