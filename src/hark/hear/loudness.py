"""Telling speech by its loudness, for where no voice activity engine works."""

from __future__ import annotations

from typing import Final

from hark.model.audio import level
from hark.plugins import Plugin
from hark.plugins.engines import VoiceDetector

_AUDIBLE: Final = 0.004
_ABOVE: Final = 3.0
"""How many times as loud as its surroundings speech is."""
_RISING: Final = 1.005
"""How fast the surroundings may become louder, for each block."""


class Loudness(VoiceDetector):
    """Takes for speech what is clearly louder than the quietest of the last seconds."""

    def __init__(self) -> None:
        self._floor = _AUDIBLE / _ABOVE

    def probability(self, samples: bytes) -> float:
        """As promised by `VoiceDetector`."""
        rms = level(samples).rms
        self._floor = min(rms, self._floor * _RISING + 1e-6)
        bar = max(_AUDIBLE, self._floor * _ABOVE)
        return min(1.0, 0.5 * rms / bar)

    def reset(self) -> None:
        """As promised by `VoiceDetector`."""
        self._floor = _AUDIBLE / _ABOVE


class OwnEar(Plugin):
    """Whose detector that is, for the record."""

    id = "loudness"
    quick = True
