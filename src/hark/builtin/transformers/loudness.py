"""How loud speech is (ITU-R BS.1770), and changing it. Needs numpy."""

from __future__ import annotations

from functools import lru_cache
from math import log10, pi
from typing import Any, Final

from hark.builtin.engines.extras import need
from hark.model.audio import as_16_bits
from hark.plugins import Audio

_BLOCK: Final = 0.4
_STEP: Final = 0.1
_ABSOLUTE_GATE: Final = -70.0
_RELATIVE_GATE: Final = -10.0
_FULL_SCALE: Final = 32_768.0
SILENT: Final = float("-inf")


def numbers(audio: Audio) -> Any:
    """The samples from -1 to 1, a row for each channel."""
    numpy = need("numpy", "sound")
    audio = as_16_bits(audio)
    return numpy.frombuffer(audio.samples, "<i2").reshape(-1, audio.channels).T.astype("float32") / _FULL_SCALE


def audio_of(samples: Any, like: Audio) -> Audio:
    """Samples from -1 to 1, a row for each channel, as 16-bit sound of the same rate."""
    numpy = need("numpy", "sound")
    whole = numpy.clip(numpy.rint(samples.T * _FULL_SCALE), -32_768, 32_767).astype("<i2")
    return Audio(whole.tobytes(), like.sample_rate, 2, like.channels)


def below_full_scale(samples: Any) -> Any:
    """The samples, quieter where they would be clipped."""
    peak = float(abs(samples).max(initial=0.0))
    return samples / peak if peak > 1.0 else samples


def loudness(samples: Any, rate: int) -> float:
    """Integrated loudness in LUFS; `SILENT` where there is nothing to hear. Shorter sounds count as one block."""
    numpy = need("numpy", "sound")
    length = samples.shape[1]
    block = min(round(_BLOCK * rate), length)
    if not block:
        return SILENT
    starts = range(0, length - block + 1, max(1, round(_STEP * rate)))
    weights = _k_weights(block, rate)
    energies = []
    for start in starts:
        spectrum = numpy.fft.rfft(samples[:, start : start + block])
        power = (spectrum.real**2 + spectrum.imag**2) * weights
        energies.append(float(power.sum()) / block**2)
    return _gated(numpy.asarray(energies))


def _gated(energies: Any) -> float:
    heard = energies[energies > _energy(_ABSOLUTE_GATE)]
    if not len(heard):
        return SILENT
    gate = _energy(_lufs(float(heard.mean())) + _RELATIVE_GATE)
    return _lufs(float(heard[heard > gate].mean()))


def _lufs(energy: float) -> float:
    return -0.691 + 10 * log10(energy)


def _energy(lufs: float) -> float:
    return float(10 ** ((lufs + 0.691) / 10))


@lru_cache(maxsize=8)
def _k_weights(block: int, rate: int) -> Any:
    """The squared response of the two filters of BS.1770 at each bin of a real transform, counting both halves."""
    numpy = need("numpy", "sound")
    z = numpy.exp(-2j * pi * numpy.fft.rfftfreq(block))
    shelf = _response(z, *_shelf(rate))
    high_pass = _response(z, *_high_pass(rate))
    weights = numpy.abs(shelf * high_pass) ** 2 * 2
    weights[0] /= 2
    if block % 2 == 0:
        weights[-1] /= 2
    return weights


def _response(z: Any, b: tuple[float, ...], a: tuple[float, ...]) -> Any:
    return (b[0] + b[1] * z + b[2] * z * z) / (a[0] + a[1] * z + a[2] * z * z)


def _shelf(rate: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The head: a shelf of 4 dB above 1.5 kHz, as a bilinear transform of the analogue filter."""
    from math import tan

    k, q, gain = tan(pi * 1681.974450955533 / rate), 0.7071752369554196, 10 ** (3.999843853973347 / 20)
    half = gain**0.4996667741545416
    b = (gain + half * k / q + k * k, 2 * (k * k - gain), gain - half * k / q + k * k)
    return b, (1 + k / q + k * k, 2 * (k * k - 1), 1 - k / q + k * k)


def _high_pass(rate: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    from math import tan

    k, q = tan(pi * 38.13547087602444 / rate), 0.5003270373238773
    a = (1 + k / q + k * k, 2 * (k * k - 1), 1 - k / q + k * k)
    return (a[0], -2 * a[0], a[0]), a


def brought_to(samples: Any, rate: int, target: float, most: float, ceiling: float = -1.0) -> tuple[Any, float]:
    """The samples at `target` LUFS, and the gain in dB: at most `most`, and no peak above `ceiling` dBFS."""
    numpy = need("numpy", "sound")
    now = loudness(samples, rate)
    if now == SILENT:
        return samples, 0.0
    peak = float(numpy.abs(samples).max(initial=0.0))
    room = ceiling - 20 * log10(peak) if peak else 0.0
    gain = min(target - now, most, max(room, target - now if target < now else 0.0))
    return samples * (10 ** (gain / 20)), gain
