"""Sound in another form: samples as numbers, 16 bits wide, on one channel."""

from __future__ import annotations

import sys
from array import array

import msgspec

from hark.model.audio import Audio


def shorts(samples: bytes) -> array[int]:
    """The numbers in 16-bit little-endian samples; half a sample at the end is left out."""
    numbers = array("h")
    numbers.frombytes(samples if len(samples) % 2 == 0 else samples[:-1])
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def unshorts(numbers: array[int]) -> bytes:
    """16-bit little-endian samples of these numbers."""
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
        # Of a little-endian number the last two bytes are the big half.
        wide = bytearray(2 * (len(audio.samples) // width))
        wide[0::2] = audio.samples[width - 2 :: width]
        wide[1::2] = audio.samples[width - 1 :: width]
    return msgspec.structs.replace(audio, samples=bytes(wide), sample_width=2)


def as_mono(audio: Audio) -> Audio:
    """The same sound on one channel, the mean of all of them, with samples of 16 bits."""
    audio = as_16_bits(audio)
    count = audio.channels
    if count == 1:
        return audio
    numbers = shorts(audio.samples)
    mixed = array("h", [sum(frame) // count for frame in zip(*(numbers[n::count] for n in range(count)), strict=False)])
    return Audio(unshorts(mixed), audio.sample_rate)
