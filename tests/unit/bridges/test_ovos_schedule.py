"""Events that OVOS skills schedule in the older way."""

from __future__ import annotations

from bridge_rig import HELLO, Rig

from hark.schedule.record import accept
from hark.spec import topics

NAME = f"{HELLO}:expiration:83fdd460"
"""With two colons, as no topic has here."""


def scheduled(rig: Rig, **data: object) -> None:
    [asked] = rig.up("mycroft.scheduler.schedule_event", {"event": NAME, "data": {"n": 1}, **data}, skill_id=HELLO)
    assert asked.type == topics.SCHEDULER_SCHEDULE
    made = accept(str(asked.context["skill_id"]), asked.data, {}, round(rig.clock.wall() * 1e6))
    assert made.next is not None, "the scheduler takes it"
    rig.link.emitted.append(asked)


def skill(rig: Rig) -> Rig:
    rig.recorded("stable")
    return rig


async def test_an_event_is_fired_under_the_name_the_skill_gave_it() -> None:
    rig = skill(Rig())
    scheduled(rig, time=rig.clock.wall() + 60, repeat=None)
    record = rig.link.emitted[-1].data
    assert rig.down(record["event"], dict(record["data"]), skill_id=HELLO) == []
    assert rig.link.foreign == [(NAME, {"n": 1})]
    rig.up("mycroft.scheduler.get_event", {"name": NAME}, skill_id=HELLO)
    assert rig.link.foreign[-1][1] == {}, "it is over"


async def test_a_repeating_event_says_when_it_is_due_next() -> None:
    rig = skill(Rig())
    start = rig.clock.wall() + 10
    scheduled(rig, time=start, repeat=60)
    rig.clock.pass_by(100)
    rig.up("mycroft.scheduler.get_event", {"name": NAME}, skill_id=HELLO)
    topic, answer = rig.link.foreign[-1]
    assert topic == f"mycroft.event_status.callback.{NAME}"
    assert answer[0][:2] == [start + 120, 60]
    rig.up(topics.UTTERANCE_SPEAK, {"utterance": "I am of the newer line"})
    rig.up("mycroft.scheduler.get_event", {"name": NAME}, skill_id=HELLO)
    assert rig.link.foreign[-1][1]["schedule"][:2] == [start + 120, 60]


async def test_an_event_is_changed_and_removed() -> None:
    rig = skill(Rig())
    scheduled(rig, time=rig.clock.wall() + 60, repeat=None)
    for topic in ("mycroft.scheduler.update_event", "mycroft.schedule.update_event"):
        [changed] = rig.up(topic, {"event": NAME, "data": {"n": 2}}, skill_id=HELLO)
        assert changed.data["data"]["data"] == {"n": 2}
        assert changed.data["at"] == rig.link.emitted[-1].data["at"]
    [gone] = rig.up("mycroft.scheduler.remove_event", {"event": NAME}, skill_id=HELLO)
    assert (gone.type, gone.data["id"]) == (topics.SCHEDULER_CANCEL, NAME)
    assert rig.up("mycroft.scheduler.update_event", {"event": NAME, "data": {}}, skill_id=HELLO) == []


async def test_what_names_no_event_time_or_skill_is_dropped() -> None:
    rig = skill(Rig())
    for data in ({}, {"event": NAME}, {"event": NAME, "time": "noon"}):
        assert rig.up("mycroft.scheduler.schedule_event", data, skill_id=HELLO) == []
    assert rig.up("mycroft.scheduler.schedule_event", {"event": NAME, "time": 1.0}) == []
