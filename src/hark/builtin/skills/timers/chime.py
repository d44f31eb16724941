"""The sound of a timer or an alarm, made here: two tones that fade, three times."""

from __future__ import annotations

from array import array
from functools import cache
from math import exp, pi, sin
from typing import Final

_RATE: Final = 16_000
_TONES: Final = (880.0, 1_108.7)
_TONE: Final = 0.18
"""Seconds of one tone."""
_TIMES: Final = 3
_LOUDNESS: Final = 9_000


@cache
def chime() -> str:
    """A WAV file, as the base64 text that `ovos.audio.play_sound` takes."""
    import base64  # these here: most assistants start without ringing
    import io
    import wave

    samples = array("h")
    for _ in range(_TIMES):
        for tone in _TONES:
            samples.extend(
                int(_LOUDNESS * exp(-8 * n / _RATE) * sin(2 * pi * tone * n / _RATE)) for n in range(int(_TONE * _RATE))
            )
        samples.extend([0] * int(_TONE * _RATE))
    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(_RATE)
        file.writeframes(samples.tobytes())
    return base64.b64encode(made.getvalue()).decode()
