"""How loud some sound is, in numbers and in words."""

from array import array

import pytest

from hark.model import Audio
from hark.model.audio import describe_audio, level


def shorts(*numbers: int) -> bytes:
    return array("h", numbers).tobytes()


@pytest.mark.parametrize(
    ("audio", "text"),
    [
        (Audio(shorts(0, 16_384, -8_192, 0), 4), "1.00 s of sound, 4 Hz, 16 bits, mono, peak 0.50"),
        (Audio(shorts(0, -32_768) * 4, 4, channels=2), "1.00 s of sound, 4 Hz, 16 bits, stereo, peak 1.00"),
        (Audio(shorts(-32_768, 0) * 4, 4, channels=2), "1.00 s of sound, 4 Hz, 16 bits, stereo, peak 1.00"),
        (Audio(bytes((128, 192)), 2, sample_width=1), "1.00 s of sound, 2 Hz, 8 bits, mono, peak 0.50"),
        (Audio(bytes(12), 2, channels=3), "1.00 s of sound, 2 Hz, 16 bits, 3 channels, silent"),
        (Audio(b"", 16_000), "0.00 s of sound, 16000 Hz, 16 bits, mono, silent"),
    ],
)
def test_sound_is_described(audio: Audio, text: str) -> None:
    assert describe_audio(audio) == text


def test_long_sound_is_looked_at_here_and_there() -> None:
    hour = Audio(shorts(*(20_000, -20_000) * 100) * 16_000, 16_000)
    assert describe_audio(hour).endswith("peak 0.61")


def test_the_level_of_samples() -> None:
    assert level(b"").peak == level(bytes(100)).rms == 0
    loud = level(shorts(-16_384, 16_384))
    assert (loud.rms, loud.peak) == (0.5, 0.5)
