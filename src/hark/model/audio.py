"""A piece of sound with its format; its samples as numbers, and how loud it is."""

from __future__ import annotations

import sys
from array import array
from math import sqrt
from operator import mul
from typing import Final

import msgspec

_FULL_SCALE: Final = 32_768
_SAMPLED: Final = 4_096
"""Samples of each channel that are enough to estimate the peak of a long sound."""


class Audio(msgspec.Struct, frozen=True):
    """Raw little-endian PCM samples; the three format fields always describe `samples` as it is."""

    samples: bytes
    sample_rate: int
    sample_width: int = 2
    channels: int = 1

    @property
    def seconds(self) -> float:
        """The length of the sound."""
        return len(self.samples) / (self.sample_rate * self.sample_width * self.channels)

    def defect(self) -> str | None:
        """What is wrong with this value, or None."""
        samples: object = self.samples
        if type(samples) is not bytes:
            return f"samples must be bytes, not {type(samples).__name__}"
        for name in ("sample_rate", "sample_width", "channels"):
            value = getattr(self, name)
            if type(value) is not int:
                return f"{name} must be an integer, not {type(value).__name__}"
            if value < 1:
                return f"{name} must be positive"
        if len(self.samples) % (self.sample_width * self.channels):
            return "samples do not divide into whole frames of this format"
        return None


def int16_samples(samples: bytes) -> array[int]:
    """16-bit little-endian samples as numbers; half a sample at the end is dropped."""
    numbers = array("h")
    numbers.frombytes(samples if len(samples) % 2 == 0 else samples[:-1])
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def int16_bytes(numbers: array[int]) -> bytes:
    """Numbers as 16-bit little-endian samples."""
    if sys.byteorder == "big":
        numbers = array("h", numbers)
        numbers.byteswap()
    return numbers.tobytes()


def as_16_bits(audio: Audio) -> Audio:
    """The same sound with samples of 16 bits. Samples of 8 bits are unsigned, as in WAV files; wider ones signed."""
    width = audio.sample_width
    if width == 2:
        return audio
    if width == 1:
        wide = bytearray(2 * len(audio.samples))
        wide[1::2] = bytes(byte ^ 0x80 for byte in audio.samples)
    else:
        # The last two bytes of a little-endian number are its most significant ones.
        wide = bytearray(2 * (len(audio.samples) // width))
        wide[0::2] = audio.samples[width - 2 :: width]
        wide[1::2] = audio.samples[width - 1 :: width]
    return msgspec.structs.replace(audio, samples=bytes(wide), sample_width=2)


def as_mono(audio: Audio) -> Audio:
    """The same sound on one channel, the mean of all channels, with samples of 16 bits."""
    audio = as_16_bits(audio)
    count = audio.channels
    if count == 1:
        return audio
    numbers = int16_samples(audio.samples)
    mixed = array("h", [sum(frame) // count for frame in zip(*(numbers[n::count] for n in range(count)), strict=False)])
    return Audio(int16_bytes(mixed), audio.sample_rate)


class Level(msgspec.Struct, frozen=True):
    """Loudness from 0 to 1: `rms` of all samples, `peak` of the loudest one."""

    rms: float = 0.0
    peak: float = 0.0


SILENCE: Final = Level()


def level(samples: bytes) -> Level:
    """The level of 16-bit samples."""
    numbers = int16_samples(samples)
    if not numbers:
        return SILENCE
    peak = _peak(numbers)
    if not peak:
        return SILENCE
    return Level(sqrt(sum(map(mul, numbers, numbers)) / len(numbers)) / _FULL_SCALE, peak / _FULL_SCALE)


def describe_audio(audio: Audio) -> str:
    """Length, format and peak of a sound, as text."""
    channels = {1: "mono", 2: "stereo"}.get(audio.channels, f"{audio.channels} channels")
    form = f"{audio.sample_rate} Hz, {8 * audio.sample_width} bits, {channels}"
    peak = max(map(_peak, _sampled(audio)), default=0) / _FULL_SCALE
    return f"{audio.seconds:.2f} s of sound, {form}, " + (f"peak {peak:.2f}" if peak else "silent")


def _sampled(audio: Audio) -> list[array[int]]:
    """Some samples of each channel. By slices: this runs for every sound that is traced."""
    numbers, count = int16_samples(as_16_bits(audio).samples), audio.channels
    step = count * max(1, len(numbers) // (count * _SAMPLED))
    return [numbers[channel::step] for channel in range(count)]


def _peak(numbers: array[int]) -> int:
    return max(max(numbers), -min(numbers)) if numbers else 0
