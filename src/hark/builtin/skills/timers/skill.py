"""The skill of timers, alarms and reminders: what can be said, and what rings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import wraps
from typing import Any, Final

from hark.builtin.skills.timers import alarms, reminders, timers
from hark.builtin.skills.timers.choice import (
    cancel_by_place,
    cancel_chosen,
    cancel_just_set,
    choose,
    report_all,
    report_none,
)
from hark.builtin.skills.timers.items import JUST_SET, RING, ScheduledItems
from hark.builtin.skills.timers.phrases import ItemKind, said_length
from hark.builtin.skills.timers.rings import AGAIN, Rings
from hark.plugins import ScheduledTurn, ScheduleError, Session, Turn
from hark.skills import Skill, intent, scheduled

_SNOOZE: Final = timedelta(minutes=9)


def _reported(method: Callable[[Any, Turn], Awaitable[None]]) -> Callable[[Any, Turn], Awaitable[None]]:
    """Let the user know when the scheduler is not there."""

    @wraps(method)
    async def call(self: Any, turn: Turn) -> None:
        try:
            await method(self, turn)
        except ScheduleError as error:
            self.host.log.error("%s", error)
            turn.say("failed")

    return call


class TimersSkill(Skill):
    """Keeps timers, alarms and reminders with the scheduler, so that they survive a restart. Each belongs to the
    session in which it was asked for, and rings there.
    """

    id = "timers.skill"
    reads_late = True

    async def start(self) -> None:
        self._items = ScheduledItems(self.schedules, self.host.clock, self.locale, self.id)
        self._ringing = Rings(self.schedules, self.host.clock)

    # Timers.

    @intent(file="set_timer")
    @_reported
    async def set_timer(self, turn: Turn) -> None:
        """Start a timer, or ask for how long."""
        await timers.start(self._items, turn)

    @intent(file="another", requires=(JUST_SET,))
    @_reported
    async def another(self, turn: Turn) -> None:
        """One more timer."""
        await timers.start(self._items, turn)

    @intent(file="more_time", requires=(JUST_SET,))
    @_reported
    async def more_time(self, turn: Turn) -> None:
        """Let the timer run longer that was set just now."""
        timer = await self._items.just_set(turn, "timer")
        if timer is None:
            await report_none(self._items, turn, "timer")
        else:
            await timers.lengthen(self._items, turn, timer)

    @intent(file="change", requires=(JUST_SET,))
    @_reported
    async def change(self, turn: Turn) -> None:
        """Another length or time for what was set just now."""
        one = await self._items.just_set(turn)
        if one is None:
            turn.say("kept")
        elif one.data["kind"] == "timer":
            await timers.change_length(self._items, turn, one, turn.utterance)
        else:
            await alarms.move(self._items, turn, one, turn.slots.get("when", ""))

    @intent(file="change_timer")
    @_reported
    async def change_timer(self, turn: Turn) -> None:
        """Another length for a timer."""
        timer = await choose(self._items, turn, "timer")
        if timer is not None:
            await timers.change_length(self._items, turn, timer, turn.slots.get("duration", ""))

    @intent(file="restart")
    @_reported
    async def restart(self, turn: Turn) -> None:
        """Let a timer run from its beginning."""
        await timers.restart(self._items, turn)

    @intent(file="cancel_it", requires=(JUST_SET,))
    @_reported
    async def cancel_it(self, turn: Turn) -> None:
        """Cancel what was set just now, or all of its kind: "cancel both"."""
        await cancel_just_set(self._items, turn)

    @intent(file="cancel_which", requires=(JUST_SET,))
    @_reported
    async def cancel_which(self, turn: Turn) -> None:
        """Cancel the first, second, third or last of those that the conversation is about, as they were set."""
        await cancel_by_place(self._items, turn)

    @intent(file="time_left")
    @_reported
    async def time_left(self, turn: Turn) -> None:
        """How long timers still run."""
        await timers.report_left(self._items, turn)

    @intent(file="when_it", requires=(JUST_SET,))
    @_reported
    async def when_it(self, turn: Turn) -> None:
        """When it rings what was set just now."""
        one = await self._items.just_set(turn)
        if one is None:
            turn.say("kept")
        else:
            report_all(self._items, turn, [one])

    @intent(file="done", requires=(JUST_SET,))
    async def done(self, turn: Turn) -> None:
        """How long something takes for which a timer was set."""
        await self.time_left(turn)

    @intent(file="list_timers")
    @_reported
    async def list_timers(self, turn: Turn) -> None:
        """All timers of this device."""
        await self._report(turn, "timer")

    @intent(file="add_time")
    @_reported
    async def add_time(self, turn: Turn) -> None:
        """Let a timer run longer."""
        timer = await choose(self._items, turn, "timer")
        if timer is not None:
            await timers.lengthen(self._items, turn, timer)

    @intent(file="less_time", requires=(JUST_SET,))
    @_reported
    async def less_time(self, turn: Turn) -> None:
        """Let the timer end sooner that was set just now."""
        timer = await self._items.just_set(turn, "timer")
        if timer is None:
            await report_none(self._items, turn, "timer")
        else:
            await timers.shorten(self._items, turn, timer)

    @intent(file="shorten")
    @_reported
    async def shorten(self, turn: Turn) -> None:
        """Let a timer end sooner."""
        timer = await choose(self._items, turn, "timer")
        if timer is not None:
            await timers.shorten(self._items, turn, timer)

    @intent(file="pause")
    @_reported
    async def pause(self, turn: Turn) -> None:
        """Stop the time of a timer."""
        await timers.pause(self._items, turn)

    @intent(file="resume")
    @_reported
    async def resume(self, turn: Turn) -> None:
        """Let the time of a timer go on."""
        await timers.resume(self._items, turn)

    @intent(file="pause_it", requires=(JUST_SET,))
    async def pause_it(self, turn: Turn) -> None:
        """Stop the time of the timer that was set just now."""
        await self.pause(turn)

    @intent(file="resume_it", requires=(JUST_SET,))
    async def resume_it(self, turn: Turn) -> None:
        """Let the time of that timer go on."""
        await self.resume(turn)

    @intent(file="rename")
    @_reported
    async def rename(self, turn: Turn) -> None:
        """Give a timer a name, or another one."""
        timer = None if "name" in turn.slots else await self._items.just_set(turn, "timer")
        timer = timer or await choose(self._items, turn, "timer")
        if timer is not None:
            await timers.rename(self._items, turn, timer)

    @intent(file="rename_it", requires=(JUST_SET,))
    @_reported
    async def rename_it(self, turn: Turn) -> None:
        """Give the timer a name that was set just now."""
        timer = await self._items.just_set(turn, "timer")
        if timer is None:
            turn.say("kept")
        else:
            await timers.rename(self._items, turn, timer)

    @intent(file="cancel_timer")
    @_reported
    async def cancel_timer(self, turn: Turn) -> None:
        """Cancel one timer, or all."""
        await self._cancel(turn, "timer")

    # Alarms.

    @intent(file="set_alarm")
    @_reported
    async def set_alarm(self, turn: Turn) -> None:
        """Set an alarm, once or on days of the week, or ask when."""
        await alarms.set_alarm(self._items, turn)

    @intent(file="change_alarm")
    @_reported
    async def change_alarm(self, turn: Turn) -> None:
        """Another time for an alarm."""
        await self._move(turn, "alarm")

    @intent(file="list_alarms")
    @_reported
    async def list_alarms(self, turn: Turn) -> None:
        """All alarms of this device."""
        await self._report(turn, "alarm")

    @intent(file="skip_alarm")
    @_reported
    async def skip_alarm(self, turn: Turn) -> None:
        """Leave out the alarms of a day, or the next one: those that repeat ring again after it."""
        await alarms.skip(self._items, turn)

    @intent(file="cancel_alarm")
    @_reported
    async def cancel_alarm(self, turn: Turn) -> None:
        """Cancel one alarm, or all."""
        await self._cancel(turn, "alarm")

    # Reminders.

    @intent(file="set_reminder")
    @_reported
    async def set_reminder(self, turn: Turn) -> None:
        """Remind the user of something at some time; ask for what is missing."""
        await reminders.set_reminder(self._items, turn)

    @intent(file="change_reminder")
    @_reported
    async def change_reminder(self, turn: Turn) -> None:
        """Another time for a reminder."""
        await self._move(turn, "reminder")

    @intent(file="list_reminders")
    @_reported
    async def list_reminders(self, turn: Turn) -> None:
        """All reminders of this device."""
        await self._report(turn, "reminder")

    @intent(file="cancel_reminder")
    @_reported
    async def cancel_reminder(self, turn: Turn) -> None:
        """Cancel one reminder, or all."""
        await self._cancel(turn, "reminder")

    # Ringing.

    @intent(file="snooze")
    @_reported
    async def snooze(self, turn: Turn) -> None:
        """Let what rings ring again later."""
        ringing = await self._ringing.silence(turn.session.session_id)
        if not ringing:
            timer = await self._items.just_set(turn, "timer")
            if timer is None:
                turn.say("nothing_rings")
            else:  # "five more minutes"
                await timers.lengthen(self._items, turn, timer)
            return
        length = (await self._items.reader(turn).duration(turn.utterance))[0] or _SNOOZE
        for item_id, data in ringing.items():
            await self.schedules.add(RING, id=f"{item_id}.snoozed", after=length, data=data, turn=turn)
        turn.say("snoozed", duration=said_length(turn, length.total_seconds()))

    @scheduled(RING)
    async def ring(self, turn: ScheduledTurn) -> None:
        """Something is due."""
        await self._ringing.begin(turn)

    @scheduled(AGAIN)
    async def again(self, turn: ScheduledTurn) -> None:
        """It was due, and the user has not stopped it."""
        await self._ringing.repeat(turn)

    def can_stop(self, session: Session) -> bool:
        """Whether something rings there."""
        return self._ringing.is_heard(session.session_id)

    async def stopped(self, turn: Turn) -> None:
        """What rings is over; alarms that repeat ring again another day."""
        await self._ringing.silence(turn.session.session_id)

    async def _report(self, turn: Turn, kind: ItemKind) -> None:
        report_all(self._items, turn, await self._items.of(turn, kind), f"no_{kind}")

    async def _move(self, turn: Turn, kind: ItemKind) -> None:
        one = await choose(self._items, turn, kind)
        if one is not None:
            await alarms.move(self._items, turn, one, turn.slots.get("when", ""))

    async def _cancel(self, turn: Turn, kind: ItemKind) -> None:
        """What rings is silenced; else something is cancelled."""
        if await self._ringing.silence(turn.session.session_id, kind):
            turn.say("silenced")
        else:
            await cancel_chosen(self._items, turn, kind)
