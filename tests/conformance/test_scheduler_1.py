"""OVOS-SCHEDULER-1: what is asked of the scheduler."""

from __future__ import annotations

import asyncio
import re
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hark.app.state.store import State
from hark.bus import LocalBus, gather
from hark.model import Message, Session, SystemClock
from hark.schedule import FileStore, ScheduleOptions, scheduler
from hark.spec import topics
from hark.testing import settle
from scheduling import NOON, SKILL, Desk, SteppedClock, about, at

pytestmark = pytest.mark.one_process

EVERY_TEN = {"every": {"seconds": 10}}
DAILY = {"local": {"time": "07:30", "zone": "Europe/Lisbon"}}
CODES = {
    "invalid_record",
    "bad_instant",
    "bad_recurrence",
    "bad_event",
    "payload_too_large",
    "skill_id_mismatch",
    "internal",
}


@pytest.mark.spec("SCHEDULER-1/3.1.a", "SCHEDULER-1/3.5.a")
async def test_the_owner_is_the_skill_of_the_context_whatever_the_body_says(bus_type: type[LocalBus]) -> None:
    async with Desk(bus_type) as desk:
        answer = await desk.schedule(
            skill_id="other.skill", owner="other.skill", context=None, **{"in": {"seconds": 5}}
        )
        assert answer["ok"]
        assert answer["skill_id"] == SKILL
        assert await desk.list({"skill_id": "other.skill"}) == []
        body = {"id": "two", "event": f"{SKILL}.ring", "at": at("13:00"), "context": {"source": "forged"}}
        await desk.send(topics.SCHEDULER_SCHEDULE, body)
        record = (await desk.get("two"))["record"]
        assert "source" not in record["context"]


async def test_what_one_owner_and_all_clients_schedule_is_bounded(
    bus_type: type[LocalBus], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "MOST", 3)
    monkeypatch.setattr(scheduler, "MOST_OF_CLIENTS", 2)
    later = {"in": {"seconds": 50}}
    async with Desk(bus_type) as desk:
        assert [(await desk.schedule(id=name, **later))["ok"] for name in "abcd"] == [True, True, True, False]
        assert (await desk.schedule(id="a", **later))["replaced"], "the same one again"
        body = {"event": "x.ring", **later}
        for number, allowed in enumerate((True, True, False)):
            context = {"skill_id": "x", "hark_client": f"client {number}"}
            answer = await desk.send(topics.SCHEDULER_SCHEDULE, {"id": str(number), **body}, context)
            assert answer["ok"] is allowed
        large = {"skill_id": "y", "x": "x" * 100_000}
        answer = await desk.send(topics.SCHEDULER_SCHEDULE, {"id": "y", "event": "y.ring", **later}, large)
        assert answer["error"] == "payload_too_large"


@pytest.mark.spec("SCHEDULER-1/3.1.b", "SCHEDULER-1/4.b")
async def test_a_request_without_skill_is_refused(bus_type: type[LocalBus]) -> None:
    async with Desk(bus_type) as desk:
        for topic in (
            topics.SCHEDULER_SCHEDULE,
            topics.SCHEDULER_CANCEL,
            topics.SCHEDULER_GET,
            topics.SCHEDULER_LIST,
        ):
            answer = await desk.send(topic, {"id": "egg", "event": "x.y", "at": at("13:00")}, {})
            assert (answer["ok"], answer["error"]) == (False, "invalid_record")
            assert answer["reason"]


@pytest.mark.spec(
    "SCHEDULER-1/3.1.c",
    "SCHEDULER-1/3.1.d",
    "SCHEDULER-1/3.1.e",
    "SCHEDULER-1/3.2.a",
    "SCHEDULER-1/3.2.b",
    "SCHEDULER-1/3.4.2.e",
    "SCHEDULER-1/4.c",
    "SCHEDULER-1/6.1.a",
    "SCHEDULER-1/6.1.b",
)
@pytest.mark.parametrize(
    ("record", "code"),
    [
        ({}, "invalid_record"),
        ({"at": at("13:00"), "in": {"seconds": 3}}, "invalid_record"),
        ({"at": at("13:00"), "in": {"seconds": 3}, **EVERY_TEN, **DAILY}, "invalid_record"),
        ({"at": at("13:00"), "until": at("14:00")}, "invalid_record"),
        ({"in": {"seconds": 3}, "count": 2}, "invalid_record"),
        ({**EVERY_TEN, "count": 0}, "invalid_record"),
        ({**EVERY_TEN, "count": 1.5}, "invalid_record"),
        ({**EVERY_TEN, "count": True}, "invalid_record"),
        ({**EVERY_TEN, "grace_s": -1}, "invalid_record"),
        ({**EVERY_TEN, "grace_s": "a"}, "invalid_record"),
        ({**EVERY_TEN, "misfire": "all"}, "invalid_record"),
        ({**EVERY_TEN, "ephemeral": "yes"}, "invalid_record"),
        ({**EVERY_TEN, "data": [1]}, "invalid_record"),
        ({**EVERY_TEN, "id": ""}, "invalid_record"),
        ({**EVERY_TEN, "id": 7}, "invalid_record"),
        ({**EVERY_TEN, "event": None}, "invalid_record"),
        ({"at": "2031-03-29T07:30:00"}, "bad_instant"),
        ({"at": "2031-03-29"}, "bad_instant"),
        ({"at": "2031-02-30T07:30:00+00:00"}, "bad_instant"),
        ({"at": "9999-12-31T23:59:59-23:59"}, "bad_instant"),
        ({"at": 1_900_000_000}, "bad_instant"),
        ({**EVERY_TEN, "until": "soon"}, "bad_instant"),
        ({"every": {"seconds": 5, "start": "2031-03-29T07:30:00"}}, "bad_instant"),
        ({"in": {"seconds": 0}}, "bad_recurrence"),
        ({"in": {"seconds": 1e300}}, "bad_recurrence"),
        ({"in": 5}, "bad_recurrence"),
        ({"every": {}}, "bad_recurrence"),
        ({"every": {"seconds": -1}}, "bad_recurrence"),
        ({"every": {"seconds": 0.5}}, "bad_recurrence"),
        ({"every": {"seconds": True}}, "bad_recurrence"),
        ({**EVERY_TEN, "until": "2020-01-01T00:00:00+00:00"}, "bad_recurrence"),
        ({"local": "07:30"}, "bad_recurrence"),
        ({"local": {"time": "7:30", "zone": "Europe/Lisbon"}}, "bad_recurrence"),
        ({"local": {"time": "24:00", "zone": "Europe/Lisbon"}}, "bad_recurrence"),
        ({"local": {"time": "07:30", "zone": "Europe/Lisboa"}}, "bad_recurrence"),
        ({"local": {"time": "07:30", "zone": "../../etc/passwd"}}, "bad_recurrence"),
        ({"local": {"time": "07:30", "zone": "America"}}, "bad_recurrence"),
        ({"local": {"time": "07:30"}}, "bad_recurrence"),
        ({"local": {"time": "07:30", "zone": "Europe/Lisbon", "days": []}}, "bad_recurrence"),
        ({"local": {"time": "07:30", "zone": "Europe/Lisbon", "days": ["monday"]}}, "bad_recurrence"),
        ({"local": {"time": "07:30", "zone": "Europe/Lisbon", "days": "mon"}}, "bad_recurrence"),
        ({**EVERY_TEN, "event": "other.skill.ring"}, "bad_event"),
        ({**EVERY_TEN, "event": f"{SKILL}."}, "bad_event"),
        ({**EVERY_TEN, "event": SKILL}, "bad_event"),
        ({**EVERY_TEN, "event": f"{SKILL}.a:b"}, "bad_event"),
        ({**EVERY_TEN, "event": f"{SKILL}:ring"}, "bad_event"),
        ({**EVERY_TEN, "event": "ovos.utterance.handle"}, "bad_event"),
        ({**EVERY_TEN, "event": f"{SKILL}.a b"}, "bad_event"),
    ],
)
async def test_a_record_that_is_wrong_is_refused_with_its_code(record: dict[str, Any], code: str) -> None:
    async with Desk() as desk:
        answer = await desk.schedule(**record)
        assert (answer["ok"], answer["error"]) == (False, code)
        assert code in CODES
        assert answer["reason"]
        assert await desk.list() == []


@pytest.mark.parametrize(
    ("skill_id", "event"),
    [("hark", "hark.ready"), ("hark.handler", "hark.handler.done"), ("ovos.utterance", "ovos.utterance.handled")],
)
async def test_the_scheduler_does_not_emit_topics_of_the_assistant(skill_id: str, event: str) -> None:
    async with Desk() as desk:
        answer = await desk.schedule(event=event, **EVERY_TEN, context={"skill_id": skill_id})
        assert (answer["ok"], answer["error"]) == (False, "bad_event")


@pytest.mark.spec("SCHEDULER-1/3.1.f")
async def test_data_has_at_most_16384_bytes() -> None:
    def sized(octets: int) -> dict[str, str]:
        return {"a": "ü" * ((octets - 8) // 2)}  # {"a":""} has 8

    async with Desk() as desk:
        assert (await desk.schedule(**EVERY_TEN, data=sized(16_384)))["ok"]
        assert (await desk.schedule(**EVERY_TEN, data={"a": sized(16_384)["a"] + "x"}))["error"] == "payload_too_large"


@pytest.mark.spec("SCHEDULER-1/3.1.g")
async def test_what_is_left_out_has_its_default() -> None:
    async with Desk() as desk:
        await desk.schedule(at=at("12:00:10"))
        await desk.clock.advance(10)
        assert desk.fires()[0].data == {}
        await desk.schedule(at=at("12:00:20"))
        await desk.restart(70)  # within the grace of a minute
        assert len(desk.fires()) == 2
        assert desk.missed == []
        await desk.schedule(at=at("12:05"))
        await desk.restart(600)
        assert len(desk.fires()) == 3  # late
        assert len(desk.missed) == 1


@pytest.mark.spec("SCHEDULER-1/3.1.h", "SCHEDULER-1/4.3.e")
async def test_count_counts_what_was_dropped_as_well() -> None:
    async with Desk() as desk:
        await desk.schedule(every={"seconds": 100}, count=3, misfire="skip", grace_s=1)
        await desk.restart(150)
        assert desk.dues() == []
        await desk.clock.advance(1_000)
        assert desk.dues() == [at("12:03:20"), at("12:05")]
        assert (await desk.get())["state"]["next"] is None


@pytest.mark.spec("SCHEDULER-1/3.3.a", "SCHEDULER-1/5.2.a", "SCHEDULER-1/4.1.e")
async def test_the_same_id_is_the_same_schedule() -> None:
    async with Desk() as desk:
        assert not (await desk.schedule(**EVERY_TEN))["replaced"]
        for _ in range(10):
            await desk.clock.advance(1)
            assert (await desk.schedule(**EVERY_TEN))["replaced"]
        assert len(await desk.list()) == 1
        assert desk.dues() == [at("12:00:10")]
        assert (await desk.schedule(at=at("13:00")))["next"] == at("13:00")
        await desk.clock.advance(600)
        assert desk.dues() == [at("12:00:10")]


@pytest.mark.spec("SCHEDULER-1/3.3.b", "SCHEDULER-1/6.2.a", "SCHEDULER-1/4.1.d")
async def test_owners_are_apart(bus_type: type[LocalBus]) -> None:
    other = {"skill_id": "toast.skill"}
    async with Desk(bus_type) as desk:
        await desk.schedule(at=at("12:00:05"))
        await desk.schedule(other, at=at("12:00:05"))
        assert [one["record"]["event"] for one in await desk.list()] == [f"{SKILL}.ring"]
        assert (await desk.cancel(context=other))["existed"]
        await desk.clock.advance(5)
        assert len(desk.fires()) == 1
        assert desk.fires("toast.skill.ring") == []


@pytest.mark.spec("SCHEDULER-1/3.4.1.a", "SCHEDULER-1/3.4.1.b", "SCHEDULER-1/3.4.1.c")
async def test_a_period_is_anchored_and_does_not_drift() -> None:
    async with Desk() as desk:
        assert (await desk.schedule(**EVERY_TEN))["next"] == at("12:00:10")
        await desk.clock.advance(12)
        desk.clock.pass_by(12)  # the loop was blocked: four seconds late
        await desk.clock.advance(26)
        assert desk.dues() == [at(f"12:00:{second}") for second in (10, 20, 30, 40, 50)]
        assert about(desk.fires()[1])["fired"] == at("12:00:24")


@pytest.mark.spec("SCHEDULER-1/3.4.1.d")
async def test_the_same_period_keeps_its_phase() -> None:
    async with Desk() as desk:
        await desk.schedule(every={"seconds": 10, "start": at("12:00:03")})
        await desk.clock.advance(5)
        assert (await desk.schedule(**EVERY_TEN, data={"now": "other"}))["next"] == at("12:00:13")
        assert (await desk.schedule(**EVERY_TEN, count=5))["next"] == at("12:00:13")
        assert (await desk.schedule(every={"seconds": 20}))["next"] == at("12:00:25")
        await desk.restart(5)
        assert (await desk.schedule(every={"seconds": 20}))["next"] == at("12:00:25")


@pytest.mark.spec("SCHEDULER-1/3.4.2.a")
async def test_wall_clock_times_are_those_of_the_zone_on_the_listed_days() -> None:
    zone = {"time": "07:30", "days": ["mon", "fri"], "zone": "America/New_York"}
    async with Desk() as desk:  # on a Thursday
        assert (await desk.schedule(local=zone))["next"] == "2026-01-02T12:30:00+00:00"
        await desk.clock.advance(9 * 86_400)
        assert desk.dues() == [
            "2026-01-02T12:30:00+00:00",
            "2026-01-05T12:30:00+00:00",
            "2026-01-09T12:30:00+00:00",
        ]


@pytest.mark.spec("SCHEDULER-1/3.4.2.b")
@pytest.mark.parametrize(
    ("zone", "clock_time", "days", "start", "first", "second"),
    [
        # Clocks go from 02:00 to 03:00: what would be 02:30 is 03:00.
        ("Europe/Berlin", "02:30", ["sun"], "2026-03-28", "2026-03-29T01:00:00+00:00", "2026-04-05T00:30:00+00:00"),
        ("Europe/Berlin", "02:00", ["sun"], "2026-03-28", "2026-03-29T01:00:00+00:00", "2026-04-05T00:00:00+00:00"),
        # From midnight to one o'clock: the same day.
        ("Africa/Cairo", "00:00", ["fri"], "2026-04-23", "2026-04-23T22:00:00+00:00", "2026-04-30T21:00:00+00:00"),
        # Half an hour.
        (
            "Australia/Lord_Howe",
            "02:15",
            ["sun"],
            "2026-10-02",
            "2026-10-03T15:30:00+00:00",
            "2026-10-10T15:15:00+00:00",
        ),
        # A whole day that Samoa left out: the instant is on a Saturday, which is not listed.
        ("Pacific/Apia", "07:30", ["fri"], "2011-12-29", "2012-01-05T17:30:00+00:00", "2012-01-12T17:30:00+00:00"),
        (
            "Pacific/Apia",
            "07:30",
            ["fri", "sat"],
            "2011-12-29",
            "2011-12-30T10:00:00+00:00",
            "2011-12-30T17:30:00+00:00",
        ),
    ],
)
async def test_a_time_that_does_not_exist_is_the_first_instant_after_the_gap(
    zone: str, clock_time: str, days: list[str], start: str, first: str, second: str
) -> None:
    clock = SteppedClock(datetime.fromisoformat(f"{start}T12:00:00+00:00").timestamp())
    async with Desk(clock=clock) as desk:
        answer = await desk.schedule(local={"time": clock_time, "days": days, "zone": zone})
        assert answer["next"] == first
        while len(desk.dues()) < 2:
            await clock.advance(86_400)
        assert desk.dues()[:2] == [first, second]


@pytest.mark.spec("SCHEDULER-1/3.4.2.c")
async def test_a_time_that_exists_twice_is_the_first() -> None:
    clock = SteppedClock(datetime(2026, 10, 24, 12, tzinfo=UTC).timestamp())
    async with Desk(clock=clock) as desk:
        await desk.schedule(local={"time": "02:30", "zone": "Europe/Berlin"})
        await clock.advance(2 * 86_400)
        assert desk.dues() == ["2026-10-25T00:30:00+00:00", "2026-10-26T01:30:00+00:00"]


@pytest.mark.spec("SCHEDULER-1/3.4.2.d")
async def test_what_is_kept_of_a_wall_clock_time_is_the_rule() -> None:
    async with Desk() as desk:
        await desk.schedule(**DAILY)
        (entry,) = (await desk.store.load()).entries
        assert entry.record["local"] == DAILY["local"]
        assert "anchor" not in re.findall(r"\w+", desk.store.frames[SKILL, "egg"].decode())


@pytest.mark.spec("SCHEDULER-1/3.4.3.a")
@pytest.mark.parametrize("hours", [-1, 1])
async def test_setting_the_clock_does_not_move_a_delay(hours: int) -> None:
    async with Desk() as desk:
        await desk.schedule(**{"in": {"seconds": 100}})
        await desk.clock.advance(50)
        await desk.step(hours * 3_600)
        await desk.clock.advance(49)
        assert desk.fires() == []
        await desk.clock.advance(1)
        assert desk.dues() == [at("12:01:40")]
        assert desk.missed == []


@pytest.mark.spec("SCHEDULER-1/3.4.3.b")
async def test_after_a_restart_a_delay_is_an_instant() -> None:
    async with Desk() as desk:
        await desk.schedule(**{"in": {"seconds": 100}})
        await desk.restart(30)
        await desk.step(50)
        await desk.clock.advance(20)
        assert desk.dues() == [at("12:01:40")]


@pytest.mark.spec(
    "SCHEDULER-1/3.5.b",
    "SCHEDULER-1/3.5.c",
    "SCHEDULER-1/4.2.a",
    "SCHEDULER-1/4.2.b",
    "SCHEDULER-1/4.2.c",
    "SCHEDULER-1/4.2.d",
    "SCHEDULER-1/4.1.c",
)
async def test_a_fire_carries_the_context_of_the_request_also_after_a_restart(bus_type: type[LocalBus]) -> None:
    session = Session("kitchen").replace(lang="de-DE")
    context = {"skill_id": SKILL, "source": "sat-7", "destination": "hub", "colour": {"deep": [1, {"x": None}]}}
    async with Desk(bus_type) as desk:
        await desk.schedule(context, session, every={"seconds": 60}, count=3, data={"name": "egg"})
        stored = (await desk.get())["record"]
        marked = {key: value for key, value in stored["context"].items() if key != "hark_ask"}
        assert marked == {**context, "colour": {"deep": (1, {"x": None})}, "session": session.wire()}
        await desk.restart(30)
        await desk.clock.advance(31)
        (fire,) = desk.fires()
        assert fire.data == {"name": "egg"}
        assert fire.session == session
        kept = {key: value for key, value in fire.context.items() if key not in ("scheduler", "hark_ask")}
        assert kept == {key: value for key, value in marked.items() if key != "session"}
        said = about(fire)
        assert re.fullmatch(r"2026-01-01T12:01:00(\.\d+)?\+00:00", said.pop("fired"))
        assert said == {"id": "egg", "skill_id": SKILL, "due": at("12:01"), "remaining": 2}
        found = await desk.get()
        assert found["record"] == stored
        assert found["state"] == {"next": at("12:02"), "last_fired": at("12:01"), "missed": (), "remaining": 2}


@pytest.mark.spec("SCHEDULER-1/4.a")
async def test_each_request_is_answered_once(bus_type: type[LocalBus]) -> None:
    async with Desk(bus_type) as desk:
        for data in ({}, {"id": 5}, {"id": "x", "event": f"{SKILL}.x", **EVERY_TEN}, {"at": [], "every": "", "id": {}}):
            for topic in (topics.SCHEDULER_SCHEDULE, topics.SCHEDULER_CANCEL, topics.SCHEDULER_GET):
                before = len(desk.of(f"{topic}.response"))
                request = Message(topic, data, {"skill_id": SKILL, "source": "a", "destination": "b"})
                gathering = gather(desk.bus, desk.clock, request, 1.0)
                task = asyncio.ensure_future(gathering)
                await desk.clock.advance(2)
                (answer,) = await task
                assert len(desk.of(f"{topic}.response")) == before + 1
                assert (answer.context["source"], answer.context["destination"]) == ("b", "a")
                assert answer.data["ok"] or answer.data["error"] in CODES


@pytest.mark.spec("SCHEDULER-1/4.d")
async def test_a_store_that_fails_changes_nothing() -> None:
    async with Desk() as desk:
        await desk.schedule(at=at("13:00"))
        desk.store.fails = True
        assert (await desk.schedule(at=at("14:00")))["error"] == "internal"
        assert (await desk.schedule(id="two", at=at("14:00")))["error"] == "internal"
        assert (await desk.cancel())["error"] == "internal"
        desk.store.fails = False
        (found,) = await desk.list()
        assert found["state"]["next"] == at("13:00")


@pytest.mark.spec("SCHEDULER-1/4.1.a", "SCHEDULER-1/5.1.a")
async def test_what_is_accepted_is_kept_before_it_is_answered(bus_type: type[LocalBus]) -> None:
    async with Desk(bus_type) as desk:
        answer = await desk.schedule(at=at("13:00"))
        assert answer == {"ok": True, "id": "egg", "skill_id": SKILL, "next": at("13:00"), "replaced": False}
        assert await desk.cancel() == {"ok": True, "existed": True}
        said = [event for event in desk.events if event[0] != "emit" or event[1].endswith(".response")]
        assert said == [
            ("put", (SKILL, "egg")),
            ("emit", "ovos.scheduler.schedule.response"),
            ("remove", (SKILL, "egg")),
            ("emit", "ovos.scheduler.cancel.response"),
        ]


@pytest.mark.spec("SCHEDULER-1/4.1.b")
async def test_what_is_not_there_can_be_cancelled_and_asked_for() -> None:
    async with Desk() as desk:
        assert await desk.cancel("nothing") == {"ok": True, "existed": False}
        assert await desk.get("nothing") == {"ok": True, "record": None, "state": None}


@pytest.mark.spec("SCHEDULER-1/4.2.e")
async def test_an_event_is_fired_when_it_is_due() -> None:
    async with Desk() as desk:
        await desk.schedule(at=at("13:00:30"))
        await desk.clock.advance(3_629.9)
        assert desk.fires() == []
        await desk.clock.advance(0.1)
        assert about(desk.fires()[0])["fired"] == at("13:00:30")


@pytest.mark.spec("SCHEDULER-1/4.2.f", "SCHEDULER-1/4.3.d", "SCHEDULER-1/4.3.f")
async def test_what_is_skipped_is_reported_and_not_fired() -> None:
    async with Desk() as desk:
        await desk.schedule(**EVERY_TEN, misfire="skip", grace_s=2)
        await desk.clock.advance(5)
        desk.clock.pass_by(28)  # while it runs
        await desk.clock.advance(0)
        assert desk.dues() == []
        (missed,) = desk.missed
        assert missed.data == {
            "id": "egg",
            "skill_id": SKILL,
            "missed": (at("12:00:10"), at("12:00:20"), at("12:00:30")),
            "fired_late": None,
            "next": at("12:00:40"),
        }
        assert (await desk.get())["state"]["missed"] == missed.data["missed"]
        await desk.clock.advance(10)
        assert desk.dues() == [at("12:00:40")]
        assert (await desk.get())["state"]["missed"] == ()


@pytest.mark.spec("SCHEDULER-1/4.3.a")
@pytest.mark.parametrize(("away", "reports"), [(119, 0), (121, 1)])
async def test_grace_counts_from_the_due_instant(away: float, reports: int) -> None:
    async with Desk() as desk:
        await desk.schedule(at=at("12:01"))
        await desk.restart(away)
        assert len(desk.fires()) == 1
        assert len(desk.missed) == reports


@pytest.mark.spec("SCHEDULER-1/4.3.b", "SCHEDULER-1/4.3.h", "SCHEDULER-1/4.3.i")
@pytest.mark.parametrize(("policy", "fires"), [("late", 1), ("skip", 0)])
async def test_a_missed_single_event_fires_once_or_never(policy: str, fires: int) -> None:
    async with Desk() as desk:
        await desk.schedule(at=at("12:01"), misfire=policy)
        await desk.restart(600)
        await desk.restart(600)
        assert len(desk.fires()) == fires
        (missed,) = desk.missed
        assert missed.data["next"] is None
        assert missed.data["fired_late"] == (at("12:01") if fires else None)
        assert (await desk.get())["record"] is None
        assert await desk.list() == []


@pytest.mark.spec("SCHEDULER-1/4.3.c", "SCHEDULER-1/4.3.g", "SCHEDULER-1/5.4.a", "SCHEDULER-1/5.4.b")
async def test_of_several_missed_the_last_one_fires_after_the_report(bus_type: type[LocalBus]) -> None:
    async with Desk(bus_type) as desk:
        await desk.schedule(every={"seconds": 100})
        await desk.schedule(id="later", at=at("18:00"))
        desk.messages.clear()
        await desk.restart(565)
        types = [message.type for message in desk.messages]
        assert types == [topics.SCHEDULER_READY, topics.SCHEDULER_MISSED, f"{SKILL}.ring"]
        ready, missed, fire = desk.messages
        assert ready.data == {"schedules": 2, "missed": 1, "clock": "synchronized"}
        assert about(fire)["due"] == missed.data["fired_late"] == missed.data["missed"][-1] == at("12:08:20")
        assert len(missed.data["missed"]) == 5
        assert missed.data["next"] == at("12:10")
        await desk.clock.advance(35)
        assert desk.dues()[1:] == [at("12:10")]


async def test_a_report_lists_the_last_thousand() -> None:
    async with Desk() as desk:
        await desk.schedule(every={"seconds": 1})
        await desk.restart(100_000)
        (missed,) = desk.missed
        assert len(missed.data["missed"]) == 1_000
        assert missed.data["truncated"] is True


@pytest.mark.spec("SCHEDULER-1/4.4.a", "SCHEDULER-1/6.3.a", "SCHEDULER-1/6.3.b")
async def test_an_event_is_fired_whether_or_not_its_owner_and_its_session_are_there() -> None:
    async with Desk() as desk:
        await desk.schedule(session=Session("long-gone"), every={"seconds": 100})
        for _ in range(3):
            await desk.restart(100)
        assert len(desk.fires()) == 3
        assert {fire.session_id for fire in desk.fires()} == {"long-gone"}
        assert (await desk.get())["state"]["last_fired"] == at("12:05")


@pytest.mark.spec("SCHEDULER-1/5.1.b")
async def test_a_fire_is_recorded_before_anything_else_is_emitted() -> None:
    async with Desk() as desk:
        for name in ("a", "b", "c"):
            await desk.schedule(id=name, event=f"{SKILL}.{name}", every={"seconds": 30})
        desk.events.clear()
        await desk.clock.advance(30)
        assert desk.events == [
            *(("emit", f"{SKILL}.a"), ("put", (SKILL, "a"))),
            *(("emit", f"{SKILL}.b"), ("put", (SKILL, "b"))),
            *(("emit", f"{SKILL}.c"), ("put", (SKILL, "c"))),
        ]


@pytest.mark.spec("SCHEDULER-1/5.1.c", "SCHEDULER-1/7.1.a", "SCHEDULER-1/7.1.b")
async def test_a_clock_that_is_set_back_fires_nothing_again() -> None:
    async with Desk() as desk:
        await desk.schedule(every={"seconds": 3_600})
        await desk.schedule(id="late", event=f"{SKILL}.late", at=at("20:00"))
        await desk.clock.advance(2 * 3_600)
        await desk.step(-2 * 3_600)
        await desk.clock.advance(2 * 3_600)
        assert desk.dues() == [at("13:00"), at("14:00")]
        await desk.clock.advance(3_600)
        assert desk.dues() == [at("13:00"), at("14:00"), at("15:00")]
        await desk.step(2 * 3_600)  # over 16:00 and 17:00
        assert desk.dues()[3:] == [at("16:00"), at("17:00")]  # one late, one on time
        assert desk.missed[0].data["missed"] == (at("16:00"),)
        assert desk.fires(f"{SKILL}.late") == []


async def test_a_clock_that_is_set_is_noticed_without_being_told() -> None:
    async with Desk(options=ScheduleOptions()) as desk:
        await desk.schedule(at=at("18:00"))
        desk.clock.set_by += 6 * 3_600
        await desk.clock.advance(30)
        assert len(desk.fires()) == 1


@pytest.mark.spec("SCHEDULER-1/5.1.d")
async def test_a_crash_leaves_the_old_or_the_new_state(tmp_path: Path) -> None:
    """Whatever was written of the last line."""
    path = tmp_path / "schedules.jsonl"
    store = FileStore(path)
    async with Desk(store=store) as desk:
        await desk_quiet(desk.schedule(every={"seconds": 10}, data={"n": 1}), store)
        before = path.read_bytes()
        await desk_quiet(desk.schedule(every={"seconds": 10}, data={"n": 2}), store)
        after = path.read_bytes()
    for size in range(len(before), len(after) + 1, 7):
        path.write_bytes(after[:size])
        again = FileStore(path)
        (entry,) = (await again.load()).entries
        assert entry.record is not None
        assert entry.record["data"]["n"] == (2 if size == len(after) else 1)
        await again.put(entry)  # what was left of a line is not in the way
        await again.close()
        assert len((await FileStore(path).load()).entries) == 1


async def desk_quiet(answering: Any, store: FileStore) -> Any:
    """The answer of a scheduler whose store writes on a thread."""
    task = asyncio.ensure_future(answering)
    while not task.done():
        await store.quiet()
        await settle()
    return await task


@pytest.mark.spec("SCHEDULER-1/5.1.f")
def test_the_store_is_in_the_state_directory(tmp_path: Path) -> None:
    state = State(tmp_path / "state", SystemClock(), traces=False)
    try:
        assert state.storage.schedules == tmp_path / "state" / "schedules.jsonl"
    finally:
        state.close()


@pytest.mark.spec("SCHEDULER-1/5.1.g", "SCHEDULER-1/7.2.a")
async def test_the_store_has_the_record_as_it_was_sent_and_the_time_of_the_write() -> None:
    record = {"id": "egg", "event": f"{SKILL}.ring", "every": {"seconds": 10}, "count": 3, "data": {"a": [1, "ü"]}}
    async with Desk() as desk:
        await desk.send(topics.SCHEDULER_SCHEDULE, record)
        await desk.clock.advance(11)
        stored = await desk.store.load()
        (entry,) = stored.entries
        assert {name: entry.record[name] for name in record} == record
        assert entry.record["context"]["skill_id"] == SKILL
        assert stored.written == entry.wall == NOON.timestamp() + 10


@pytest.mark.spec("SCHEDULER-1/5.3.a")
async def test_an_ephemeral_schedule_is_never_written() -> None:
    async with Desk() as desk:
        await desk.schedule(every={"seconds": 10}, ephemeral=True)
        await desk.clock.advance(10)
        assert len(desk.fires()) == 1
        assert not [event for event in desk.events if event[0] != "emit"]
        await desk.restart(100)
        assert await desk.list() == []
        assert len(desk.fires()) == 1
        await desk.schedule(at=at("13:00"))
        await desk.schedule(at=at("13:00"), ephemeral=True)
        assert (await desk.store.load()).entries == []


@pytest.mark.spec("SCHEDULER-1/5.4.c")
async def test_what_is_replayed_can_wait_for_a_message_or_a_while() -> None:
    for options in (ScheduleOptions(wait_for="house.awake"), ScheduleOptions(delay=30)):
        async with Desk(options=options) as desk:
            desk.bus.emit(Message("house.awake"))
            await desk.clock.advance(30)
            await desk.schedule(at=at("12:01"))
            await desk.restart(600)
            assert desk.fires() == []
            await desk.schedule(id="soon", event=f"{SKILL}.soon", **{"in": {"seconds": 1}})
            await desk.clock.advance(1)
            assert len(desk.fires(f"{SKILL}.soon")) == 1  # what was asked for meanwhile does not wait
            desk.bus.emit(Message("house.awake"))
            await desk.clock.advance(30)
            assert len(desk.fires()) == 1


@pytest.mark.spec("SCHEDULER-1/5.4.d")
async def test_owners_need_not_ask_again_after_a_restart() -> None:
    async with Desk() as desk:
        await desk.schedule(every={"seconds": 10}, data={"x": 1})
        await desk.restart()
        await desk.clock.advance(10)
        assert len(desk.fires()) == 1


@pytest.mark.spec("SCHEDULER-1/6.2.b", "SCHEDULER-1/6.2.c")
async def test_an_identity_that_is_known_is_held_to_and_a_grant_opens_all() -> None:
    options = ScheduleOptions(grants=("admin",))

    def identity(message: Message) -> str | None:
        known = message.context.get("source")
        return known if isinstance(known, str) else None

    async with Desk(options=options, identity=identity) as desk:
        mine = {"skill_id": SKILL, "source": SKILL}
        assert (await desk.schedule(mine, at=at("13:00")))["ok"]
        forged = {"skill_id": SKILL, "source": "toast.skill"}
        assert (await desk.schedule(forged, at=at("14:00")))["error"] == "skill_id_mismatch"
        for ask in (desk.get(context=forged), desk.cancel(context=forged)):
            assert (await ask)["error"] == "skill_id_mismatch"
        assert (await desk.send(topics.SCHEDULER_LIST, {}, {"skill_id": "*"}))["error"] == "skill_id_mismatch"
        admin = {"skill_id": "*", "source": "admin"}
        (found,) = await desk.list(admin)
        assert found["record"]["context"]["skill_id"] == SKILL
        assert (await desk.schedule({"skill_id": SKILL, "source": "admin"}, at=at("14:00")))["ok"] is False
        assert (await desk.cancel(context={"skill_id": SKILL, "source": "admin"}))["existed"]


@pytest.mark.spec(
    "SCHEDULER-1/7.2.b", "SCHEDULER-1/7.2.c", "SCHEDULER-1/7.2.d", "SCHEDULER-1/7.2.e", "SCHEDULER-1/5.4.b"
)
async def test_nothing_is_judged_by_a_clock_that_is_not_set() -> None:
    async with Desk() as desk:
        assert desk.of(topics.SCHEDULER_READY)[0].data["clock"] == "synchronized"  # nothing is known yet
        await desk.schedule(every={"seconds": 60})
        desk.clock.set_by -= 20 * 365 * 86_400
        await desk.restart()
        assert desk.of(topics.SCHEDULER_READY)[1].data == {"schedules": 1, "missed": 0, "clock": "unsynchronized"}
        assert (await desk.schedule(id="new", event=f"{SKILL}.new", at=at("12:03")))["ok"]
        assert (await desk.schedule(id="soon", event=f"{SKILL}.soon", **{"in": {"seconds": 9}}))["ok"]
        await desk.clock.advance(100)
        assert desk.fires() == []
        assert len(desk.fires(f"{SKILL}.soon")) == 1  # a delay needs no wall clock
        desk.clock.set_by += 20 * 365 * 86_400
        await desk.clock.advance(2)
        assert desk.of(topics.SCHEDULER_READY)[2].data["clock"] == "synchronized"
        assert desk.dues() == [at("12:01")]
        await desk.clock.advance(100)
        assert len(desk.fires(f"{SKILL}.new")) == 1


async def test_a_signal_says_that_the_clock_is_set() -> None:
    async with Desk() as desk:
        await desk.schedule(every={"seconds": 60})
        desk.clock.set_by -= 3_600
        await desk.restart()
        desk.bus.emit(Message(topics.CLOCK_SYNCED))
        await settle()
        assert desk.of(topics.SCHEDULER_READY)[-1].data["clock"] == "synchronized"


@pytest.mark.spec("SCHEDULER-1/7.3.a")
async def test_the_zone_of_the_device_is_of_no_account(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Desk() as desk:
        before = await desk.schedule(**DAILY)
        monkeypatch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        try:
            await desk.restart()
            assert (await desk.get())["state"]["next"] == before["next"]
        finally:
            monkeypatch.undo()
            time.tzset()
