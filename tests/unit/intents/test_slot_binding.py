"""Which words fill which slot."""

from __future__ import annotations

import pytest

from hark.intents.patterns import SentenceParts, Span
from hark.intents.template.claims import bind


def bound(sentence: str, text: str, known: frozenset[str] = frozenset()) -> dict[str, str]:
    said = text.split()

    def score(_name: str, span: Span) -> int:
        return int(" ".join(said[span[0] : span[1]]) in known)

    spans = bind(SentenceParts(tuple(sentence.split())), said, score if known else None)
    return {name: " ".join(said[first:end]) for name, (first, end) in spans.items()}


@pytest.mark.parametrize(
    ("sentence", "text", "expected"),
    [
        ("say {text}", "say hello big world", {"text": "hello big world"}),
        ("{text} please", "more tea please", {"text": "more tea"}),
        ("dim {room} now", "dim living room now", {"room": "living room"}),
        (
            "send {message} to {contact}",
            "send go to bed to anna",
            {"message": "go to bed", "contact": "anna"},
        ),
        ("{a} to {b} to {c}", "x to y to z to w", {"a": "x to y", "b": "z", "c": "w"}),
        ("from {a} up to {b}", "from 1 to 2 up to 3", {"a": "1 to 2", "b": "3"}),
    ],
)
def test_slots_on_the_left_take_as_much_as_they_can(sentence: str, text: str, expected: dict[str, str]) -> None:
    assert bound(sentence, text) == expected


def test_a_known_value_decides_where_a_slot_ends() -> None:
    assert bound("play {song} on {engine}", "play a day on the radio on fire on spotify", frozenset({"a day"})) == {
        "song": "a day",
        "engine": "the radio on fire on spotify",
    }


def test_many_divisions_are_not_all_tried() -> None:
    found = bound("a {x} to {y} to {z}", "a " + "to " * 3_000 + "b", frozenset({"nothing like it"}))
    assert found["z"] == "b"
