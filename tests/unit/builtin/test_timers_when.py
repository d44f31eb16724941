"""Times in sentences about alarms and reminders."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hark.builtin.skills.timers.when import find_when


def test_a_time_from_now_is_as_long_as_it_was_said() -> None:
    """Between two seconds of the clock too: ten minutes, not nine minutes and 59 seconds."""
    now = datetime(2026, 11, 17, 20, 5, 3, 700_000, tzinfo=UTC)
    when = find_when("call mum in ten minutes", "en-US", now, UTC, lambda name: ())
    assert when.after == timedelta(minutes=10)


def test_a_time_of_day_is_not_a_time_from_now() -> None:
    now = datetime(2026, 11, 17, 20, 5, 3, 700_000, tzinfo=UTC)
    assert find_when("call mum at half past nine", "en-US", now, UTC, lambda name: ()).after is None
