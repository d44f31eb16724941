"""Removing steady noise from recorded speech."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Annotated, Any, Final

from msgspec import Meta

from hark.builtin.engines.extras import need
from hark.model.resample import resample_mono
from hark.plugins import Audio, AudioTransformer, Ctx
from hark.plugins.engines import SAMPLE_RATE

_PIECE: Final = SAMPLE_RATE // 100 * 2
"""Bytes of the ten milliseconds the library takes at a time."""
_MOST: Final = 16
"""Recordings under way at once; one more, and the oldest is forgotten."""


class NoiseSuppression(AudioTransformer):
    """Removes steady noise (WebRTC). It helps small recognisers and hurts large ones: see docs/transformers.md.

    The result is mono at 16 kHz, which is what recognisers are given anyway. It works chunk by chunk as well, so that
    recognition can begin during the recording.
    """

    id = "denoise"
    priority = 30
    chunked = True

    @dataclass(frozen=True)
    class Settings:
        """How much."""

        strength: Annotated[int, Meta(ge=1, le=4)] = 2
        """From 1, little noise is removed, to 4, speech suffers too."""

    settings: Settings

    async def start(self) -> None:
        self._library: Any = need("webrtc_noise_gain", "denoise")
        self._recordings: OrderedDict[str, _Recording] = OrderedDict()

    def transform(self, audio: Audio, ctx: Ctx) -> Audio:
        if ctx.is_first and ctx.is_last and len(audio.samples) < _PIECE:
            return audio
        recording = self._recordings.pop(ctx.recording_id or "", None)
        if recording is None or ctx.is_first:
            # It learns the noise of one recording.
            recording = _Recording(self._library.AudioProcessor(0, self.settings.strength))
        cleaned = recording.cleaned(resample_mono(audio).samples, is_last=ctx.is_last)
        if not ctx.is_last and ctx.recording_id:
            self._recordings[ctx.recording_id] = recording
            if len(self._recordings) > _MOST:
                self._recordings.popitem(last=False)
        return Audio(cleaned, SAMPLE_RATE)


class _Recording:
    """A recording under way: its suppressor, and the samples that wait for ten milliseconds to be full."""

    def __init__(self, suppressor: Any) -> None:
        self._suppressor = suppressor
        self._rest = b""

    def cleaned(self, samples: bytes, *, is_last: bool) -> bytes:
        samples = self._rest + samples
        whole = len(samples) if is_last else len(samples) // _PIECE * _PIECE
        self._rest = samples[whole:]
        pieces = []
        for at in range(0, whole, _PIECE):
            piece = samples[at : min(at + _PIECE, whole)]
            cleaned: bytes = self._suppressor.Process10ms(piece.ljust(_PIECE, b"\0")).audio
            pieces.append(cleaned[: len(piece)])
        return b"".join(pieces)
