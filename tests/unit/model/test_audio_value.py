"""A piece of sound."""

from __future__ import annotations

from typing import Any

import pytest

from hark.model import Audio


def test_a_second_of_sound_is_as_long_as_its_format_says() -> None:
    assert Audio(b"\0" * 32_000, 16_000).seconds == 1.0
    assert Audio(b"\0" * 32_000, 16_000, 2, 2).seconds == 0.5
    assert Audio(b"", 16_000).seconds == 0


def test_a_piece_of_whole_frames_has_no_defect() -> None:
    assert Audio(b"\0" * 12, 16_000, sample_width=3, channels=2).defect() is None
    assert Audio(b"", 8_000).defect() is None


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"samples": "text"}, "samples must be bytes, not str"),
        ({"samples": None}, "samples must be bytes, not NoneType"),
        ({"samples": bytearray(b"ab")}, "samples must be bytes, not bytearray"),
        ({"sample_rate": 0}, "sample_rate must be positive"),
        ({"sample_rate": 16_000.0}, "sample_rate must be an integer, not float"),
        ({"sample_width": "2"}, "sample_width must be an integer, not str"),
        ({"channels": True}, "channels must be an integer, not bool"),
        ({"channels": -1}, "channels must be positive"),
        ({"samples": b"abc"}, "whole frames"),
    ],
)
def test_a_defect_is_said_in_a_sentence(fields: dict[str, Any], complaint: str) -> None:
    defect = Audio(**{"samples": b"\0" * 4, "sample_rate": 16_000, **fields}).defect()

    assert defect is not None
    assert complaint in defect


def test_sound_does_not_change() -> None:
    with pytest.raises(AttributeError):
        Audio(b"", 16_000).samples = b"x"  # type: ignore[misc]
