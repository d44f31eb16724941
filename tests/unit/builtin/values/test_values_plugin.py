"""The transformer in an assistant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from hark.builtin.values import Values
from hark.model import Location
from hark.plugins import Session, Turn
from hark.skills import Skill, intent
from hark.testing import Assistant
from hark.testing.contracts import contract

test_contract = contract(Values)
test_contract_without_guesses = contract(Values, settings={"guess": False, "slots": {"city": "none"}})


class Kitchen(Skill):
    id = "kitchen.skill"

    def __init__(self) -> None:
        self.slots: Mapping[str, str] = {}

    @intent("timer {time}", "cook {thing} at {when}", "pick {color} now")
    def cook(self, turn: Turn) -> None:
        self.slots = dict(turn.slots)


async def heard(text: str, session: Session | None = None, lang: str = "en-US", **settings: Any) -> dict[str, str]:
    """The slots of the turn beyond those that were said."""
    kitchen = Kitchen()
    tree = {"plugins": {"values": settings}, "assistant": {"lang": lang}}
    async with Assistant(Values(), kitchen, settings=tree) as assistant:
        await assistant.hears(text, session=session)
    return {name: value for name, value in kitchen.slots.items() if "." in name}


async def test_a_slot_gets_its_value_and_kind_and_keeps_its_text() -> None:
    assert await heard("cook rice at half past six pm") == {"when.value": "18:30", "when.kind": "when"}
    assert await heard("timer ten minutes") == {"time.value": "600", "time.kind": "duration"}
    assert await heard("pick dark blue now") == {"color.value": "#00008b", "color.kind": "colour"}


async def test_text_that_is_no_value_gets_none() -> None:
    assert await heard("timer for the eggs") == {}


async def test_a_slot_whose_name_gives_no_hint_is_guessed_unless_configured_otherwise() -> None:
    guessed = {"thing.value": "12", "thing.kind": "number"}
    assert await heard("cook twelve at noon") == {**guessed, "when.value": "12:00", "when.kind": "when"}
    assert await heard("cook twelve at noon", guess=False) == {"when.value": "12:00", "when.kind": "when"}


async def test_settings_say_what_a_slot_holds() -> None:
    assert await heard("cook red at soon", slots={"thing": "colour"}) == {
        "thing.value": "#ff0000",
        "thing.kind": "colour",
    }
    assert await heard("cook twelve at noon", slots={"thing": "none", "kitchen.skill:when": "none"}) == {}


async def test_the_sessions_zone_counts() -> None:
    session = Session("s", location=Location(tz="Asia/Tokyo"))
    assert (await heard("cook rice at 11 pm today", session))["when.value"] == "2026-01-01T23:00:00+09:00"


async def test_in_an_unknown_zone_no_time_is_sure_but_durations_are(caplog: pytest.LogCaptureFixture) -> None:
    session = Session("s", location=Location(tz="Mars/Olympus"))
    assert await heard("cook rice at noon", session) == {}
    assert "Mars/Olympus" in caplog.text
    assert (await heard("timer ten minutes", session))["time.value"] == "600"
