"""Resampling: sound at another sample rate."""

from __future__ import annotations

import sys
from array import array
from fractions import Fraction
from functools import lru_cache
from math import cos, gcd, pi, sin
from operator import mul
from typing import Any, Final

from hark.model.audio import Audio, as_16_bits, as_mono, int16_bytes, int16_samples

_LOBES: Final = 10
"""Zero crossings of the filter on each side: more are sharper, and slower."""
_PASSED: Final = 0.92
"""The part of the lower band that is passed without loss."""
_MOST_PHASES: Final = 1_000
"""Most filters of a bank: rates without a common divisor, such as 44100 and 16001, would need one for every sample."""
_AT_ONCE: Final = 4_096
"""Samples that are computed at once: each needs its filter in memory."""

Bank = tuple[int, int, int, tuple[tuple[float, ...], ...]]
"""Steps up, steps down, samples to each side, and the filter for each position between two samples."""


def resample_mono(audio: Audio, rate: int = 16_000) -> Audio:
    """The sound with one channel and 16 bits at `rate`: by default the format that engines listen to."""
    return resample(as_mono(audio), rate)


def resample(audio: Audio, rate: int) -> Audio:
    """The same sound at `rate` samples a second, with samples of 16 bits; as long as before, to the sample."""
    audio = as_16_bits(audio)
    if audio.sample_rate == rate:
        return audio
    numbers, count = int16_samples(audio.samples), audio.channels
    channels = []
    for channel in range(count):
        resampler = Resampler(audio.sample_rate, rate)
        channels.append(resampler.take(numbers[channel::count]) + resampler.rest())
    if count == 1:
        return Audio(int16_bytes(channels[0]), rate)
    mixed = array("h", bytes(2 * count * len(channels[0])))
    for channel, one in enumerate(channels):
        mixed[channel::count] = one
    return Audio(int16_bytes(mixed), rate, 2, count)


class Resampler:
    """Resamples one channel as a stream: `feed` it pieces of any length, then `finish` for the rest.

    A windowed-sinc filter for each position between two samples. If an engine has imported numpy, it computes the sums,
    thirty times as fast; the result is the same.
    """

    def __init__(self, source: int, target: int) -> None:
        self._up, self._down, self._reach, self._bank = _bank(source, target)
        self._held = array("h", bytes(2 * self._reach))
        """The samples that are still needed; before the first one there is silence."""
        self._at = 0
        """The position of the next sample, in steps of a source sample divided by `up`, counted from the reach."""
        self._taken = 0
        self._given = 0

    def feed(self, samples: bytes) -> bytes:
        """The part of the sound that can be computed so far."""
        return int16_bytes(self.take(int16_samples(samples)))

    def finish(self) -> bytes:
        """The end of the sound. Nothing may be fed after it."""
        return int16_bytes(self.rest())

    def take(self, numbers: array[int]) -> array[int]:
        """As `feed`, for numbers."""
        self._taken += len(numbers)
        return self._step(numbers)

    def rest(self) -> array[int]:
        """As `finish`, for numbers."""
        wanted = -(-self._taken * self._up // self._down) - self._given
        last = self._step(array("h", bytes(4 * self._reach + 2)))
        return last[:wanted]

    def _step(self, numbers: array[int]) -> array[int]:
        held, up, down, reach = self._held, self._up, self._down, self._reach
        held.extend(numbers)
        width = 2 * reach
        # Of the sample at `at`, the filter needs `width` samples from `at // up + 1` on, counted from what is held.
        last = (len(held) - width - 1) * up + up - 1
        count = max(0, (last - self._at) // down + 1) if last >= self._at else 0
        if not count:
            return array("h")
        numpy: Any = sys.modules.get("numpy")
        made = _with_numpy(numpy, held, self._bank, self._at, up, down, width, count) if numpy else None
        if made is None:
            made = array("h", bytes(2 * count))
            at = self._at
            for n in range(count):
                first, phase = divmod(at, up)
                total = sum(map(mul, self._bank[phase], held[first + 1 : first + 1 + width]))
                made[n] = max(-32_768, min(32_767, round(total)))
                at += down
        self._at += count * down
        self._given += count
        done = self._at // up
        if done:
            del held[:done]
            self._at -= done * up
        return made


def _with_numpy(
    numpy: Any, held: array[int], bank: Any, at: int, up: int, down: int, width: int, count: int
) -> array[int] | None:
    if not hasattr(numpy, "lib"):  # it is being imported just now
        return None
    window = numpy.lib.stride_tricks.sliding_window_view(numpy.frombuffer(held, dtype=numpy.int16), width)
    filters = numpy.asarray(bank)
    made = array("h")
    for begin in range(0, count, _AT_ONCE):
        steps = at + down * numpy.arange(begin, min(count, begin + _AT_ONCE))
        sums = numpy.einsum("ij,ij->i", window[steps // up + 1], filters[steps % up])
        made.frombytes(numpy.clip(numpy.rint(sums), -32_768, 32_767).astype(numpy.int16).tobytes())
    return made


@lru_cache(maxsize=16)
def _bank(source: int, target: int) -> Bank:
    common = gcd(source, target)
    up, down = target // common, source // common
    if up > _MOST_PHASES:
        # The nearest ratio with that many filters is off by less than a sample in a million.
        near = Fraction(source, target).limit_denominator(_MOST_PHASES)
        down, up = (near.numerator, near.denominator) if near else (down, up)
    cutoff = min(1.0, up / down) * _PASSED
    reach = max(2, round(_LOBES / cutoff))
    return up, down, reach, tuple(_filter(phase / up, reach, cutoff) for phase in range(up))


def _filter(between: float, reach: int, cutoff: float) -> tuple[float, ...]:
    """The weight of each sample around a position `between` two of them."""
    weights = []
    for n in range(1 - reach, reach + 1):
        away = n - between
        window = cos(pi * away / (2 * reach)) ** 2 if abs(away) < reach else 0.0
        ring = 1.0 if away == 0 else sin(pi * cutoff * away) / (pi * cutoff * away)
        weights.append(window * ring)
    total = sum(weights)
    return tuple(weight / total for weight in weights)
