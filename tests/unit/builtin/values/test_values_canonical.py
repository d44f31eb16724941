"""Values as text, and back."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import pytest

from hark.plugins.values import Value, canonical, parse, typed_value

PAIRS: list[tuple[Value, str, str]] = [
    (5, "5", "number"),
    (-3, "-3", "number"),
    (2.5, "2.5", "number"),
    (0.00001, "0.00001", "number"),
    (3, "3", "ordinal"),
    (timedelta(minutes=10), "600", "duration"),
    (timedelta(seconds=1.5), "1.5", "duration"),
    (date(2026, 11, 17), "2026-11-17", "when"),
    (time(7, 30), "07:30", "time"),
    (datetime(2026, 11, 17, 7, 30, tzinfo=UTC), "2026-11-17T07:30:00+00:00", "when"),
    ("#ff8800", "#ff8800", "colour"),
    (True, "yes", "yes_no"),
    (False, "no", "yes_no"),
]


@pytest.mark.parametrize(("value", "text", "kind"), PAIRS)
def test_a_value_has_one_text_and_the_text_one_value(value: Value, text: str, kind: str) -> None:
    assert canonical(value) == text
    assert parse(text, kind) == value
    assert type(parse(text, kind)) is type(value)


def test_without_a_kind_the_form_decides() -> None:
    assert parse("600") == 600
    assert parse("yes") is True
    assert parse("#ff8800") == "#ff8800"
    assert parse("2026-11-17") == date(2026, 11, 17)
    assert parse("600", "an unknown kind") == 600


@pytest.mark.parametrize(
    "text", ["", "five", "2026-02-30", "25:00", "05", "1e5", "NaN", "#FF8800", "2026-11-17T07:30:00", "٣", "5\n"]
)
def test_other_text_is_no_value(text: str) -> None:
    assert parse(text) is None


def test_a_value_of_another_kind_is_none() -> None:
    assert parse("yes", "number") is None
    assert parse("600", "when") is None
    assert parse("2026-11-17", "duration") is None
    assert parse("999999999999999999", "duration") is None


def test_a_slot_has_the_value_beside_it() -> None:
    slots = {"length": "ten minutes", "length.value": "600", "length.kind": "duration", "city": "Rome"}
    assert typed_value(slots, "length") == timedelta(minutes=10)
    assert typed_value({"count.value": "5"}, "count") == 5
    assert typed_value(slots, "city") is None
