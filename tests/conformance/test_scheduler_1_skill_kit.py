"""OVOS-SCHEDULER-1: what is asked of owners and of the library they use."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest

from flow.stage import MakeAssistant
from hark.builtin.skills.timers import TimersSkill
from hark.builtin.stop import Stop
from hark.model import Message
from hark.plugins import ScheduledTurn, ScheduleError, Turn
from hark.skills import Skill, intent, scheduled
from hark.spec import topics
from hark.testing import Assistant, FakeClock, settle

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Eggs(Skill):
    """Boils eggs."""

    id = "eggs.skill"

    def __init__(self) -> None:
        self.rung: list[tuple[str, datetime, dict[str, Any]]] = []

    @scheduled()
    async def ring(self, turn: ScheduledTurn) -> str:
        self.rung.append((turn.id, turn.due, dict(turn.data)))
        return f"{turn.data.get('name', 'egg')} is done"

    @intent("boil {name} for {seconds} seconds")
    async def boil(self, turn: Turn) -> None:
        name = turn.slots["name"]
        await self.schedules.add("ring", id=name, after=float(turn.slots["seconds"]), data={"name": name}, turn=turn)
        await turn.speak(f"boiling {name}")

    @intent("do it now")
    async def now(self, turn: Turn) -> None:
        await self.schedules.add("ring", at=NOON - timedelta(seconds=1), turn=turn)


@pytest.mark.spec("SCHEDULER-1/8.c", "SCHEDULER-1/8.e", "SCHEDULER-1/9.B.c")
async def test_a_call_is_made_where_it_was_asked_for(assistant: MakeAssistant) -> None:
    async with assistant(Eggs()) as hark:
        assert await hark.hears("boil the egg for 30 seconds", session="kitchen") == ["boiling the egg"]
        (request,) = hark.of(topics.SCHEDULER_SCHEDULE)
        assert set(request.data) == {"id", "event", "in", "data"}
        assert request.session_id == "kitchen"
        assert "utterance_id" not in request.context
        hark.rendered.clear()
        await hark.clock.advance(30)
        (spoken,) = hark.rendered
        assert spoken.text == "the egg is done"
        assert spoken.message.session_id == "kitchen"
        assert spoken.message.utterance_id is None
        await hark.hears("do it now")
        await settle()
        assert [spoken.text for spoken in hark.rendered[1:]] == ["egg is done"]  # due at once, and not lost


@pytest.mark.spec("SCHEDULER-1/8.a", "SCHEDULER-1/8.b")
async def test_what_is_refused_is_raised(assistant: MakeAssistant) -> None:
    eggs = Eggs()
    async with assistant(eggs):
        with pytest.raises(ValueError, match="time zone"):
            await eggs.schedules.add("ring", at=datetime(2026, 1, 1, 13))
        with pytest.raises(ValueError, match="zone="):
            await eggs.schedules.add("ring", daily=time(7))
        with pytest.raises(ValueError, match="@scheduled"):
            await eggs.schedules.add("boil", after=5)
        with pytest.raises(ScheduleError) as refused:
            await eggs.schedules.add("ring", after=5, every=10)
        assert refused.value.code == "invalid_record"
        assert await eggs.schedules.all() == []


@pytest.mark.one_process
async def test_without_a_scheduler_a_skill_is_not_left_waiting() -> None:
    eggs = Eggs()
    async with Assistant(eggs) as hark:
        await hark.runtime.scheduler.close()
        adding = asyncio.ensure_future(eggs.schedules.add("ring", after=5))
        await hark.clock.advance(10)
        with pytest.raises(ScheduleError, match="no scheduler answered"):
            await adding


@pytest.mark.spec("SCHEDULER-1/8.d", "SCHEDULER-1/8.f", "SCHEDULER-1/8.g")
async def test_schedules_are_listed_replaced_and_cancelled_by_id(assistant: MakeAssistant) -> None:
    eggs = Eggs()
    async with assistant(eggs) as hark:
        zone = "Europe/Lisbon"
        assert await eggs.schedules.add("ring", id="daily", daily=time(7), days=("mon",), zone=zone) == datetime(
            2026, 1, 5, 7, tzinfo=UTC
        )
        assert await eggs.schedules.add("ring", after=60) == NOON + timedelta(seconds=60)
        assert await eggs.schedules.add("ring", after=90, data={"name": "another"}) == NOON + timedelta(seconds=90)
        first, second = await eggs.schedules.all()
        assert (first.id, first.name, first.next, first.repeats) == (
            "ring",
            "ring",
            NOON + timedelta(seconds=90),
            False,
        )
        assert (second.id, second.repeats, second.remaining) == ("daily", True, None)
        await hark.clock.advance(100)
        assert [name for name, _, _ in eggs.rung] == ["ring"]
        assert await eggs.schedules.cancel("daily")
        assert not await eggs.schedules.cancel("daily")
        assert await eggs.schedules.get("daily") is None
        await hark.clock.advance(7 * 86_400)
        assert len(eggs.rung) == 1


@pytest.mark.spec("SCHEDULER-1/5.1.e")
async def test_an_occurrence_that_is_fired_twice_is_called_once(assistant: MakeAssistant) -> None:
    eggs = Eggs()
    async with assistant(eggs) as hark:
        await hark.hears("boil it for 5 seconds")
        await hark.clock.advance(5)
        (fire,) = hark.of("eggs.skill.ring")
        hark.bus.emit(fire)
        hark.bus.emit(Message("eggs.skill.ring", {}, {"skill_id": "eggs.skill"}))  # not from the scheduler
        await settle()
        assert len(eggs.rung) == 1


@pytest.mark.one_process
@pytest.mark.spec("SCHEDULER-1/5.4.e", "SCHEDULER-1/9.B.a")
async def test_an_owner_that_starts_again_finds_its_schedules(tmp_path: Path) -> None:
    async with Assistant(Eggs(), data_root=tmp_path) as hark:
        await hark.hears("boil it for 500 seconds", session="kitchen")
    eggs = Eggs()
    async with Assistant(eggs, data_root=tmp_path, clock=FakeClock(NOON.timestamp() + 100)) as hark:
        (found,) = await eggs.schedules.all()
        assert (found.id, found.session_id) == ("it", "kitchen")
        await eggs.schedules.add("ring", id="it", after=10, context=found.context)
        assert len(await eggs.schedules.all()) == 1
        await hark.clock.advance(10)
        assert [spoken.message.session_id for spoken in hark.rendered] == ["kitchen"]


@pytest.mark.one_process
@pytest.mark.spec("SCHEDULER-1/9.B.b")
async def test_a_user_hears_what_was_missed_while_the_assistant_was_off(tmp_path: Path) -> None:
    home = {"home": {"time_zone": "UTC"}}
    async with Assistant(TimersSkill(), data_root=tmp_path, settings=home) as hark:
        assert await hark.hears("wake me up at two pm") == ["The alarm will ring today at 2:00 PM."]
        await hark.hears("remind me to stretch every day at 3 pm")
    clock = FakeClock(NOON.timestamp() + 4 * 3_600)
    async with Assistant(TimersSkill(), data_root=tmp_path, settings=home, clock=clock) as hark:
        await settle()
        assert sorted(spoken.text for spoken in hark.rendered) == [
            "While I was off, I missed the alarm, today at 2:00 PM.",
            "While I was off, I missed the reminder: stretch, today at 3:00 PM.",
        ]
        await hark.clock.advance(3_600)
        assert len(hark.rendered) == 2


@pytest.mark.one_process
async def test_what_is_hardly_late_still_rings(tmp_path: Path) -> None:
    async with Assistant(TimersSkill(), data_root=tmp_path) as hark:
        await hark.hears("set a timer for five minutes")
        await hark.clock.advance(300)  # it rings, and the assistant is killed
    clock = FakeClock(NOON.timestamp() + 420)
    async with Assistant(TimersSkill(), data_root=tmp_path, clock=clock) as hark:
        await settle()
        assert [spoken.text for spoken in hark.rendered] == ["Time is up: the timer for 5 minutes."]
        await hark.hears("stop")
        await hark.clock.advance(3_600)
        assert len(hark.rendered) == 1


async def test_a_scheduled_call_cannot_ask(assistant: MakeAssistant, caplog: pytest.LogCaptureFixture) -> None:
    class Curious(Skill):
        id = "curious.skill"

        @scheduled()
        async def wonder(self, turn: ScheduledTurn) -> None:
            await turn.ask("Why?")

    curious = Curious()
    async with assistant(curious) as hark:
        await curious.schedules.add("wonder", after=5)
        await hark.clock.advance(5)
    assert "a scheduled call cannot ask" in caplog.text
    caplog.clear()


async def test_a_stop_ends_what_rings_though_another_skill_was_used_last(assistant: MakeAssistant) -> None:
    ended: list[str] = []

    class Bell(Skill):
        id = "bell.skill"

        @intent("ring soon")
        async def soon(self, turn: Turn) -> None:
            await self.schedules.add("ring", after=5, turn=turn)

        @scheduled()
        async def ring(self, turn: ScheduledTurn) -> None:
            try:
                await self.host.clock.sleep(3_600)
            finally:
                ended.append(turn.session.session_id)

    async with assistant(Stop(), Bell(), Eggs()) as hark:
        await hark.hears("ring soon", session="kitchen")
        await hark.clock.advance(5)
        await hark.hears("stop", session="kitchen")
        assert ended == ["kitchen"]
        # The stop took the skill off the list of the session's handlers; the next ring is found all the same.
        await hark.hears("ring soon", session="kitchen")
        await hark.hears("boil it for 500 seconds", session="kitchen")
        await hark.clock.advance(5)
        await hark.hears("stop", session="bedroom")
        assert ended == ["kitchen"]
        await hark.hears("stop", session="kitchen")
        assert ended == ["kitchen", "kitchen"]
