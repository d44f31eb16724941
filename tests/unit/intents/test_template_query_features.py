"""What is remembered of words that were said makes nothing but speed."""

from __future__ import annotations

import pytest
from pools import ask, register

from hark.intents import Found, TemplatePool
from hark.intents.template import scoring
from hark.intents.template.trigrams import TrigramIndex

SAID = (
    "would you water the roses please",
    "the roses could do with some water",
    "are the windows in the kitchen open",
    "windows windows windows",
    "gardening is wonderful they say",
    "xylophone",
)


def taught() -> TemplatePool:
    pool = TemplatePool()
    register(pool, "a.b:water", "water the roses", "give the roses some water", "the garden needs water")
    register(pool, "a.b:windows", "is a window open", "which windows are open", "are the windows in {room} shut")
    return pool


def answers(pool: TemplatePool) -> list[object]:
    found = [ask(pool, said, floor=0.1) for said in SAID]
    return [(one.intent.label, one.slots, one.score) if isinstance(one, Found) else one for one in found]


def test_asking_again_changes_nothing() -> None:
    pool = taught()
    first = answers(pool)
    assert any(isinstance(answer, tuple) for answer in first)
    assert answers(pool) == first


@pytest.mark.parametrize("kept", [0, 1, 5])
def test_forgetting_in_between_changes_nothing(monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    expected = answers(taught())
    monkeypatch.setattr(scoring, "MAX_CACHED", kept)
    pool = taught()
    assert answers(pool) == expected
    assert answers(pool) == expected


def test_what_is_remembered_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "MAX_CACHED", 50)
    reader = scoring.QueryFeatures({}, {}, (), 0, TrigramIndex())
    for number in range(500):
        reader.read([f"word{number}", "again"])
        assert reader.cached <= 50


def test_a_registration_counts_for_words_that_were_said_before() -> None:
    pool = taught()
    assert isinstance(ask(pool, "please play the xylophone"), str)
    register(pool, "c.d:music", "play on the xylophone", "i like to hear a xylophone", "xylophone music")
    found = ask(pool, "please play the xylophone")
    assert isinstance(found, Found)
    assert found.intent.label == "c.d:music"
