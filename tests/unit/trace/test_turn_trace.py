"""The story of one turn, and the store of the last ones."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from hark.model import Audio, Match, Session
from hark.testing import FakeClock
from hark.trace import TraceRecord, TraceStore, TurnTrace


def begin(store: TraceStore, n: int = 0) -> TurnTrace:
    return store.begin(f"turn-{n}", "x", (f"text {n}",))


def test_steps_carry_when_they_ended_and_how_long_they_took() -> None:
    clock = FakeClock()
    trace = begin(TraceStore(clock))
    clock.pass_by(0.25)
    trace.step("match", "a", "declined", 0.1, "no idea")
    clock.pass_by(0.75)
    trace.step("match", "b", "claimed", 0.5)
    trace.end("complete")
    assert [(step.who, step.at, step.seconds) for step in trace.steps] == [("a", 0.25, 0.1), ("b", 1.0, 0.5)]
    assert (trace.outcome, trace.seconds, trace.wall) == ("complete", 1.0, clock.wall() - 1.0)


def test_a_turn_is_open_until_it_ends_and_steps_may_still_follow() -> None:
    clock = FakeClock()
    trace = begin(TraceStore(clock))
    assert trace.outcome == ""
    clock.pass_by(1.0)
    trace.end("complete")
    clock.pass_by(1.0)
    trace.step("speak", "x", "rendered")
    assert trace.seconds == 1.0
    assert trace.steps[-1].at == 2.0


def test_what_led_to_a_turn_comes_before_its_steps_and_before_its_beginning() -> None:
    clock = FakeClock()
    earlier = TurnTrace("before", "x", (), clock.wall(), clock.monotonic)
    clock.pass_by(0.25)
    earlier.step("record", "a", "spoken", 0.2)
    clock.pass_by(0.75)
    trace = begin(TraceStore(clock))
    trace.step("match", "b", "claimed")
    seen = trace.steps
    trace.follows(earlier)
    assert [(step.who, step.at) for step in trace.steps] == [("a", -0.75), ("b", 0.0)]
    assert len(seen) == 1  # a reader keeps its list
    assert earlier.steps[0].at == 0.25


@pytest.mark.parametrize(
    "value",
    [
        ("a", "b"),
        {"a": (1, None)},
        Match("s", "i", "en-US", "hello", updated_session=Session("x")),
        Audio(b"\x00\xff", 8_000),
        object(),
        "half \ud83d",
        {"half \ud83d": ["\ud83d"]},
        7,
        None,
    ],
)
def test_a_record_can_be_written_down_whatever_was_noted(value: Any) -> None:
    trace = begin(TraceStore(FakeClock()))
    trace.step("utterance", "t", "changed", 0.0, "because half \ud83d", value, value)
    written = msgspec.json.encode(trace.record())
    read = msgspec.json.decode(written, type=TraceRecord)
    assert read.steps[0].who == "t"
    assert read.steps[0].detail == "because half ?"
    assert (read.utterance_id, read.utterances) == ("turn-0", ["text 0"])


def test_a_record_is_a_copy() -> None:
    trace = begin(TraceStore(FakeClock()))
    record = trace.record()
    trace.step("match", "a", "declined")
    trace.end("unmatched")
    assert (record.steps, record.outcome) == ([], "")


def test_the_store_keeps_the_last_turns() -> None:
    store = TraceStore(FakeClock(), size=3)
    for n in range(5):
        begin(store, n)
    assert len(store) == 3
    assert [trace.utterance_id for trace in store] == ["turn-2", "turn-3", "turn-4"]
    assert store.of("turn-1") is None
    assert store.of(None) is None
    found = store.of("turn-3")
    assert found is not None
    assert found.utterances == ("text 3",)


def test_a_turn_that_fell_out_of_the_store_can_still_be_ended() -> None:
    ended: list[TurnTrace] = []
    store = TraceStore(FakeClock(), size=1, on_end=ended.append)
    first = begin(store, 1)
    begin(store, 2)
    first.step("match", "a", "declined")
    store.ended(first, "unmatched")
    assert ended == [first]
    assert first.outcome == "unmatched"


def test_the_last_turn_is_found_by_the_beginning_of_its_id() -> None:
    store = TraceStore(FakeClock())
    for name in ("abc-1", "abc-2", "xyz-3"):
        store.begin(name, "x", ())
    assert store.find().utterance_id == "xyz-3"  # type: ignore[union-attr]
    assert store.find("abc").utterance_id == "abc-2"  # type: ignore[union-attr]
    assert store.find("nothing") is None
    assert TraceStore(FakeClock()).find() is None


def test_on_end_is_called_with_each_turn_as_it_ends() -> None:
    ended: list[str] = []
    store = TraceStore(FakeClock(), on_end=lambda trace: ended.append(trace.outcome))
    store.ended(begin(store), "complete")
    assert ended == ["complete"]
