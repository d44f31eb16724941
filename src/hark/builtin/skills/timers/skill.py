"""Timers, alarms and reminders: several of each, on the device that asked, until they are stopped."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial, wraps
from typing import Any, Final

from hark.builtin.skills.shopping.skill import as_said
from hark.builtin.skills.timers.chime import chime
from hark.builtin.skills.timers.phrases import (
    ItemKind,
    local_now,
    said_due,
    said_item,
    said_length,
    said_moment,
    said_repeat,
    zone_name,
)
from hark.builtin.skills.timers.reader import TurnReader
from hark.builtin.skills.timers.when import DAYS, When
from hark.plugins import ScheduledCall, ScheduledTurn, ScheduleError, Session, Turn
from hark.skills import Skill, intent, scheduled
from hark.skills.spoken import spoken_list, spoken_time
from hark.spec import topics

_AGAIN: Final = 30.0
"""Seconds from one ring to the next."""
_ROUNDS: Final[Mapping[ItemKind, int]] = {"timer": 20, "alarm": 20, "reminder": 3}
"""How often something rings at most: the user may be away."""
_MOST_AT_ONCE: Final = 5
"""Timers that one sentence sets."""
_LATE: Final = timedelta(minutes=10)
"""What is later than this is reported, and does not ring any more."""
_SNOOZE: Final = timedelta(minutes=9)
_MORNING: Final = 9
"""The hour of a reminder for which only a day was said."""
_PAUSED: Final = datetime(9000, 1, 1, tzinfo=UTC)
"""When a timer that is paused is due."""
_FARTHEST: Final = timedelta(days=3_650)
_ANSWERED: Final = 60.0
"""Seconds after the end of a ring in which it can be snoozed."""
_FOLLOWED: Final = 3
"""Turns for which "make it ten minutes" is about what was set."""
_CORRECTED: Final = "correction.value"
"""The slot of an intent that runs again in place of the one before."""
_PLACES: Final[Mapping[str, int]] = {"first": 0, "second": 1, "third": 2, "last": -1}
"""Vocabularies of ordinals, and which one they mean of those that were set."""
_SET: Final = "set"
"""The name under which a session remembers the id of what was set."""


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
        self._rings: dict[str, dict[str, Mapping[str, Any]]] = {}
        """What rings, or has just rung, by session and id."""
        self._rung: dict[str, float] = {}
        """When it rang last, on the monotonic clock."""

    # Timers.

    @intent(file="set_timer")
    @_reported
    async def set_timer(self, turn: Turn) -> None:
        """Start a timer, or ask for how long."""
        await self._start(turn, await self._corrected(turn, "timer"))

    async def _start(self, turn: Turn, number: str = "") -> None:
        length, rest = await self._reader(turn).duration(turn.utterance)
        if length is None and "duration" in turn.slots:  # "for five"
            length, _ = await self._reader(turn).duration(turn.slots["duration"], bare=True)
        if length is None:
            has_length = partial(self._reader(turn).has_length, bare=True)
            answer = await turn.ask(turn.render("how_long"), retries=1, check=has_length)
            if answer is None:
                turn.say("kept")
                return
            length, _ = await self._reader(turn).duration(answer, bare=True)
        elif self._reader(turn).says("timers") and (second := (await self._reader(turn).duration(rest))[0]) is not None:
            await self._start_several(turn, [length, second], rest)
            return
        if length is None or not timedelta(seconds=1) <= length <= _FARTHEST:
            turn.say("unclear" if length is None else "too_long")
            return
        name = await self._reader(turn).name_of_timer()
        data = {"kind": "timer", "name": name, "seconds": length.total_seconds(), "set": self.host.clock.wall()}
        number = number or _new_id("timer")
        turn.remember(_SET, number, turns=_FOLLOWED)
        await self.schedules.add("ring", id=number, after=length, data=data, turn=turn)
        self._say_set(turn, name, length)

    async def _start_several(self, turn: Turn, lengths: list[timedelta], rest: str) -> None:
        while len(lengths) < _MOST_AT_ONCE:
            _, rest = await self._reader(turn).duration(rest)
            length, _ = await self._reader(turn).duration(rest)
            if length is None:
                break
            lengths.append(length)
        if not all(timedelta(seconds=1) <= length <= _FARTHEST for length in lengths):
            turn.say("too_long")
            return
        for length in lengths:
            data = {"kind": "timer", "name": "", "seconds": length.total_seconds(), "set": self.host.clock.wall()}
            number = _new_id("timer")
            turn.remember(_SET, number, turns=_FOLLOWED)
            await self.schedules.add("ring", id=number, after=length, data=data, turn=turn)
        said = [said_length(turn, length.total_seconds()) for length in lengths]
        turn.say("timers_set", durations=spoken_list(said, turn.lang))

    @intent(file="another", requires=(_SET,))
    @_reported
    async def another(self, turn: Turn) -> None:
        """One more timer."""
        await self._start(turn)

    @intent(file="more_time", requires=(_SET,))
    @_reported
    async def more_time(self, turn: Turn) -> None:
        """Let the timer run longer that was set just now."""
        timer = await self._just_set(turn, "timer")
        if timer is None:
            await self._none(turn, "timer")
        else:
            await self._lengthen(turn, timer)

    @intent(file="change", requires=(_SET,))
    @_reported
    async def change(self, turn: Turn) -> None:
        """Another length or time for what was set just now."""
        one = await self._just_set(turn)
        if one is None:
            turn.say("kept")
        elif one.data["kind"] == "timer":
            await self._change_length(turn, one, turn.utterance)
        else:
            await self._move(turn, one, turn.slots.get("when", ""))

    @intent(file="change_timer")
    @_reported
    async def change_timer(self, turn: Turn) -> None:
        """Another length for a timer."""
        timer = await self._one(turn, "timer")
        if timer is not None:
            await self._change_length(turn, timer, turn.slots.get("duration", ""))

    @intent(file="restart")
    @_reported
    async def restart(self, turn: Turn) -> None:
        """Let a timer run from its beginning."""
        timer = await self._one(turn, "timer")
        if timer is not None:
            await self._run(turn, timer, timedelta(seconds=timer.data["seconds"]))

    async def _change_length(self, turn: Turn, timer: ScheduledCall, said: str) -> None:
        length, _ = await self._reader(turn).duration(said, bare=True)
        if length is None:
            turn.say("unclear")
        else:
            await self._run(turn, timer, length)

    async def _run(self, turn: Turn, timer: ScheduledCall, length: timedelta) -> None:
        """Let a timer run for so long from now on, paused or not."""
        data = {key: value for key, value in timer.data.items() if key != "paused"}
        data["seconds"] = length.total_seconds()
        await self.schedules.add("ring", id=timer.id, after=length, data=data, context=timer.context)
        turn.remember(_SET, timer.id, turns=_FOLLOWED)
        self._say_set(turn, timer.data.get("name", ""), length)

    def _say_set(self, turn: Turn, name: str, length: timedelta) -> None:
        said = said_length(turn, length.total_seconds())
        if name:
            turn.say("timer_set_named", name=_capital(name), duration=said)
        else:
            turn.say("timer_set", duration=said)

    @intent(file="cancel_it", requires=(_SET,))
    @_reported
    async def cancel_it(self, turn: Turn) -> None:
        """Cancel what was set just now, or all of its kind: "cancel both"."""
        one = await self._just_set(turn)
        if one is None:
            turn.say("kept")
            return
        everything = self._reader(turn).says("all")
        await self._cancel_these(turn, await self._items(turn, one.data["kind"]) if everything else [one])
        turn.forget(_SET)

    @intent(file="cancel_which", requires=(_SET,))
    @_reported
    async def cancel_which(self, turn: Turn) -> None:
        """Cancel the first, second, third or last of those that the conversation is about, as they were set."""
        set_last = await self._just_set(turn)
        kind: ItemKind = "timer" if set_last is None else set_last.data["kind"]
        items = sorted(await self._items(turn, kind), key=lambda one: one.data.get("set", 0.0))
        place = next(filter(self._reader(turn).says, _PLACES), "")
        if not items:
            turn.say(f"no_{kind}")
        elif not -1 <= _PLACES.get(place, -1) < len(items):
            turn.say("kept")
        else:
            one = items[_PLACES.get(place, -1)]
            await self.schedules.cancel(one.id)
            turn.say("cancelled", items=said_item(turn, "the", one.data, said_due(turn, one, self._now(turn))))

    @intent(file="time_left")
    @_reported
    async def time_left(self, turn: Turn) -> None:
        """How long timers still run."""
        timers = await self._chosen(turn, "timer")
        if not timers:
            await self._none(turn, "timer")
        elif len(timers) == 1 and timers[0].data.get("paused") is None:
            left = said_length(turn, self._left(timers[0]))
            if timers[0].data.get("name"):
                turn.say("left_on", left=left, item=said_item(turn, "the", timers[0].data, ""))
            else:
                turn.say("left", left=left)
        else:
            self._tell_all(turn, timers)

    @intent(file="done", requires=(_SET,))
    async def done(self, turn: Turn) -> None:
        """How long something takes for which a timer was set."""
        await self.time_left(turn)

    @intent(file="list_timers")
    @_reported
    async def list_timers(self, turn: Turn) -> None:
        """All timers of this device."""
        self._tell_all(turn, await self._items(turn, "timer"), "no_timer")

    @intent(file="add_time")
    @_reported
    async def add_time(self, turn: Turn) -> None:
        """Let a timer run longer."""
        timer = await self._one(turn, "timer")
        if timer is not None:
            await self._lengthen(turn, timer)

    @intent(file="less_time", requires=(_SET,))
    @_reported
    async def less_time(self, turn: Turn) -> None:
        """Let the timer end sooner that was set just now."""
        timer = await self._just_set(turn, "timer")
        if timer is None:
            await self._none(turn, "timer")
        else:
            await self._shorten(turn, timer)

    @intent(file="shorten")
    @_reported
    async def shorten(self, turn: Turn) -> None:
        """Let a timer end sooner."""
        timer = await self._one(turn, "timer")
        if timer is not None:
            await self._shorten(turn, timer)

    async def _shorten(self, turn: Turn, timer: ScheduledCall) -> None:
        less, _ = await self._reader(turn).duration(turn.utterance, bare=True)
        left = None if less is None else timedelta(seconds=self._left(timer)) - less
        if left is None or left < timedelta(seconds=1):
            turn.say("unclear" if left is None else "kept")
            return
        await self._reschedule(timer, left)
        turn.remember(_SET, timer.id, turns=_FOLLOWED)
        turn.say("left", left=said_length(turn, left.total_seconds()))

    async def _lengthen(self, turn: Turn, timer: ScheduledCall) -> None:
        more, _ = await self._reader(turn).duration(turn.utterance, bare=True)
        if more is None:
            turn.say("unclear")
            return
        left = timedelta(seconds=self._left(timer)) + more
        await self._reschedule(timer, left)
        turn.remember(_SET, timer.id, turns=_FOLLOWED)
        turn.say("added", left=said_length(turn, left.total_seconds()))

    @intent(file="pause")
    @_reported
    async def pause(self, turn: Turn) -> None:
        """Stop the time of a timer."""
        running = [one for one in await self._chosen(turn, "timer") if one.data.get("paused") is None]
        if not running:
            if await self._items(turn, "timer"):
                turn.say("all_paused")
            else:
                turn.say("no_timer")
            return
        timer = running[0] if len(running) == 1 else await self._ask_which(turn, running)
        if timer is None:
            return
        left = self._left(timer)
        data = {**timer.data, "paused": left}
        await self.schedules.add("ring", id=timer.id, at=_PAUSED, data=data, context=timer.context)
        turn.remember(_SET, timer.id, turns=_FOLLOWED)
        turn.say("paused", left=said_length(turn, left))

    @intent(file="resume")
    @_reported
    async def resume(self, turn: Turn) -> None:
        """Let the time of a timer go on."""
        paused = [one for one in await self._chosen(turn, "timer") if one.data.get("paused") is not None]
        if not paused:
            turn.say("none_paused")
            return
        timer = paused[0] if len(paused) == 1 else await self._ask_which(turn, paused)
        if timer is not None:
            left = timedelta(seconds=self._left(timer))
            await self._reschedule(timer, left, keep_paused=False)
            turn.say("resumed", left=said_length(turn, left.total_seconds()))

    @intent(file="pause_it", requires=(_SET,))
    async def pause_it(self, turn: Turn) -> None:
        """Stop the time of the timer that was set just now."""
        await self.pause(turn)

    @intent(file="resume_it", requires=(_SET,))
    async def resume_it(self, turn: Turn) -> None:
        """Let the time of that timer go on."""
        await self.resume(turn)

    @intent(file="rename")
    @_reported
    async def rename(self, turn: Turn) -> None:
        """Give a timer a name, or another one."""
        timer = None if "name" in turn.slots else await self._just_set(turn, "timer")
        timer = timer or await self._one(turn, "timer")
        if timer is not None:
            await self._rename(turn, timer)

    @intent(file="rename_it", requires=(_SET,))
    @_reported
    async def rename_it(self, turn: Turn) -> None:
        """Give the timer a name that was set just now."""
        timer = await self._just_set(turn, "timer")
        if timer is None:
            turn.say("kept")
        else:
            await self._rename(turn, timer)

    async def _rename(self, turn: Turn, timer: ScheduledCall) -> None:
        name = self._reader(turn).bare(as_said(turn.slots["label"], turn.utterance), "article")
        data = {**timer.data, "name": name}
        await self._replace(turn, timer, data)
        turn.remember(_SET, timer.id, turns=_FOLLOWED)
        turn.say("renamed", item=said_item(turn, "the", data, ""))

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
        # "An alarm for nine" is the next nine there is; one who wants to be woken at nine is asleep before.
        soonest = "alarm" in turn.utterance.casefold()
        when = await self._reader(turn).when(turn.utterance, bare=True, soonest=soonest)
        if when.at is None and when.daily is None:
            when = await self._ask_when(turn, "what_time", when, bare=True)
        await self._set(turn, "alarm", self._reader(turn).name(), when, await self._corrected(turn, "alarm"))

    @intent(file="change_alarm")
    @_reported
    async def change_alarm(self, turn: Turn) -> None:
        """Another time for an alarm."""
        alarm = await self._one(turn, "alarm")
        if alarm is not None:
            await self._move(turn, alarm, turn.slots.get("when", ""))

    @intent(file="list_alarms")
    @_reported
    async def list_alarms(self, turn: Turn) -> None:
        """All alarms of this device."""
        self._tell_all(turn, await self._items(turn, "alarm"), "no_alarm")

    @intent(file="skip_alarm")
    @_reported
    async def skip_alarm(self, turn: Turn) -> None:
        """Leave out the alarms of a day, or the next one: those that repeat ring again after it."""
        now, alarms = self._now(turn), await self._items(turn, "alarm")
        when = await self._reader(turn).when(turn.slots.get("day", turn.utterance).replace("'s", ""))
        day = when.at.date() if when.at is not None else when.day
        alarms = [one for one in alarms if one.next is not None]
        meant = [one for one in alarms if day is None or _local(one, now).date() == day][: None if day else 1]
        for one in meant:
            due, days = _local(one, now), one.data.get("days")
            if days:
                await self._replace(turn, one, {**one.data, "skipped": due.timestamp()})
                later = (due + timedelta(days=number) for number in range(1, 8))
                after = next(moment for moment in later if DAYS[moment.weekday()] in days)
                turn.say("skipped", when=said_moment(turn, due, now), next=said_moment(turn, after, now))
            else:
                await self.schedules.cancel(one.id)
                turn.say("cancelled", items=said_item(turn, "the", one.data, said_due(turn, one, now)))
        if not meant:
            turn.say("no_such" if alarms else "no_alarm", name=turn.slots.get("day", ""))

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
        reader = self._reader(turn)
        before = await self._just_set(turn, "reminder") if _CORRECTED in turn.slots else None
        when = await reader.when(reader.reminder(), soonest=True, awake=True, bare=before is not None)
        name = reader.bare(as_said(when.rest, turn.utterance), "connector")
        if before is not None and not name:
            await self._move(turn, before, reader.reminder())
            return
        if before is not None and when == When(rest=when.rest):  # "no, I meant call dad"
            await self._replace(turn, before, {**before.data, "name": name})
            turn.say("reminder_set", when=said_due(turn, before, self._now(turn)), name=name)
            return
        if not name:
            answer = await turn.ask(turn.render("what"), retries=1)
            name = reader.bare(answer or "", "connector")
            if not name:
                turn.say("kept")
                return
        if when.at is None and when.daily is None and when.day is None:
            when = await self._ask_when(turn, "when", when, soonest=True, bare=True, awake=True)
        if when.day is not None:
            now = self._now(turn)
            when = When(at=datetime.combine(when.day, datetime.min.time(), now.tzinfo).replace(hour=_MORNING))
        await self._set(turn, "reminder", name, when, "" if before is None else before.id)

    @intent(file="change_reminder")
    @_reported
    async def change_reminder(self, turn: Turn) -> None:
        """Another time for a reminder."""
        reminder = await self._one(turn, "reminder")
        if reminder is not None:
            await self._move(turn, reminder, turn.slots.get("when", ""))

    @intent(file="list_reminders")
    @_reported
    async def list_reminders(self, turn: Turn) -> None:
        """All reminders of this device."""
        self._tell_all(turn, await self._items(turn, "reminder"), "no_reminder")

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
        ringing = await self._silence(turn.session.session_id)
        if not ringing:
            timer = await self._just_set(turn, "timer")
            if timer is None:
                turn.say("nothing_rings")
            else:  # "five more minutes"
                await self._lengthen(turn, timer)
            return
        length = (await self._reader(turn).duration(turn.utterance))[0] or _SNOOZE
        for number, data in ringing.items():
            await self.schedules.add("ring", id=f"{number}.snoozed", after=length, data=data, turn=turn)
        turn.say("snoozed", duration=said_length(turn, length.total_seconds()))

    @scheduled("ring")
    async def ring(self, turn: ScheduledTurn) -> None:
        """Something is due."""
        if turn.data.get("skipped") == turn.due.timestamp():
            return
        data = {**turn.data, "due": turn.due.isoformat()}
        await self._ring(turn, turn.id, data, rounds=_ROUNDS[data["kind"]])

    @scheduled("again")
    async def again(self, turn: ScheduledTurn) -> None:
        """It was due, and the user has not stopped it."""
        number = turn.id.removesuffix(".again")
        if self.host.clock.monotonic() - self._rung.get(number, float("-inf")) > _AGAIN / 2:  # else it is catching up
            await self._ring(turn, number, turn.data)

    def can_stop(self, session: Session) -> bool:
        """Whether something rings there."""
        return bool(self._rings.get(session.session_id))

    async def stopped(self, turn: Turn) -> None:
        """What rings is over; alarms that repeat ring again another day."""
        await self._silence(turn.session.session_id)

    async def _ring(self, turn: ScheduledTurn, number: str, data: Mapping[str, Any], rounds: int = 0) -> None:
        now = local_now(turn, self.host.clock.wall())
        due = datetime.fromisoformat(data["due"])
        if now - due > _LATE:
            if rounds or turn.remaining == 0 or now - turn.due > _LATE:  # not what has been ringing all the time
                await self.schedules.cancel(f"{number}.again")
                self._tell_missed(turn, data, due, now)
            return
        if rounds > 1:
            await self.schedules.add(
                "again", id=f"{number}.again", every=_AGAIN, count=rounds - 1, data=data, late=True, turn=turn
            )
        session_id = turn.session.session_id
        self._rings.setdefault(session_id, {})[number] = data
        self._rung[number] = self.host.clock.monotonic()
        turn.emit(topics.AUDIO_PLAY_SOUND, {"audio": chime(), "mime": "audio/wav"})
        self._tell_ring(turn, data, now)
        is_last = not rounds and turn.remaining == 0
        # While this runs, "stop" finds something to stop.
        await self.host.clock.sleep(_ANSWERED if is_last else _AGAIN - 0.5)
        if is_last:
            self._forget(session_id, number)

    def _tell_ring(self, turn: Turn, data: Mapping[str, Any], now: datetime) -> None:
        if data["kind"] == "alarm":
            turn.say("ring_alarm", time=spoken_time(now, turn.lang, turn.home.clock))
        elif data["kind"] == "timer":
            turn.say("ring_timer", item=said_item(turn, "the", data, ""))
        else:
            turn.say("ring_reminder", name=data["name"])

    def _tell_missed(self, turn: Turn, data: Mapping[str, Any], due: datetime, now: datetime) -> None:
        when = said_moment(turn, due, now)
        if data["kind"] == "alarm":
            turn.say("missed", item=said_item(turn, "the", data, "").strip(), when=when)
        else:
            turn.say("missed", item=said_item(turn, "the", data, when), when=when)

    async def _silence(self, session_id: str) -> dict[str, Mapping[str, Any]]:
        """End what rings in a session, and return it."""
        ringing = self._rings.pop(session_id, {})
        for number in ringing:
            self._rung.pop(number, None)
            await self.schedules.cancel(f"{number}.again")
        return ringing

    def _forget(self, session_id: str, number: str) -> None:
        ringing = self._rings.get(session_id, {})
        ringing.pop(number, None)
        self._rung.pop(number, None)
        if not ringing:
            self._rings.pop(session_id, None)

    # What there is.

    async def _items(self, turn: Turn, kind: ItemKind) -> list[ScheduledCall]:
        """What was asked for in this session, the next one first."""
        mine = turn.session.session_id
        calls = await self.schedules.all()
        return [
            one
            for one in calls
            if one.name == "ring" and one.data.get("kind") == kind and one.session_id == mine and one.next is not None
        ]

    async def _chosen(self, turn: Turn, kind: ItemKind) -> list[ScheduledCall]:
        """Those that the user means: by name, by length, by time, or all of them."""
        items = await self._items(turn, kind)
        wanted = self._reader(turn).bare(turn.slots.get("name", ""), "article")
        if not wanted or not items:
            return items
        by_name = [one for one in items if wanted.casefold() in str(one.data.get("name", "")).casefold()]
        if by_name:
            return by_name
        length, _ = await self._reader(turn).duration(wanted)
        if length is not None:
            return [one for one in items if one.data.get("seconds") == length.total_seconds()]
        now = self._now(turn)
        when = await self._reader(turn).when(wanted, bare=True)
        if when.at is not None:
            at = when.at.astimezone(now.tzinfo).time()
            return [one for one in items if _local(one, now).time() == at]
        if when.day is not None:
            return [one for one in items if _local(one, now).date() == when.day]
        return []

    async def _just_set(self, turn: Turn, *kinds: ItemKind) -> ScheduledCall | None:
        """What the conversation is about, if that is one of these kinds and still there."""
        entry = turn.session.intent_context.get(f"{self.id}:{_SET}")
        for kind in kinds or _ROUNDS:
            for one in await self._items(turn, kind):
                if entry is not None and one.id == entry.value:
                    return one
        return None

    async def _corrected(self, turn: Turn, kind: ItemKind) -> str:
        """The id of what was set just now, if the user corrects it: "no, I meant ten minutes" sets no second one."""
        one = await self._just_set(turn, kind) if _CORRECTED in turn.slots else None
        return "" if one is None else one.id

    async def _one(self, turn: Turn, kind: ItemKind) -> ScheduledCall | None:
        """The one that the user means; else the user is told, or asked."""
        found = await self._chosen(turn, kind)
        if not found:
            await self._none(turn, kind)
            return None
        return found[0] if len(found) == 1 else await self._ask_which(turn, found)

    async def _none(self, turn: Turn, kind: ItemKind) -> None:
        if await self._items(turn, kind):
            name = turn.slots.get("name", "")
            if name:
                turn.say("no_such", name=name)
            else:  # what the conversation was about is over, others are not meant
                turn.say("kept")
        else:
            turn.say(f"no_{kind}")

    async def _ask_which(self, turn: Turn, items: Sequence[ScheduledCall]) -> ScheduledCall | None:
        now = self._now(turn)
        said = [said_item(turn, "the", one.data, said_due(turn, one, now)) for one in items]
        question = turn.render("which", items=spoken_list(said, turn.lang))
        chosen = await turn.ask_choice(said, question)
        if chosen is None:
            turn.say("kept")
            return None
        return items[said.index(chosen)]

    def _tell_all(self, turn: Turn, items: Sequence[ScheduledCall], nothing: str = "") -> None:
        if not items:
            turn.say(nothing)
            return
        now, reader = self._now(turn), self._reader(turn)
        if reader.says("first") or reader.says("next"):
            items = items[:1]
        said = []
        for one in items:
            item = said_item(turn, "a", one.data, said_due(turn, one, now))
            if one.data["kind"] == "timer":
                item = turn.render("with_left", item=item, left=said_length(turn, self._left(one)))
            said.append(item)
        values = {"items": spoken_list(said, turn.lang)}
        if len(items) > 1 and reader.says("how_many"):
            turn.say("have_several", values, count=len(items))
        else:
            turn.say("have", values)

    async def _cancel(self, turn: Turn, kind: ItemKind) -> None:
        session_id = turn.session.session_id
        ringing = [number for number, data in self._rings.get(session_id, {}).items() if data["kind"] == kind]
        if ringing:
            for number in ringing:
                self._forget(session_id, number)
                await self.schedules.cancel(f"{number}.again")
            turn.say("silenced")
            return
        if self._reader(turn).says("all") and not turn.slots.get("name"):
            found = await self._items(turn, kind)
            if not found:
                turn.say(f"no_{kind}")
                return
        else:
            one = await self._one(turn, kind)
            if one is None:
                return
            found = [one]
        await self._cancel_these(turn, found)

    async def _cancel_these(self, turn: Turn, found: Sequence[ScheduledCall]) -> None:
        now = self._now(turn)
        for one in found:
            await self.schedules.cancel(one.id)
        said = [said_item(turn, "the", one.data, said_due(turn, one, now)) for one in found]
        turn.say("cancelled", items=spoken_list(said, turn.lang))

    # Setting.

    async def _move(self, turn: Turn, one: ScheduledCall, said: str) -> None:
        """Let an alarm or a reminder ring at another time; one that has days keeps them, unless others are said."""
        reader = self._reader(turn)
        later, earlier = reader.says("later"), reader.says("earlier")
        by, _ = await reader.duration(said) if later or earlier else (None, "")
        if by is not None:  # "half an hour later"
            when = When(at=_local(one, self._now(turn)) + (by if later else -by))
        else:
            when = await reader.when(said, bare=True)
        days, now = tuple(one.data.get("days", ())), self._now(turn)
        if when.at is None and when.daily is None:
            turn.say("unclear")
            return
        if when.dayless:
            # "Change that to 9:30": the one that is nearest to the time before.
            half_round = timedelta(hours=6 if turn.home.clock == 12 else 12)
            near = TurnReader(turn, self.locale, _local(one, now) - half_round)
            at = (await near.when(said, bare=True, soonest=True)).at or now
            when = when._replace(at=at if at > now else at + timedelta(days=1))
        if when.at is not None and when.after is None and days:
            when = When(daily=when.at.time().replace(tzinfo=None), days=days)
        await self._set(turn, one.data["kind"], one.data.get("name", ""), when, number=one.id)

    async def _set(self, turn: Turn, kind: ItemKind, name: str, when: When, number: str = "") -> None:
        now = self._now(turn)
        data: dict[str, Any] = {"kind": kind, "name": name, "set": self.host.clock.wall()}
        number = number or _new_id(kind)
        if when.daily is not None:
            data["days"] = list(when.days)
            due = await self.schedules.add(
                "ring",
                id=number,
                daily=when.daily,
                days=when.days,
                zone=zone_name(turn),
                data=data,
                turn=turn,
            )
            said = said_repeat(turn, when.days, (due or now).astimezone(now.tzinfo))
        elif when.at is None:
            turn.say("kept" if turn.is_withdrawn else "unclear")
            return
        elif when.at <= now or when.at - now > _FARTHEST:
            turn.say("past" if when.at <= now else "too_long")
            return
        else:
            if when.after is not None:
                data["relative"] = True
                await self.schedules.add("ring", id=number, after=when.after, data=data, turn=turn)
                said = turn.render("when_in", duration=said_length(turn, when.after.total_seconds()))
                if kind == "alarm":  # one who sleeps wants to know the hour
                    said = said_moment(turn, when.at, now)
            else:
                await self.schedules.add("ring", id=number, at=when.at, data=data, turn=turn)
                said = said_moment(turn, when.at, now)
        turn.remember(_SET, number, turns=_FOLLOWED)
        if kind == "alarm":
            turn.say("alarm_set_named" if name else "alarm_set", {"when": said, **({"name": name} if name else {})})
        else:
            turn.say("reminder_set", when=said, name=name)

    async def _replace(self, turn: Turn, one: ScheduledCall, data: Mapping[str, Any]) -> None:
        """Keep other data for something that stays due when it was."""
        days = data.get("days")
        if days and one.next is not None:
            daily = _local(one, self._now(turn)).time()
            await self.schedules.add(
                "ring", id=one.id, daily=daily, days=days, zone=zone_name(turn), data=data, context=one.context
            )
        else:
            await self.schedules.add("ring", id=one.id, at=one.next, data=data, context=one.context)

    async def _reschedule(self, timer: ScheduledCall, left: timedelta, *, keep_paused: bool = True) -> None:
        """Let a timer end after another time; one that is paused stays so."""
        data = {key: value for key, value in timer.data.items() if key != "paused"}
        if keep_paused and timer.data.get("paused") is not None:
            data["paused"] = left.total_seconds()
            await self.schedules.add("ring", id=timer.id, at=_PAUSED, data=data, context=timer.context)
        else:
            await self.schedules.add("ring", id=timer.id, after=left, data=data, context=timer.context)

    def _left(self, timer: ScheduledCall) -> float:
        paused = timer.data.get("paused")
        if paused is not None:
            return float(paused)
        due = timer.next.timestamp() if timer.next is not None else 0.0
        return max(due - self.host.clock.wall(), 0.0)

    async def _ask_when(
        self, turn: Turn, question: str, known: When, *, bare: bool = False, soonest: bool = False, awake: bool = False
    ) -> When:
        """Ask for the time; the days that were said before count."""

        def fits(said: str) -> bool:
            when = self._reader(turn).time_in(said, bare=bare, soonest=soonest, awake=awake)
            return when.at is not None or when.daily is not None or when.day is not None

        answer = await turn.ask(turn.render(question), retries=1, check=fits)
        if answer is None:
            return When()
        found = await self._reader(turn).when(answer, bare=bare, soonest=soonest, awake=awake)
        if found.at is not None and known.days:
            return When(daily=found.at.time().replace(tzinfo=None), days=known.days)
        if found.at is not None and known.day is not None:
            return When(at=datetime.combine(known.day, found.at.time(), found.at.tzinfo))
        return found

    def _now(self, turn: Turn) -> datetime:
        return local_now(turn, self.host.clock.wall())

    def _reader(self, turn: Turn) -> TurnReader:
        return TurnReader(turn, self.locale, self._now(turn))


def _new_id(kind: ItemKind) -> str:
    return f"{kind}-{os.urandom(4).hex()}"


def _local(one: ScheduledCall, now: datetime) -> datetime:
    """When something is due that is due at all, where the user is."""
    return (one.next or now).astimezone(now.tzinfo)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
