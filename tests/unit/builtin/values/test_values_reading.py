"""Reading values: places, borders, and text that is none."""

from __future__ import annotations

import tomllib
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hark.builtin.values import read
from hark.builtin.values.language import LANGUAGES
from hark.plugins.values import KINDS, Kind, Value, canonical, parse

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 18, 10, tzinfo=BERLIN)
TABLES = [tomllib.loads(path.read_text()) for path in Path(__file__).parent.glob("*.toml")]
WORDS = sorted({word for table in TABLES for rows in table.values() for text in rows for word in text.split()})
ODD = ["#", "-", "½", "٣", "9999", "*1000", "@w1", "3#", "19:61", "0000-00-00", "\x00"]


def said(kind: Kind, text: str, lang: str = "en", now: datetime = NOW, zone: tzinfo | None = BERLIN) -> Value | None:
    return read(kind, text, lang, now, zone)


@given(
    st.sampled_from(KINDS),
    st.text(max_size=120) | st.lists(st.sampled_from([*WORDS, *ODD]), max_size=9).map(" ".join),
    st.sampled_from([*LANGUAGES, "en-US", "pt-BR", "xx", ""]),
)
@settings(max_examples=300, deadline=None)
def test_no_text_makes_it_raise_and_every_value_survives_its_canonical_form(kind: Kind, text: str, lang: str) -> None:
    value = read(kind, text, lang, NOW, BERLIN)
    assert value is None or parse(canonical(value), kind) == value


@pytest.mark.spec("SESSION-1/3.5.c")
def test_the_same_words_are_two_moments_in_two_places() -> None:
    assert said("when", "tomorrow at seven", zone=BERLIN) == datetime(2026, 11, 19, 7, tzinfo=BERLIN)
    tokyo = ZoneInfo("Asia/Tokyo")
    assert said("when", "tomorrow at seven", zone=tokyo) == datetime(2026, 11, 19, 7, tzinfo=tokyo)
    late = datetime(2026, 11, 18, 23, tzinfo=UTC)
    assert said("when", "today", now=late, zone=tokyo) == date(2026, 11, 19)


def test_without_a_zone_it_is_this_machines() -> None:
    value = said("when", "tomorrow at seven", zone=None)
    assert isinstance(value, datetime)
    assert value.utcoffset() == datetime(2026, 11, 19, 7).astimezone().utcoffset()


def test_a_time_that_clocks_skip_is_no_time() -> None:
    before = datetime(2027, 3, 27, 10, tzinfo=BERLIN)
    assert said("when", "tomorrow at half past two", now=before) is None
    assert said("when", "tomorrow at half past three", now=before) == datetime(2027, 3, 28, 3, 30, tzinfo=BERLIN)


def test_hours_from_now_are_counted_across_a_change_of_clocks() -> None:
    before = datetime(2027, 3, 28, 1, 30, tzinfo=BERLIN)
    value = said("when", "in two hours", now=before)
    assert isinstance(value, datetime)
    assert value.isoformat() == "2027-03-28T04:30:00+02:00"


@pytest.mark.parametrize("days", range(7))
def test_next_and_last_weekday_count_only_where_they_are_unambiguous(days: int) -> None:
    today = datetime(2026, 11, 16 + days, 10, tzinfo=BERLIN)
    for place, name in enumerate(["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]):
        following = said("when", f"next {name}", now=today)
        previous = said("when", f"last {name}", now=today)
        assert following is None or following == today.date() + timedelta(days=(place - days) % 7 or 7)
        assert previous is None or previous == today.date() - timedelta(days=(days - place) % 7 or 7)
        assert (following is None) == (place > days or (place - days) % 7 == 1)
        assert (previous is None) == (place < days or (days - place) % 7 == 1)


def test_a_weekday_that_is_today_is_in_doubt() -> None:
    assert said("when", "Wednesday") is None
    assert said("when", "Wednesday at 3 pm") is None
    assert said("when", "next Wednesday") == date(2026, 11, 25)


def test_the_order_of_figures_is_the_places() -> None:
    assert said("when", "03/05", "en-US") == date(2027, 3, 5)
    assert said("when", "03/05", "en-GB") == date(2027, 5, 3)
    assert said("when", "03/05", "en") is None
    assert said("when", "05/05", "en") == date(2027, 5, 5)
    assert said("when", "12/24", "en") == said("when", "24/12", "en-US") == date(2026, 12, 24)
    assert said("when", "5.12", "de") is None
    assert said("when", "am 5.12.", "de") == date(2026, 12, 5)


def test_the_decimal_sign_is_the_places() -> None:
    assert said("number", "1.500", "es-ES") == 1500
    assert said("number", "1.500", "es-MX") == 1.5
    assert said("number", "1.500", "de") == 1500
    assert said("number", "1.500", "de-CH") == 1.5
    assert said("number", "0.683", "es") == 0.683
    assert said("number", "2,5", "en") is None


def test_a_mere_number_is_an_hour_only_where_a_time_is_asked_for() -> None:
    assert said("time", "seven") == time(7)
    assert said("time", "19.30", "de") == time(19, 30)
    assert said("when", "seven") is said("date", "seven") is said("when", "19.30", "de") is None
    assert said("when", "at seven") == time(7)


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        *(("en", "one sunday morning"), ("en", "one morning"), ("en", "one night"), ("de", "ein Nachmittag")),
        *(("fr", "un matin"), ("fr", "un après-midi"), ("it", "una mattina"), ("it", "un pomeriggio")),
        ("pt", "uma tarde"),
    ],
)
def test_one_morning_is_no_hour_of_it(lang: str, text: str) -> None:
    assert said("when", text, lang) is said("time", text, lang) is None


def test_half_a_day_from_now_is_no_time_of_day() -> None:
    assert said("when", "in a week and a half") is None
    assert said("duration", "a week and a half") == timedelta(days=10, hours=12)


def test_a_date_is_no_time_and_a_time_no_date() -> None:
    assert said("date", "tomorrow") == date(2026, 11, 19)
    assert said("time", "tomorrow") is None
    assert said("date", "half past two") is None
    assert said("time", "tomorrow at seven") == said("date", "tomorrow at seven") == said("when", "tomorrow at seven")


def test_days_are_right_at_the_ends_of_months_and_years() -> None:
    last = datetime(2026, 12, 31, 10, tzinfo=BERLIN)
    assert said("when", "tomorrow", now=last) == date(2027, 1, 1)
    assert said("when", "the third", now=last) == date(2027, 1, 3)
    assert said("when", "in two months", now=last) is None
    assert said("when", "in two years", now=last) == date(2028, 12, 31)
    assert said("when", "February 29th", now=last) == date(2028, 2, 29)
    assert said("when", "the 31st", now=datetime(2026, 11, 5, tzinfo=UTC)) is None


@pytest.mark.parametrize("zone", [None, UTC, BERLIN, ZoneInfo("America/New_York"), ZoneInfo("Asia/Tokyo")])
def test_the_first_and_the_last_day_there_is_raise_nothing(zone: tzinfo | None) -> None:
    for text in ("0001-01-01 at 01:30", "9999-12-31 at 23:30", "0000-01-01 at 7"):
        value = said("when", text, zone=zone)
        assert value is None or canonical(value)[11:16] == text[-5:]
    assert said("when", "0001-01-01") == date(1, 1, 1)


def test_now_is_now() -> None:
    assert said("when", "right now") == NOW
    assert said("when", "maintenant", "fr", now=NOW.replace(microsecond=5)) == NOW


@pytest.mark.parametrize("text", ["in 99999999 weeks", "9" * 60 + " days", "in 9999 years", "9" * 30, "x" * 5000, " "])
def test_what_is_too_large_is_no_value(text: str) -> None:
    assert all(said(kind, text) is None for kind in KINDS)


def test_a_lone_m_is_a_metre_unless_hours_come_before_it() -> None:
    assert said("duration", "5 m") is None
    assert said("duration", "2h 30m") == timedelta(hours=2, minutes=30)


@pytest.mark.parametrize("text", ["one million and a half", "zero three", "2 and 3 hundred", "3 100 4"])
def test_doubtful_numbers_are_none(text: str) -> None:
    assert said("number", text) is None


def test_figures_and_words_make_one_number() -> None:
    assert said("number", "3 million") == 3_000_000
    assert said("number", "1,5 Millionen", "de") == 1_500_000
    assert said("number", "two hundred point zero three") == 200.03


@pytest.mark.parametrize("text", ["3#", "@w4", "3 *1000"])
def test_the_readers_own_marks_mean_nothing_in_what_is_said(text: str) -> None:
    assert said("when", text) is said("ordinal", text) is None
    assert said("number", text) in (None, 3)


def test_languages_without_tables_have_no_values() -> None:
    assert all(said(kind, "yes", "ja") is None for kind in KINDS)
    assert said("yes_no", "Yes", "EN-gb") is True


def test_zones_need_not_come_from_the_database() -> None:
    zone = timezone(timedelta(hours=5, minutes=30))
    value = said("when", "tomorrow at noon", zone=zone)
    assert value is not None
    assert canonical(value) == "2026-11-19T12:00:00+05:30"
