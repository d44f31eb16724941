"""Sound in another form, and with another number of samples a second."""

from __future__ import annotations

import sys
from array import array
from math import pi, sin
from types import ModuleType

import numpy
import pytest

from hark.model import Audio
from hark.model.audio import SILENCE, as_16_bits, as_mono, level
from hark.model.resample import Resampler, resample, resample_mono

RATES = [(48_000, 16_000), (44_100, 16_000), (22_050, 16_000), (8_000, 16_000), (16_000, 48_000), (16_000, 22_050)]


@pytest.fixture(autouse=True, params=[False, True], ids=["alone", "with numpy"])
def _helped(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test without numpy and with it."""
    if request.param:
        monkeypatch.setitem(sys.modules, "numpy", numpy)
    else:
        monkeypatch.delitem(sys.modules, "numpy")


def tone(rate: int, hertz: float, seconds: float = 0.25, loud: float = 10_000) -> Audio:
    numbers = array("h", [round(loud * sin(2 * pi * hertz * n / rate)) for n in range(round(rate * seconds))])
    return Audio(numbers.tobytes(), rate)


def numbers(audio: Audio) -> list[int]:
    return array("h", audio.samples).tolist()


@pytest.mark.parametrize(("source", "target"), RATES)
def test_a_tone_stays_the_tone_it_was(source: int, target: int) -> None:
    made = resample(tone(source, 440), target)
    wanted = numbers(tone(target, 440))
    assert made.sample_rate == target
    assert abs(len(made.samples) // 2 - len(wanted)) <= 1
    # At the ends there is silence beyond the sound, and the filter rings.
    inside = slice(200, min(len(wanted), len(made.samples) // 2) - 200)
    assert max(abs(a - b) for a, b in zip(numbers(made)[inside], wanted[inside], strict=True)) < 60


def test_what_the_lower_rate_cannot_hold_is_gone() -> None:
    high = resample(tone(48_000, 12_000), 16_000)
    assert level(high.samples[400:-400]).rms < 0.01 * level(tone(48_000, 12_000).samples).rms


@pytest.mark.parametrize(("source", "target"), RATES)
def test_in_pieces_it_is_the_same_sound(source: int, target: int) -> None:
    sound = tone(source, 700, 0.05)
    resampler = Resampler(source, target)
    pieces = [resampler.feed(sound.samples[at : at + 2 * 37]) for at in range(0, len(sound.samples), 2 * 37)]
    assert b"".join(pieces) + resampler.finish() == resample(sound, target).samples


def test_it_is_as_long_as_before_also_at_odd_rates() -> None:
    assert resample(Audio(bytes(2 * 16_001), 16_001), 16_000).seconds == pytest.approx(1.0, abs=0.001)
    assert len(resample(Audio(bytes(2), 48_000), 16_000).samples) == 2
    assert resample(Audio(b"", 48_000), 16_000).samples == b""
    assert resample(tone(16_000, 440), 16_000) == tone(16_000, 440)


def test_channels_stay_apart() -> None:
    left = numbers(tone(48_000, 440, 0.05))
    both = array("h", [value for n in left for value in (n, 0)])
    made = resample(Audio(both.tobytes(), 48_000, 2, 2), 16_000)
    assert made.channels == 2
    assert numbers(made)[0::2] == numbers(resample(Audio(array("h", left).tobytes(), 48_000), 16_000))
    assert not any(numbers(made)[1::2])


def test_loud_sound_does_not_turn_over() -> None:
    square = array("h", ([32_767] * 48 + [-32_768] * 48) * 10)
    made = numbers(resample(Audio(square.tobytes(), 48_000), 16_000))
    assert max(made) == 32_767
    assert min(made) == -32_768


def test_with_numpy_the_numbers_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = tone(44_100, 440, 0.2)
    monkeypatch.setitem(sys.modules, "numpy", numpy)
    quick = numbers(resample(sound, 16_000))
    monkeypatch.delitem(sys.modules, "numpy")
    assert max(abs(a - b) for a, b in zip(quick, numbers(resample(sound, 16_000)), strict=True)) <= 1


def test_numpy_that_is_only_being_imported_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", ModuleType("numpy"))
    assert resample(tone(48_000, 440, 0.05), 16_000).seconds == 0.05


def test_any_width_becomes_16_bits() -> None:
    assert numbers(as_16_bits(Audio(b"\x00\x80\xff", 8_000, 1))) == [-32_768, 0, 0x7F00]
    assert numbers(as_16_bits(Audio(b"\x99\x00\x80\x99\xff\x7f", 8_000, 3))) == [-32_768, 32_767]
    assert numbers(as_16_bits(Audio(b"\x99\x99\x01\x00", 8_000, 4))) == [1]
    assert as_16_bits(tone(8_000, 440)) == tone(8_000, 440)


def test_one_channel_is_the_mean_of_all() -> None:
    both = Audio(array("h", [100, 300, -100, 100]).tobytes(), 16_000, 2, 2)
    assert numbers(as_mono(both)) == [200, 0]
    assert as_mono(both).channels == 1


def test_what_listens_gets_16_kilohertz_on_one_channel() -> None:
    made = resample_mono(Audio(bytes(48_000 * 3 * 2), 48_000, 3, 2))
    assert (made.sample_rate, made.sample_width, made.channels, made.seconds) == (16_000, 2, 1, 1.0)


def test_how_loud_it_is() -> None:
    assert level(b"") == level(bytes(100)) == SILENCE
    assert level(array("h", [-32_768, 32_767]).tobytes()).peak == 1.0
    assert level(tone(16_000, 440, loud=16_384).samples).rms == pytest.approx(0.5 / 2**0.5, abs=0.001)
