"""Sound in bands of pitch."""

from __future__ import annotations

from typing import Any

import pytest

from hark.builtin.engines.extras import need
from hark.builtin.engines.whisper_model import mel_frames

numpy: Any = need("numpy", "faster-whisper")


def tone(hertz: float, seconds: float = 1.0) -> Any:
    return 0.5 * numpy.sin(2 * numpy.pi * hertz * numpy.arange(int(16_000 * seconds)) / 16_000)


def loudest(hertz: float, bands: int = 80) -> int:
    return int(mel_frames(numpy, tone(hertz), bands)[:, 50].argmax())


@pytest.mark.parametrize("bands", [80, 128])
def test_there_is_a_column_for_each_ten_milliseconds(bands: int) -> None:
    frames = mel_frames(numpy, tone(440), bands)
    assert frames.shape == (bands, 100)
    assert frames.dtype == numpy.float32


def test_higher_tones_are_loud_in_higher_bands() -> None:
    places = [loudest(hertz) for hertz in (150, 440, 1_000, 2_000, 4_000, 7_500)]
    assert places == sorted(set(places))
    assert places[0] < 6
    assert places[-1] > 75


def test_below_a_kilohertz_bands_are_evenly_apart_above_it_wider_and_wider() -> None:
    assert abs((loudest(900) - loudest(600)) - (loudest(600) - loudest(300))) <= 1
    assert loudest(6_000) - loudest(5_000) < (loudest(1_000) - loudest(300)) / 2


def test_nothing_is_more_than_eight_orders_below_the_loudest() -> None:
    frames = mel_frames(numpy, tone(440), 80)
    assert frames.max() - frames.min() == pytest.approx(2.0, abs=1e-5)


@pytest.mark.parametrize("samples", [0, 1, 100, 160, 399])
def test_very_short_sound_is_a_few_frames_or_none(samples: int) -> None:
    assert mel_frames(numpy, tone(440)[:samples], 80).shape == (80, samples // 160)


def test_silence_is_the_same_everywhere() -> None:
    frames = mel_frames(numpy, numpy.zeros(16_000), 80)
    assert frames.min() == frames.max() == pytest.approx(-1.5)
