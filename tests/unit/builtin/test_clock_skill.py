"""The clock skill: here, in other places, and in unknown ones."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from hark.builtin import ClockSkill
from hark.builtin.skills.clock.skill import place
from hark.builtin.skills.tables import plain, read_table
from hark.model import Location
from hark.plugins import Session
from hark.skills.spoken import spoken_time
from hark.testing import Assistant

NAMES = Path(ClockSkill.locale_dir or "").parent / "names"


def at(zone: str) -> Session:
    return Session("x", location=Location(tz=zone))


async def test_it_tells_the_time_where_the_user_is() -> None:
    async with Assistant(ClockSkill()) as hark:
        assert await hark.hears("what time is it", session=at("Asia/Tokyo")) == ["It is 9:00 PM."]
        await hark.clock.advance(3600)
        assert await hark.hears("what is the date", session=at("Pacific/Auckland")) == [
            "It is Friday, January 2nd, 2026."
        ]
        assert await hark.hears("what day is it", session=at("Pacific/Auckland")) == ["It is Friday."]


async def test_without_a_location_it_tells_the_devices_time() -> None:
    async with Assistant(ClockSkill()) as hark:
        local = datetime.fromtimestamp(hark.clock.wall())
        assert await hark.hears("what time is it") == [f"It is {spoken_time(local, 'en-US')}."]


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd", "Europe", "\0", "/"])
async def test_where_the_zone_is_not_known_it_says_whose_time_it_tells(zone: str) -> None:
    async with Assistant(ClockSkill()) as hark:
        local = datetime.fromtimestamp(hark.clock.wall())
        told = await hark.hears("what time is it", session=at(zone))
    assert told == [
        "I do not know your time zone, so this is the time of this device.",
        f"It is {spoken_time(local, 'en-US')}.",
    ]


async def test_without_a_time_zone_database_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zoneinfo.ZoneInfo", {}.__getitem__)
    async with Assistant(ClockSkill()) as hark:
        told = await hark.hears("what time is it in Lima")
    assert told == ["I know no time zones here, so I cannot tell the time in Lima."]


async def test_another_place_is_asked_the_question_before() -> None:
    async with Assistant(ClockSkill()) as hark:
        assert await hark.hears("and in Tokyo") == []
        await hark.hears("what is the date in Lima")
        assert await hark.hears("and in Tokyo") == ["In Tokyo it is Thursday, January 1st, 2026."]
        assert await hark.hears("and in Tokyo", session="other") == []


@pytest.mark.parametrize(
    ("said", "lang", "name", "zone"),
    [
        ("buenos aires", "en-US", "Buenos Aires", "America/Argentina/Buenos_Aires"),
        ("São Paulo", "en-US", "São Paulo", "America/Sao_Paulo"),
        ("sao paulo", "en-GB", "São Paulo", "America/Sao_Paulo"),
        ("münchen", "de-DE", "München", "Europe/Berlin"),
        ("nova york", "pt-BR", "Nova York", "America/New_York"),
        ("tokio", "es-MX", "Tokio", "Asia/Tokyo"),
        ("pékin", "fr-FR", "Pékin", "Asia/Shanghai"),
        ("l'avana", "it-IT", "L'Avana", "America/Havana"),
        ("tokyo", "fi-FI", "Tokyo", "Asia/Tokyo"),
    ],
)
def test_places_have_names_in_every_language(said: str, lang: str, name: str, zone: str) -> None:
    assert place(said, lang) == (name, zone)


def test_what_is_no_place_is_none() -> None:
    assert place("atlantis", "en-US") is None
    assert place("", "en-US") is None


def test_every_zone_in_the_tables_exists() -> None:
    for path in (NAMES.parent / "places.txt", *NAMES.glob("*/places.txt")):
        for zone in read_table(path):
            ZoneInfo(zone)


def test_no_language_has_one_name_for_two_places() -> None:
    for path in NAMES.glob("*/places.txt"):
        names = [plain(name) for names in read_table(path).values() for name in names]
        assert len(names) == len(set(names)), path
