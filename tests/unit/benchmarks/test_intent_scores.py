"""The arithmetic behind the accuracy tables of the intent engines."""

from __future__ import annotations

import pytest

from intents.scores import F1, Judged, Point, Spread, accuracy, best_floor, claims, curve, floor_at, right_at, slot_f1

KNOWN = [
    Judged("play", "play", 0.9),
    Judged("play", "stop", 0.8),
    Judged("stop", "stop", 0.4),
    Judged("stop", None, 0.0),
]
FOREIGN = [Judged(None, "play", 0.6), Judged(None, "stop", 0.3), Judged(None, None, 0.0), Judged(None, "play", 0.1)]


def test_a_decline_and_an_answer_below_the_floor_are_wrong() -> None:
    assert accuracy(KNOWN, 0.0) == 0.5
    assert accuracy(KNOWN, 0.5) == 0.25


def test_nothing_is_right_about_declining_what_should_match() -> None:
    assert accuracy([Judged("play", None, 0.0)], 0.0) == 0.0


def test_claims_count_whatever_was_named_at_or_above_the_floor() -> None:
    assert claims(FOREIGN, 0.0) == 0.75
    assert claims(FOREIGN, 0.3) == 0.5
    assert claims(FOREIGN, 0.31) == 0.25


def test_a_slot_is_right_when_name_and_whole_value_are() -> None:
    there = [("artist", "Nina Simone"), ("year", "1965")]
    assert slot_f1(there, [("artist", "nina simone"), ("year", "1965")]) == F1(2, 2, 2)
    assert slot_f1(there, [("artist", "simone"), ("year", "1965.")]) == F1(1, 2, 2)
    assert slot_f1(there, [("track", "nina simone")]) == F1(0, 1, 2)


def test_a_slot_that_is_there_twice_has_to_be_found_twice() -> None:
    assert slot_f1([("a", "x"), ("a", "x")], [("a", "x")]) == F1(1, 1, 2)


def test_f1_is_taken_over_all_slots_and_not_over_sentences() -> None:
    total = slot_f1([("a", "x")], [("a", "x")]) + slot_f1([("a", "x"), ("b", "y")], []) + slot_f1([], [("c", "z")])
    assert total == F1(1, 2, 3)
    assert total.value == pytest.approx(2 * 1 / (2 + 3))


def test_f1_of_nothing_is_nought() -> None:
    assert F1().value == 0.0


def test_a_curve_begins_without_claims_and_ends_with_all_of_them() -> None:
    points = curve(KNOWN, FOREIGN)
    assert points[0] == Point(0.0, 0.0)
    assert Point(0.0, 0.25) in points
    assert Point(0.25, 0.5) in points
    assert points[-1] == Point(0.75, 0.5)


def test_a_curve_agrees_with_accuracy_and_claims_at_every_floor() -> None:
    points = curve(KNOWN, FOREIGN)
    for floor in (0.1, 0.3, 0.4, 0.6, 0.9):
        assert Point(claims(FOREIGN, floor), accuracy(KNOWN, floor)) in points


def test_accuracy_at_a_share_of_false_claims_never_allows_more_of_them() -> None:
    points = [Point(0.0, 0.2), Point(0.1, 0.5), Point(0.3, 0.8)]
    assert right_at(points, 0.0) == 0.2
    assert right_at(points, 0.29) == 0.5
    assert right_at(points, 0.3) == 0.8
    assert right_at([Point(0.5, 1.0)], 0.4) == 0.0


def test_a_floor_holds_an_engine_to_a_share_of_false_claims() -> None:
    for share in (0.0, 0.25, 0.3, 0.5, 0.75, 1.0):
        floor = floor_at(FOREIGN, share)
        assert claims(FOREIGN, floor) <= share
        assert accuracy(KNOWN, floor) == right_at(curve(KNOWN, FOREIGN), share)


def test_the_floor_is_where_accuracy_and_declines_are_best_together() -> None:
    known = [Judged("a", "a", score) for score in (0.9, 0.7, 0.5)]
    assert best_floor(known, [Judged(None, "a", 0.6)]) == 0.7
    assert best_floor(known, [Judged(None, "a", 0.4)]) == 0.5


def test_where_there_is_nothing_to_decline_the_floor_is_nought() -> None:
    assert best_floor([Judged("a", "a", 0.5)], []) == 0.0


def test_a_single_seed_has_no_spread() -> None:
    assert Spread.of([0.5]) == Spread(0.5, 0.0)
    assert Spread.of([0.4, 0.6]).sd == pytest.approx(0.1414, abs=1e-4)
