"""Where the assistant is: settings, session and language."""

from __future__ import annotations

import pytest

from hark.app.settings import SettingsError, settings_from
from hark.model.session_codec import Location
from hark.plugins import Home, Session, Turn
from hark.plugins.home import usual_clock, usual_units
from hark.skills import Skill, intent
from hark.testing import Assistant

BOSTON = {
    "place": "Boston",
    "latitude": 42.36,
    "longitude": -71.06,
    "time_zone": "America/New_York",
    "units": "metric",
    "clock": 24,
    "names": ["Nadia", "Computer"],
}


class Here(Skill):
    id = "here.skill"

    @intent("where are we")
    def where(self, turn: Turn) -> str:
        home = turn.home
        return f"{home.name} {home.place} {home.units} {home.clock} {home.local(self.host.clock.wall()):%H:%M}"


async def test_a_plugin_has_the_home_of_the_settings() -> None:
    async with Assistant(Here(), settings={"home": BOSTON}) as assistant:
        now = assistant.runtime.settings.home.value().local(assistant.clock.wall())
        assert await assistant.hears("where are we") == [f"Nadia Boston metric 24 {now:%H:%M}"]


async def test_without_settings_units_and_clock_are_those_of_the_language() -> None:
    settings = {"assistant": {"langs": ["de-DE"]}}
    async with Assistant(Here(), settings=settings) as assistant:
        assert " imperial 12 " in (await assistant.hears("where are we"))[0]
        session = Session("s", system_unit="metric", time_format="full")
        assert " metric 24 " in (await assistant.hears("where are we", session=session))[0]


@pytest.mark.parametrize(
    ("lang", "units", "clock"),
    [
        ("en-US", "imperial", 12),
        ("en", "imperial", 12),
        ("en-GB", "metric", 24),
        ("en-AU", "metric", 12),
        ("de-DE", "metric", 24),
        ("es-US", "imperial", 12),
        ("pt", "metric", 24),
    ],
)
def test_what_is_usual_for_a_language(lang: str, units: str, clock: int) -> None:
    assert (usual_units(lang), usual_clock(lang)) == (units, clock)


def test_the_location_of_a_session_comes_first() -> None:
    home = Home("Boston", 42.36, -71.06, "America/New_York")
    there = home.for_session(Session("s", location=Location(48.85, 2.35, "Europe/Paris")), "en-US")
    assert (there.place, there.latitude, there.longitude, there.time_zone) == ("", 48.85, 2.35, "Europe/Paris")
    zone_only = home.for_session(Session("s", location=Location(tz="Europe/Paris")), "en-US")
    assert (zone_only.place, zone_only.latitude, zone_only.time_zone) == ("Boston", 42.36, "Europe/Paris")


def test_values_of_a_session_that_mean_nothing_are_passed_over() -> None:
    session = Session("s", system_unit=["metric"], time_format={"full": True})
    assert Home().for_session(session, "en-US").units == "imperial"


def test_an_unknown_zone_is_the_time_of_the_machine() -> None:
    home = Home(time_zone="Atlantis/Capital")
    with pytest.raises(LookupError, match="Atlantis/Capital"):
        _ = home.zone
    assert home.local(0.0) == Home().local(0.0)


@pytest.mark.parametrize(
    ("key", "value"),
    [("time_zone", "Atlantis/Capital"), ("units", "stones"), ("clock", 10), ("latitude", 91), ("longitude", "west")],
)
def test_a_wrong_value_in_the_table_is_reported(key: str, value: object) -> None:
    with pytest.raises(SettingsError, match=rf"\[home\] {key}"):
        settings_from({"home": {key: value}})
