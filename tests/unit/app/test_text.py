"""Text for the terminal beside the answers."""

from __future__ import annotations

import pytest

from hark.app.text import lines_of, one_line, remark, why_command


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It is noon.", "It is noon."),
        ("über alles 🙂", "über alles 🙂"),
        ("two\nlines\r\nor three", "two lines  or three"),
        ("\x1b[2Jgone\x07", "[2Jgone"),
        ("no\u00a0break\u200d", "no\u00a0break\u200d"),
        ("\x9b31mred", "31mred"),
        ("pay \u202eeb\u202c", "pay eb"),
        ("a\u2066b\u2069c\u200fd\u061ce", "abcde"),
        ("one\u2028two", "one two"),
    ],
)
def test_an_answer_is_one_line_and_cannot_steer_the_terminal(text: str, shown: str) -> None:
    assert one_line(text) == shown


def test_a_trace_keeps_its_lines_and_nothing_else() -> None:
    assert lines_of("a\n  b\x1b[2J\n") == "a\n  b [2J\n"


def test_the_command_that_explains_a_turn_can_be_typed_as_it_is() -> None:
    assert why_command("05a82590e324-17", None) == "hark why 05a82590e324-17"
    assert why_command("0" * 32, "/tmp/my state") == "hark why 00000000 --state '/tmp/my state'"


def test_what_the_assistant_said_itself_is_not_said_again() -> None:
    assert remark("unmatched", "", "hark why 1", answered=True) == "(Details: hark why 1)"
    assert remark("complete", "", "hark why 1", answered=True) is None


@pytest.mark.parametrize(
    ("outcome", "detail", "line"),
    [
        ("complete", "", None),
        ("unmatched", "", "Sorry, I did not understand that. (Details: hark why 1)"),
        ("asked", "", "This question stays open. To answer questions, start a conversation: hark run"),
        ("cancelled", "cancel: stop_word", "Cancelled."),
        ("cancelled", "guard: policy_block", "Cancelled by guard: policy_block."),
        (
            "error",
            "a:b: ValueError: no\nno",
            "The skill a:b failed: ValueError: no no (Details: hark why 1)",
        ),
        ("broken", "", "This turn did not end properly. (Details: hark why 1)"),
    ],
)
def test_every_outcome_but_an_answer_has_a_line(outcome: str, detail: str, line: str | None) -> None:
    assert remark(outcome, detail, "hark why 1") == line
