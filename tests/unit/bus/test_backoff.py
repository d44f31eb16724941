"""Pauses between attempts."""

from __future__ import annotations

import random

import pytest

from hark.bus import Backoff


def test_each_pause_is_twice_the_last_up_to_the_longest() -> None:
    backoff = Backoff()
    assert [backoff.after() for _ in range(10)] == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0])


def test_what_worked_for_long_enough_begins_again() -> None:
    backoff = Backoff(first=1.0, longest=8.0, steady=60.0)
    assert [backoff.after(lived) for lived in (0.0, 59.9, 0.0, 60.0, 0.0)] == [1.0, 2.0, 4.0, 1.0, 2.0]


def test_clients_with_dice_do_not_return_in_the_same_moment() -> None:
    backoff = Backoff(random.Random(7), first=1.0, longest=1.0)
    pauses = [backoff.after() for _ in range(50)]
    assert all(0.5 <= pause <= 1.0 for pause in pauses)
    assert len(set(pauses)) == 50
