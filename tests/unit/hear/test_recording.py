"""Where a command begins and ends: every rule of time, counted in samples."""

from __future__ import annotations

from typing import Any

import pytest

from hark.hear.options import HearOptions
from hark.hear.recording import End, PreRoll, Recording

TENTH = 3_200
"""Bytes of a tenth of a second."""


def block(tag: int = 0, size: int = TENTH) -> bytes:
    return bytes([tag]) * size


def record(recording: Recording, voices: str) -> End | None:
    """Add a tenth of a second for each letter: `x` is a voice, `.` silence; the block holds its number."""
    for place, letter in enumerate(voices):
        end = recording.add(block(place + 1), letter == "x")
        if end is not None:
            assert place == len(voices) - 1, f"over too early, after {voices[: place + 1]}"
            return end
    return None


def tags(recording: Recording) -> list[int]:
    return [kept[0] for kept in recording.kept]


def options(**changes: Any) -> HearOptions:
    return HearOptions(**{"silence": 0.5, "no_speech": 1.0, "longest": 3.0, "shortest": 0.2, "pre_roll": 0.3} | changes)


def test_a_command_is_over_after_enough_silence_and_not_before() -> None:
    recording = Recording(options())
    assert record(recording, "xxx....") is None
    assert recording.add(block(8), False) == "silence"
    assert recording.seconds == pytest.approx(0.8)


def test_a_pause_that_is_too_short_belongs_to_the_command() -> None:
    assert record(Recording(options()), "xx....xx....xx.....") == "silence"


def test_a_recording_without_speech_ends() -> None:
    recording = Recording(options())
    assert record(recording, "." * 10) == "no speech"
    assert not recording.has_speech


def test_speech_at_the_last_moment_is_recorded_to_its_end() -> None:
    recording = Recording(options())
    assert record(recording, ".........xxx.....") == "silence"
    assert recording.spoke


def test_a_noise_that_is_too_short_is_no_speech() -> None:
    recording = Recording(options())
    assert record(recording, "..x..x....") == "no speech"
    assert not recording.spoke


def test_a_command_is_over_when_it_is_too_long() -> None:
    recording = Recording(options())
    assert record(recording, "x" * 30) == "too long"
    assert recording.has_speech
    assert len(recording.samples) == 30 * TENTH


def test_of_the_silence_before_the_speech_only_the_last_is_kept() -> None:
    recording = Recording(options(no_speech=10.0, longest=10.0))
    assert record(recording, "." * 20 + "xx.....") == "silence"
    assert tags(recording) == [18, 19, 20, 21, 22, 23, 24, 25, 26, 27]


def test_without_any_pre_roll_the_speech_is_still_whole() -> None:
    recording = Recording(options(pre_roll=0.0))
    record(recording, "..xx.....")
    assert tags(recording) == [3, 4, 5, 6, 7, 8, 9]


def test_without_speech_memory_does_not_grow() -> None:
    recording = Recording(options(no_speech=1_000.0, longest=1_000.0))
    record(recording, "." * 200)
    assert len(recording.samples) <= 4 * TENTH


def test_what_was_said_before_counts_unless_it_was_the_wake_word() -> None:
    before = [(block(91), False), (block(92), True)]
    recording = Recording(options(), before)
    assert record(recording, "x.....") == "silence"
    assert tags(recording)[:3] == [91, 92, 1]
    assert recording.spoke


def test_the_end_of_the_wake_word_is_left_out_after_a_pause() -> None:
    recording = Recording(options(), [(block(91), True)], tail=0.3)
    assert record(recording, "x..xx.....") == "silence"
    assert tags(recording) == [2, 3, 4, 5, 6, 7, 8, 9, 10]


def test_the_end_of_the_wake_word_is_no_command() -> None:
    recording = Recording(options(), [(block(91), True)], tail=0.3)
    assert record(recording, "xx........") == "no speech"


def test_in_one_breath_with_the_wake_word_everything_is_kept() -> None:
    recording = Recording(options(), [(block(91), True), (block(92), True)], tail=0.3)
    assert record(recording, "xxxx.....") == "silence"
    assert tags(recording)[:3] == [91, 92, 1]


def test_after_the_pause_speech_needs_no_longer_to_be_speech_than_ever() -> None:
    assert record(Recording(options(), tail=0.3), ".xx.....") == "silence"


def test_while_it_is_held_only_its_length_ends_it() -> None:
    recording = Recording(options(), held=True)
    assert record(recording, "." * 15 + "x" + "." * 14) == "too long"
    assert recording.has_speech
    assert len(recording.samples) == 30 * TENTH
    silent = Recording(options(), held=True)
    record(silent, "...")
    assert not silent.has_speech


def test_what_is_passed_over_is_not_kept_and_ends_nothing_but_by_length() -> None:
    recording = Recording(options())
    assert [recording.skip(block(1)) for _ in range(30)] == [None] * 29 + ["too long"]
    assert recording.samples == b""


def test_the_pre_roll_holds_the_last_moments() -> None:
    roll = PreRoll(0.3)
    for tag in range(1, 10):
        roll.add(block(tag), False)
    assert [kept[0] for kept, _ in roll.blocks()] == [7, 8, 9]
    roll.clear()
    assert roll.blocks() == []


def test_a_pre_roll_is_never_shorter_than_asked_for() -> None:
    roll = PreRoll(0.25)
    for tag in range(1, 10):
        roll.add(block(tag), False)
    assert [kept[0] for kept, _ in roll.blocks()] == [7, 8, 9]


def test_a_breath_goes_back_to_the_last_pause() -> None:
    roll = PreRoll(1.0)
    for tag, voice in enumerate([True, True, False, True, True], 1):
        roll.add(block(tag), voice)
    assert [kept[0] for kept, _ in roll.unbroken_speech(0.5)] == [4, 5]
    assert [kept[0] for kept, _ in roll.unbroken_speech(0.1)] == [5]
    roll.add(block(6), False)
    assert roll.unbroken_speech(0.5) == []
