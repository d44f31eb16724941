"""What one client can make its translator keep, and do, is bounded."""

from __future__ import annotations

import pytest
from bridge_rig import HELLO, Rig

from hark.bridges.ovos.registration import MOST_OF_ONE, LegacyRegistrations, MemoryBudget, own_groups
from hark.model import Message
from hark.spec import topics


def word(text: str, **more: object) -> Message:
    return Message(
        "register_vocab", {"entity_type": "k", "entity_value": text, "lang": "en-US", **more}, {"skill_id": "s"}
    )


def intent(name: str) -> Message:
    return Message("register_intent", {"name": f"s:{name}", "requires": [["k", "k"]]}, {"skill_id": "s"})


def test_words_beyond_the_budget_are_dropped_and_those_of_a_detached_skill_make_room() -> None:
    registrations = LegacyRegistrations(MemoryBudget(10_000))
    taken = [registrations.add(word(f"word {number}")) for number in range(100)]
    assert taken[0] == "s"
    assert taken[-1] is None
    registrations.detach("s")
    assert registrations.add(word("another")) == "s"


def test_clients_share_a_budget_besides_their_own() -> None:
    shared = MemoryBudget(10_000)
    first = LegacyRegistrations(MemoryBudget(8_000, shared))
    second = LegacyRegistrations(MemoryBudget(8_000, shared))
    assert first.add(word("x" * 7_000)) == "s"
    assert second.add(word("x" * 7_000)) is None
    first.close()
    assert second.add(word("x" * 7_000)) == "s"


def test_an_intent_that_comes_and_goes_costs_no_more_each_time() -> None:
    registrations = LegacyRegistrations(MemoryBudget(10_000))
    registrations.add(word("tea"))
    for _ in range(200):
        assert registrations.add(intent("brew")) == "s"
        registrations.detach("s", "brew")


def test_long_words_of_many_intents_are_not_copied_without_end() -> None:
    registrations = LegacyRegistrations()
    registrations.add(word("x" * 1_000_000))
    for number in range(100):
        registrations.add(intent(f"i{number}"))
    made = registrations.pending()
    assert 0 < len(made) * 1_000_000 <= MOST_OF_ONE


def test_names_of_groups_are_the_skills_own() -> None:
    assert own_groups("s.x", "(?P<s_xcity>.*) (?P<day>.*)") == "(?P<city>.*) (?P<day>.*)"


def test_an_expression_that_no_matcher_takes_is_dropped() -> None:
    registrations = LegacyRegistrations()
    groups = "".join(f"(?P<g{number}>x)" for number in range(1_000))
    assert registrations.add(word("", regex=groups)) is None


async def test_skills_that_are_not_the_clients_are_not_remembered() -> None:
    rig = Rig("stable")
    for number in range(2_000):
        rig.up("mycroft.skills.loaded", {"id": f"skill{number}"})
    assert len(rig.translator.skills) <= 1_000


@pytest.mark.parametrize("time", [1e300, -1e300, 10**400])
async def test_an_event_at_no_time_is_dropped(time: float) -> None:
    rig = Rig("stable")
    event = {"event": f"{HELLO}:ring", "time": time}
    assert list(rig.up("mycroft.scheduler.schedule_event", event, skill_id=HELLO)) == []


async def test_an_event_that_carries_too_much_is_dropped() -> None:
    rig = Rig("stable")
    event = {"event": f"{HELLO}:ring", "time": 1_800_000_000.0}
    [asked] = rig.up("mycroft.scheduler.schedule_event", event, skill_id=HELLO)
    assert asked.type == topics.SCHEDULER_SCHEDULE
    large = {**event, "data": {"x": "y" * 200_000}}
    assert list(rig.up("mycroft.scheduler.schedule_event", large, skill_id=HELLO)) == []
