"""Short, soft sounds of our own."""

from __future__ import annotations

from array import array
from itertools import pairwise
from typing import get_args

import pytest

from hark.model import Audio
from hark.speak.instant_sounds import Earcon, earcon
from hark.speak.playback import as_one, joined

NAMES = get_args(Earcon)


@pytest.mark.parametrize("name", NAMES)
def test_an_earcon_is_short_and_soft_and_begins_and_ends_in_silence(name: Earcon) -> None:
    audio = earcon(name)
    assert audio.defect() is None
    assert 0.1 < audio.seconds < 0.5
    samples = array("h", audio.samples)
    assert 3_000 < max(map(abs, samples)) < 10_000
    assert abs(samples[0]) < 50
    assert abs(samples[-1]) < 50
    steps = [abs(b - a) for a, b in pairwise(samples)]
    assert max(steps) < 3_000, "no clicks"


def test_earcons_differ() -> None:
    assert len({earcon(name).samples for name in NAMES}) == len(NAMES)


def test_pieces_of_one_format_become_one() -> None:
    a, b, c = Audio(b"\1\0", 8_000), Audio(b"\2\0", 8_000), Audio(b"\3\0\4\0", 16_000)
    assert joined([a, b, c, c, a]) == [Audio(b"\1\0\2\0", 8_000), Audio(b"\3\0\4\0" * 2, 16_000), a]
    assert joined([]) == []


def test_pieces_of_other_formats_are_brought_to_that_of_the_first() -> None:
    first, second = Audio(bytes(1_600), 8_000), Audio(bytes(3_200), 16_000)
    assert as_one([first, second]) == Audio(bytes(3_200), 8_000)
    assert as_one([first, first]) == Audio(bytes(3_200), 8_000)
    stereo = Audio(bytes(3_200), 8_000, 2, 2)
    assert as_one([first, stereo]) == Audio(bytes(3_200), 8_000)
