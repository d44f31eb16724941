"""How loud some sound is."""

from __future__ import annotations

from array import array
from math import sqrt
from operator import mul
from typing import Final

import msgspec

from hark.model.audio import Audio
from hark.model.audio_form import as_16_bits, shorts

_FULL: Final = 32_768
_LOOKED_AT: Final = 4_096
"""Samples that are enough to tell how loud a long piece of sound is, roughly."""


class Level(msgspec.Struct, frozen=True):
    """Loudness from 0 to 1: `rms` is what is heard, `peak` the loudest sample."""

    rms: float = 0.0
    peak: float = 0.0


SILENCE: Final = Level()


def level(samples: bytes) -> Level:
    """The level of 16-bit samples."""
    numbers = shorts(samples)
    if not numbers:
        return SILENCE
    peak = _peak(numbers)
    if not peak:
        return SILENCE
    return Level(sqrt(sum(map(mul, numbers, numbers)) / len(numbers)) / _FULL, peak / _FULL)


def describe(audio: Audio) -> str:
    """A piece of sound in words: how long, in which format, how loud."""
    channels = {1: "mono", 2: "stereo"}.get(audio.channels, f"{audio.channels} channels")
    form = f"{audio.sample_rate} Hz, {8 * audio.sample_width} bits, {channels}"
    peak = max(map(_peak, _looked_at(audio)), default=0) / _FULL
    return f"{audio.seconds:.2f} s of sound, {form}, " + (f"peak {peak:.2f}" if peak else "silent")


def _looked_at(audio: Audio) -> list[array[int]]:
    """Some samples of each channel. It is done to every sound on its way, so slicing does the work, not Python."""
    numbers, count = shorts(as_16_bits(audio).samples), audio.channels
    step = count * max(1, len(numbers) // (count * _LOOKED_AT))
    return [numbers[channel::step] for channel in range(count)]


def _peak(numbers: array[int]) -> int:
    return max(max(numbers), -min(numbers)) if numbers else 0
