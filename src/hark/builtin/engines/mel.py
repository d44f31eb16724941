"""Sound as Whisper wants to see it: how loud it is, in 80 or 128 bands of pitch, a hundred times a second."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

HOP: Final = 160
"""Samples between two frames, at 16 kHz."""
_WINDOW: Final = 400
_RATE: Final = 16_000
_LEAST: Final = 1e-10


def mel_frames(numpy: Any, sound: Any, bands: int) -> Any:
    """An array of `bands` rows with a column for each 10 ms of `sound`, which is mono at 16 kHz, from -1 to 1."""
    count = len(sound) // HOP
    half = _WINDOW // 2
    # As if the sound were reflected at both ends; what is shorter than that has silence behind it.
    padded = numpy.pad(sound, (0, max(0, half + 1 - len(sound))))
    padded = numpy.pad(padded, half, mode="reflect")
    frames = numpy.lib.stride_tricks.sliding_window_view(padded, _WINDOW)[::HOP][:count]
    window = 0.5 - 0.5 * numpy.cos(2 * numpy.pi * numpy.arange(_WINDOW) / _WINDOW)
    power = numpy.abs(numpy.fft.rfft(frames * window)) ** 2
    loud = numpy.log10(numpy.maximum(_filters(numpy, bands) @ power.T, _LEAST))
    loud = numpy.maximum(loud, loud.max(initial=-10.0) - 8.0)
    return ((loud + 4.0) / 4.0).astype("float32")


@lru_cache(maxsize=2)
def _filters(numpy: Any, bands: int) -> Any:
    """A triangle for each band, evenly apart on Slaney's scale of pitch, and all of one area."""
    edges = _hertz(numpy, numpy.linspace(0.0, _pitch(numpy, _RATE / 2), bands + 2))
    pitches = numpy.linspace(0, _RATE / 2, _WINDOW // 2 + 1)
    up = (pitches - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    down = (edges[2:, None] - pitches) / (edges[2:] - edges[1:-1])[:, None]
    triangles = numpy.maximum(0.0, numpy.minimum(up, down))
    return triangles * (2.0 / (edges[2:] - edges[:-2]))[:, None]


# Below a kilohertz, pitch goes with frequency; above it with its logarithm.
_STEP: Final = 200.0 / 3
_KINK: Final = 1_000.0
_GROWTH: Final = 27.0
"""Steps in which the frequency grows by a factor of 6.4."""


def _pitch(numpy: Any, hertz: float) -> float:
    return float(_KINK / _STEP + numpy.log(hertz / _KINK) * _GROWTH / numpy.log(6.4))


def _hertz(numpy: Any, pitch: Any) -> Any:
    high = _KINK * numpy.exp(numpy.log(6.4) / _GROWTH * (pitch - _KINK / _STEP))
    return numpy.where(pitch < _KINK / _STEP, pitch * _STEP, high)
