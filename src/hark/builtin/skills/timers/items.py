"""The timers, alarms and reminders that are set: kept with the scheduler, found by what users say of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from hark.builtin.skills.timers.phrases import ItemKind, local_now, zone_name
from hark.builtin.skills.timers.reader import TurnReader
from hark.intents.locale import Locale
from hark.model.clock import Clock
from hark.plugins import ScheduledCall, Schedules, Turn

RING: Final = "ring"
"""The scheduled method that is called when an item is due."""
JUST_SET: Final = "set"
"""The name under which a session remembers the id of what was set."""
FARTHEST: Final = timedelta(days=3_650)
KINDS: Final[tuple[ItemKind, ...]] = ("timer", "alarm", "reminder")
_PAUSED: Final = datetime(9000, 1, 1, tzinfo=UTC)
"""When a timer that is paused is due."""
_FOLLOWED: Final = 3
"""Turns for which "make it ten minutes" is about what was set."""
_CORRECTED: Final = "correction.value"
"""The slot of an intent that runs again in place of the one before."""


class ScheduledItems:
    """What the users of a device have set. Each item belongs to the session in which it was asked for.

    An item is a call of `RING`; its data say its kind and name, and of a timer how long it runs.
    """

    def __init__(self, schedules: Schedules, clock: Clock, locale: Locale, skill_id: str) -> None:
        self._schedules = schedules
        self._clock = clock
        self._locale = locale
        self._remembered = f"{skill_id}:{JUST_SET}"

    def now(self, turn: Turn) -> datetime:
        """The time where the user is."""
        return local_now(turn, self._clock.wall())

    def reader(self, turn: Turn, now: datetime | None = None) -> TurnReader:
        """Reads what the user says, as of `now`."""
        return TurnReader(turn, self._locale, now or self.now(turn))

    async def of(self, turn: Turn, kind: ItemKind) -> list[ScheduledCall]:
        """What was asked for in this session, the next one first."""
        mine = turn.session.session_id
        calls = await self._schedules.all()
        return [
            one
            for one in calls
            if one.name == RING and one.data.get("kind") == kind and one.session_id == mine and one.next is not None
        ]

    async def chosen(self, turn: Turn, kind: ItemKind) -> list[ScheduledCall]:
        """Those that the user means: by name, by length, by time, or all of them."""
        items = await self.of(turn, kind)
        wanted = self.reader(turn).bare(turn.slots.get("name", ""), "article")
        if not wanted or not items:
            return items
        by_name = [one for one in items if wanted.casefold() in str(one.data.get("name", "")).casefold()]
        if by_name:
            return by_name
        length, _ = await self.reader(turn).duration(wanted)
        if length is not None:
            return [one for one in items if one.data.get("seconds") == length.total_seconds()]
        now = self.now(turn)
        when = await self.reader(turn).when(wanted, bare=True)
        if when.at is not None:
            at = when.at.astimezone(now.tzinfo).time()
            return [one for one in items if local_due(one, now).time() == at]
        if when.day is not None:
            return [one for one in items if local_due(one, now).date() == when.day]
        return []

    async def just_set(self, turn: Turn, *kinds: ItemKind) -> ScheduledCall | None:
        """What the conversation is about, if that is one of these kinds and still there."""
        entry = turn.session.intent_context.get(self._remembered)
        for kind in kinds or KINDS:
            for one in await self.of(turn, kind):
                if entry is not None and one.id == entry.value:
                    return one
        return None

    async def corrected(self, turn: Turn, kind: ItemKind) -> ScheduledCall | None:
        """What was set just now, if the user corrects it: "no, I meant ten minutes" sets no second one."""
        return await self.just_set(turn, kind) if _CORRECTED in turn.slots else None

    def left(self, timer: ScheduledCall) -> float:
        """The seconds that a timer still runs."""
        paused = timer.data.get("paused")
        if paused is not None:
            return float(paused)
        due = timer.next.timestamp() if timer.next is not None else 0.0
        return max(due - self._clock.wall(), 0.0)

    async def set(self, turn: Turn, item_id: str, kind: ItemKind, name: str, **when: Any) -> datetime | None:
        """Set an item in this session, in place of the one with this id if there is one.

        `when` is what `Schedules.add` takes; its `data` are kept beside kind and name. Returns when it is due.
        """
        data = {"kind": kind, "name": name, "set": self._clock.wall(), **when.pop("data", {})}
        item_id = item_id or f"{kind}-{os.urandom(4).hex()}"
        due = await self._schedules.add(RING, id=item_id, data=data, turn=turn, **when)
        self.follow(turn, item_id)
        return due

    def follow(self, turn: Turn, item_id: str) -> None:
        """Let what the user says next be about an item."""
        turn.remember(JUST_SET, item_id, turns=_FOLLOWED)

    async def run(self, turn: Turn, timer: ScheduledCall, length: timedelta) -> None:
        """Let a timer run for so long from now on, paused or not."""
        data = {**_running(timer), "seconds": length.total_seconds()}
        await self._schedules.add(RING, id=timer.id, after=length, data=data, context=timer.context)
        self.follow(turn, timer.id)

    async def end_after(self, turn: Turn, timer: ScheduledCall, left: timedelta, *, resume: bool = False) -> None:
        """Let a timer end after another time; one that is paused stays so unless it is to `resume`."""
        if timer.data.get("paused") is not None and not resume:
            await self.pause(turn, timer, left.total_seconds())
        else:
            await self._schedules.add(RING, id=timer.id, after=left, data=_running(timer), context=timer.context)
            self.follow(turn, timer.id)

    async def pause(self, turn: Turn, timer: ScheduledCall, left: float) -> None:
        """Stop the time of a timer with so many seconds left."""
        data = {**timer.data, "paused": left}
        await self._schedules.add(RING, id=timer.id, at=_PAUSED, data=data, context=timer.context)
        self.follow(turn, timer.id)

    async def replace(self, turn: Turn, one: ScheduledCall, data: Mapping[str, Any]) -> None:
        """Keep other data for something that stays due when it was."""
        days = data.get("days")
        if days and one.next is not None:
            daily = local_due(one, self.now(turn)).time()
            await self._schedules.add(
                RING, id=one.id, daily=daily, days=days, zone=zone_name(turn), data=data, context=one.context
            )
        else:
            await self._schedules.add(RING, id=one.id, at=one.next, data=data, context=one.context)

    async def cancel(self, one: ScheduledCall) -> None:
        """Forget an item."""
        await self._schedules.cancel(one.id)


def local_due(one: ScheduledCall, now: datetime) -> datetime:
    """When something is due that is due at all, where the user is."""
    return (one.next or now).astimezone(now.tzinfo)


def _running(timer: ScheduledCall) -> dict[str, Any]:
    return {key: value for key, value in timer.data.items() if key != "paused"}
