"""Short, soft sounds that say how things stand, made by sums."""

from __future__ import annotations

from array import array
from functools import lru_cache
from math import exp, pi, sin
from typing import Final, Literal

from hark.model import Audio
from hark.model.audio import int16_bytes

Earcon = Literal["listening", "done", "error"]

RATE: Final = 22_050
_LOUDNESS: Final = 0.22
"""Of what is possible: they are there to be noticed, not to startle."""

_NOTES: Final[dict[Earcon, tuple[tuple[float, float, float], ...]]] = {
    # When a note begins, how long it sounds, its pitch in Hertz.
    "listening": ((0.0, 0.14, 587.33), (0.07, 0.2, 880.0)),
    "done": ((0.0, 0.14, 880.0), (0.07, 0.2, 587.33)),
    "error": ((0.0, 0.18, 311.13), (0.13, 0.26, 233.08)),
}


@lru_cache(maxsize=len(_NOTES))
def earcon(name: Earcon) -> Audio:
    """Two notes: rising while somebody is heard, falling when that is over, low when it came to nothing."""
    notes = _NOTES[name]
    length = max(begin + seconds for begin, seconds, _ in notes)
    mixed = [0.0] * int(length * RATE)
    for begin, seconds, pitch in notes:
        first = int(begin * RATE)
        for n in range(min(int(seconds * RATE), len(mixed) - first)):
            mixed[first + n] += _note(n / RATE, seconds, pitch)
    loudest = max(map(abs, mixed))
    return Audio(int16_bytes(array("h", (round(value / loudest * _LOUDNESS * 32_767) for value in mixed))), RATE)


def _note(at: float, seconds: float, pitch: float) -> float:
    """A struck bar: it swells within ten milliseconds, fades, and ends in silence; a hint of its octave."""
    swell = min(1.0, at / 0.01)
    fade = exp(-5.0 * at / seconds) * min(1.0, (seconds - at) / 0.02)
    angle = 2 * pi * pitch * at
    return swell * fade * (sin(angle) + 0.18 * sin(2 * angle))
