"""Turns that were ended in place of the worker that had them."""

from __future__ import annotations

import pytest

from hark.understand import stood_in
from hark.understand.stood_in import StoodIn


class Noted:
    def __init__(self, *known: str) -> None:
        self.lost: list[object] = []
        self.stood_in = dict.fromkeys(known)
        self.written: list[str] = []

    def note_stood_in(self, utterance_id: str) -> None:
        self.written.append(utterance_id)


def test_everybody_is_told_for_a_while_and_newcomers_of_all() -> None:
    known = StoodIn(1.0, None)
    known.add("a-1", 0.0)
    known.learn("b-1")
    known.add("a-2", 6.0)
    assert known.lately(6.0) == ["a-1", "a-2"]
    assert known.lately(10.5) == ["a-2"]
    assert known.lately(16.5) == []
    assert known.all() == ["a-1", "b-1", "a-2"]


def test_each_is_noted_once_and_what_is_noted_already_not_again() -> None:
    disk = Noted("a-1")
    known = StoodIn(1.0, disk)  # type: ignore[arg-type]
    for utterance_id in ("a-1", "a-2", "a-2"):
        known.learn(utterance_id)
    known.add("a-2", 0.0)
    known.add("a-3", 0.0)
    assert disk.written == ["a-2", "a-3"]
    assert known.all() == ["a-1", "a-2", "a-3"]


def test_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stood_in, "_MOST", 2)
    known = StoodIn(1.0, None)
    for number in range(4):
        known.add(f"a-{number}", 0.0)
    assert known.all() == ["a-2", "a-3"]
