"""A trace as text for users."""

from __future__ import annotations

import pytest

from hark.model import Match
from hark.testing import FakeClock
from hark.trace import TraceStore, TurnTrace, render


def lines(trace: TurnTrace) -> list[str]:
    return render(trace.record()).split("\n")


def begin(*utterances: str) -> tuple[TurnTrace, FakeClock]:
    clock = FakeClock()
    trace = TraceStore(clock).begin("abc-1", "kitchen", utterances)
    trace.lang = "en-US"
    return trace, clock


def test_a_turn_is_rendered_step_by_step() -> None:
    trace, clock = begin("what's up", "what sup")
    trace.step("utterance", "decontract", "changed", 0.0005, "", ("what's up",), ("what is up",))
    trace.step("match", "template", "declined", 0.002, "no template fits")
    clock.pass_by(0.0025)
    trace.end("unmatched")
    head, first, second, end = lines(trace)
    assert head == '"what\'s up | what sup"  session kitchen, en-US, turn abc-1'
    assert " ".join(first.split()) == '0.500 ms utterance decontract changed "what\'s up" → "what is up"'
    assert second.endswith("match      template               declined   no template fits")
    assert end == "No plugin claimed this.  2.500 ms in total, not counting speech."


def test_a_claim_is_rendered_with_its_slots_and_sound_by_its_text() -> None:
    trace, _ = begin("lights on")
    claim = Match("lamp.skill", "on", "en-US", "lights on")
    trace.step("intent", "place", "changed", 0.0, "", claim, claim.with_slots(place="kitchen"))
    trace.step("tts", "voice", "made", 0.0, "1.00 s of en-US", "It is on.")
    _, changed, made, _ = lines(trace)
    assert changed.endswith('"lamp.skill:on" → "lamp.skill:on, place = kitchen"')
    assert made.endswith('1.00 s of en-US  "It is on."')


def test_an_exception_is_shown_once() -> None:
    trace, _ = begin("lights on")
    trace.step("handler", "lamp.skill:on", "raised", 0.001, "ValueError: no such lamp")
    trace.step("handler", "lamp.skill:on", "error", 0.0, "ValueError: no such lamp")
    trace.step("handler", "lamp.skill:on", "error", 0.0, "its process ended")
    _, raised, other, _ = lines(trace)
    assert raised.endswith("raised     ValueError: no such lamp")
    assert other.endswith("error      its process ended")


def test_several_texts_are_in_quotes_each() -> None:
    trace, _ = begin("lights on")
    trace.step("utterance", "normalize", "changed", 0.0, "", ("on, please",), ("on", "on, please"))
    assert lines(trace)[1].endswith('"on, please" → "on" | "on, please"')


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("unmatched", "No plugin claimed this."),
        ("cancelled", "A transformer cancelled it."),
        ("complete", "Answered."),
        ("error", "The handler failed."),
        ("refused", "Refused: its session was not an object."),
        ("broken", "An error inside Hark"),
        ("", "Still open."),
    ],
)
def test_the_ending_is_rendered(outcome: str, words: str) -> None:
    trace, _ = begin("hello")
    if outcome:
        trace.end(outcome)
    assert lines(trace)[-1].startswith(words)


def test_nothing_heard_in_no_language() -> None:
    trace, _ = begin()
    trace.lang = None
    assert lines(trace)[0] == "(nothing)  session kitchen, no language, turn abc-1"


def test_what_is_long_is_cut_and_every_step_is_one_line() -> None:
    trace, _ = begin("x")
    trace.step("dialog", "long", "changed", 0.0, "first line\nsecond line", "a" * 500, "b" * 500)
    _, line, _ = lines(trace)
    assert "first line second line" in line
    assert "a" * 101 not in line
    assert len(line) < 320


def test_long_times_are_in_seconds() -> None:
    trace, _ = begin("x")
    trace.step("handler", "game:play", "returned", 75.25)
    assert "75.2 s" in lines(trace)[1]
