"""Time in scripts."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from hark.testing.scripts.errors import LineError
from hark.testing.scripts.times import Pause, read_moment, read_pause

LISBON = ZoneInfo("Europe/Lisbon")
NOW = datetime(2026, 3, 5, 17, 30, tzinfo=LISBON)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5 minutes later", 300),
        ("1 second later", 1),
        ("an hour later", 3600),
        ("half an hour later", 1800),
        ("a day later", 86400),
        ("1 hour and 30 minutes later", 5400),
        ("1 hour, 30 minutes and 5 seconds later", 5405),
        ("1.5 hours later", 5400),
        ("2 WEEKS Later", 1209600),
        ("10 s later", 10),
        ("3 min later", 180),
    ],
)
def test_time_that_passes(text: str, seconds: float) -> None:
    assert read_pause(text).length(NOW) == seconds


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("at 18:00", datetime(2026, 3, 5, 18)),
        ("at 17:30", datetime(2026, 3, 6, 17, 30)),
        ("at 8:05", datetime(2026, 3, 6, 8, 5)),
        ("at 17:30:05", datetime(2026, 3, 5, 17, 30, 5)),
        ("next day at 18:00", datetime(2026, 3, 6, 18)),
        ("the next day at 8:00", datetime(2026, 3, 6, 8)),
        ("at 2026-12-24 18:00", datetime(2026, 12, 24, 18)),
    ],
)
def test_time_until_the_clock_shows_it(text: str, end: datetime) -> None:
    assert read_pause(text).length(NOW) == end.replace(tzinfo=LISBON).timestamp() - NOW.timestamp()


def test_a_night_in_which_clocks_are_put_forward_is_shorter() -> None:
    evening = datetime(2026, 3, 28, 23, tzinfo=LISBON)
    assert read_pause("next day at 23:00").length(evening) == 23 * 3600


def test_a_time_that_is_over_is_told() -> None:
    with pytest.raises(LineError, match="it is 2026-03-05 17:30 already"):
        read_pause("at 2026-03-05 17:00").length(NOW)


@pytest.mark.parametrize(
    "text",
    ["later", "5 moons later", "minutes later", "5 minutes", "at noon", "at 25:00", "at 12:75", "at 2026-02-30 12:00",
     "0 seconds later", "9999 days later", "next day at 2026-03-06 08:00", "tomorrow", ""],
)  # fmt: skip
def test_what_is_no_time_is_told_with_a_remedy(text: str) -> None:
    with pytest.raises(LineError) as raised:
        read_pause(text)
    assert raised.value.remedy


def test_moments() -> None:
    assert read_moment("2026-01-01 12:00") == datetime(2026, 1, 1, 12)
    for text in ("noon", "2026-01-01 12:00+01:00", "2026-13-01 12:00"):
        with pytest.raises(LineError, match="not a date and time"):
            read_moment(text)


@pytest.mark.parametrize(
    "text", ["5 minutes later", "1 day later", "90 seconds later", "at 17:30", "next day at 08:05"]
)
def test_pauses_are_written_as_they_are_read(text: str) -> None:
    assert str(read_pause(text)) == text


def test_a_pause_of_no_round_number() -> None:
    assert read_pause(str(Pause(0.25))) == Pause(0.25)
