"""Traces of which several processes have a part."""

from __future__ import annotations

from hark.testing import FakeClock
from hark.trace import SliceStore, TraceStore, TurnTrace, join_slices


async def test_parts_are_joined_in_the_order_in_which_things_happened() -> None:
    clock = FakeClock()
    taken_in, elsewhere = TraceStore(clock), SliceStore(clock)
    main = taken_in.begin("turn-1", "kitchen", ("hello",))
    main.step("match", "template", "claimed")
    await clock.advance(1)
    part = elsewhere.of("turn-1")
    assert part is not None
    part.step("handler", "clock", "returned")
    await clock.advance(1)
    main.step("end", "x", "done")
    taken_in.ended(main, "complete")
    story = join_slices([part.record(), main.record()])
    assert story is not None
    assert [(step.stage, step.at) for step in story.steps] == [("match", 0.0), ("handler", 1.0), ("end", 2.0)]
    assert (story.outcome, story.session_id, story.utterances) == ("complete", "kitchen", ["hello"])
    assert join_slices([]) is None


def test_parts_of_other_turns_are_left_out() -> None:
    clock = FakeClock()
    main, other = TraceStore(clock).begin("a", "x", ("hello",)), SliceStore(clock).of("b")
    assert other is not None
    other.step("handler", "clock", "returned")
    story = join_slices([main.record(), other.record()])
    assert story is not None
    assert story.steps == []


def test_a_slice_is_shown_when_it_grew_and_again_when_it_grew_after_it_was_written() -> None:
    shown: list[TurnTrace] = []
    store = SliceStore(FakeClock(), 10, shown.append)
    part = store.of("a")
    assert part is not None
    assert shown == []
    part.step("dialog", "x", "changed")
    part.step("speak", "x", "rendered")
    assert shown == [part]
    assert len(part.record().steps) == 2
    part.step("speak", "x", "rendered")
    assert shown == [part, part]


def test_there_are_no_more_slices_than_traces_may_be() -> None:
    store = SliceStore(FakeClock(), 3)
    for number in range(10):
        store.of(f"turn-{number}")
    assert [trace.utterance_id for trace in store] == ["turn-7", "turn-8", "turn-9"]
    assert store.of(None) is None
