"""Which words stand for which vocabulary."""

from __future__ import annotations

import pytest
from keyword_pools import ask, register, slots, voc

from hark.intents.keyword import KeywordPool, best_assignment
from hark.intents.keyword.matching import TRIED


@pytest.mark.parametrize(
    ("vocabularies", "text", "expected"),
    [
        # Longest, then leftmost.
        ({"hall": ["hall", "front hall"]}, "hall or front hall", {"hall": "front hall"}),
        ({"soon": ["now", "soon"]}, "soon now", {"soon": "soon"}),
        # No word twice where that can be helped, ...
        ({"front": ["front hall"], "hall": ["hall"]}, "hall and front hall", {"front": "front hall", "hall": "hall"}),
        ({"a": ["x", "p q"], "b": ["q r s"]}, "x p q r s", {"a": "x", "b": "q r s"}),
        ({"a": ["p", "p q r"], "b": ["r s"]}, "p q r s", {"a": "p", "b": "r s"}),
        ({"a": ["one"], "b": ["one", "two"], "c": ["two", "three"]}, "one two three",
         {"a": "one", "b": "two", "c": "three"}),
        # ... and twice where it cannot.
        ({"front": ["front hall"], "hall": ["hall"]}, "front hall", {"front": "front hall", "hall": "hall"}),
        ({"a": ["go"], "b": ["go"]}, "go", {"a": "go", "b": "go"}),
        # Most words explained among those that use none twice.
        ({"a": ["p", "q"], "b": ["p x y", "q"]}, "p x y q", {"a": "q", "b": "p x y"}),
        # Who was declared first has its preference.
        ({"a": ["p q", "r s"], "b": ["p q", "r s"]}, "p q r s", {"a": "p q", "b": "r s"}),
    ],
)  # fmt: skip
def test_each_vocabulary_gets_its_words(
    vocabularies: dict[str, list[str]], text: str, expected: dict[str, str]
) -> None:
    pool = KeywordPool()
    register(pool, "a.b:i", required=[voc(name, *samples) for name, samples in vocabularies.items()])
    assert slots(ask(pool, text)) == expected


def test_two_of_the_same_take_two_places() -> None:
    pool = KeywordPool()
    colours = ["red", "green", "blue"]
    register(pool, "a.b:mix", required=[voc("first", *colours), voc("second", *colours)])
    assert slots(ask(pool, "mix blue with red")) == {"first": "blue", "second": "red"}
    assert slots(ask(pool, "mix blue")) == {"first": "blue", "second": "blue"}


def test_many_readings_take_little_time_and_still_avoid_words_that_are_taken() -> None:
    words = [(-1, place) for place in range(40)]
    reading = best_assignment([words] * 40)
    assert TRIED < 40**40
    assert (reading.explained, reading.twice) == (40, 0)
    assert sorted(reading.spans) == words


def test_what_is_said_over_and_over_is_read_in_no_time() -> None:
    said = [(-1, place) for place in range(20_000)]
    longer = [(-2, place) for place in range(19_999)]
    reading = best_assignment([said, said, longer, said])
    assert (reading.explained, reading.twice) == (5, 0)
    crowded = best_assignment([said[:2], longer[:1], [*said[:2], *longer[:1]] * 100])
    assert (crowded.explained, crowded.twice) == (2, 2)
