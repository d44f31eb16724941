"""What a trace keeps of an artifact."""

from __future__ import annotations

import pytest

from hark.model import Audio, Match
from hark.trace import summarize


@pytest.mark.parametrize(
    "artifact",
    [
        "x" * 2_000,
        ("x" * 2_000,) * 20,
        Match("a.skill", "go", "en-US", "go", {"one": "x" * 1_000, "two": "x" * 1_000}),
        None,
    ],
    ids=["text", "candidates", "match", "nothing"],
)
def test_a_small_artifact_is_kept(artifact: object) -> None:
    assert summarize(artifact) is artifact


def test_of_a_long_text_its_beginning_is_kept_and_its_length_added() -> None:
    assert summarize("x" * 1_999 + "yz") == "x" * 1_999 + "y... (2001 characters)"


def test_of_many_candidates_the_first_are_kept_and_their_number_added() -> None:
    kept = summarize(tuple(f"text {number}" for number in range(21)))
    assert kept == (*(f"text {number}" for number in range(20)), "... (21 in total)")


def test_a_long_candidate_is_shortened_among_short_ones() -> None:
    kept = summarize(("short", "x" * 2_001))
    assert kept == ("short", "x" * 2_000 + "... (2001 characters)")


@pytest.mark.parametrize(
    ("sound", "text"),
    [
        (Audio(bytes(48_000), 16_000), "1.50 s of sound, 16000 Hz, 16 bits, mono, silent"),
        (Audio(b"", 16_000), "0.00 s of sound, 16000 Hz, 16 bits, mono, silent"),
        (Audio(b"\x00\x40" * 88_200, 44_100, 2, 2), "1.00 s of sound, 44100 Hz, 16 bits, stereo, peak 0.50"),
        (Audio(b"\xc0" * 2_400, 8_000, 1, 3), "0.10 s of sound, 8000 Hz, 8 bits, 3 channels, peak 0.50"),
    ],
)
def test_sound_is_described(sound: Audio, text: str) -> None:
    assert summarize(sound) == text


def test_a_match_with_long_slots_is_described() -> None:
    long = Match("a.skill", "go", "en-US", "go", {"one": "x" * 1_000, "two": "x" * 1_001})
    assert summarize(long) == "a.skill:go with 2 slots"
