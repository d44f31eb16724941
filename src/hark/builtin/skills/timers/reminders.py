"""Reminders: what the user wants to be told at some time."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from hark.builtin.skills.shopping.skill import as_said
from hark.builtin.skills.timers.alarms import ask_when, move, set_for
from hark.builtin.skills.timers.items import ScheduledItems
from hark.builtin.skills.timers.phrases import said_due
from hark.builtin.skills.timers.when import When
from hark.plugins import Turn

_MORNING: Final = 9
"""The hour of a reminder for which only a day was said."""


async def set_reminder(items: ScheduledItems, turn: Turn) -> None:
    """Remind the user of something at some time; ask for what is missing."""
    reader = items.reader(turn)
    before = await items.corrected(turn, "reminder")
    when = await reader.when(reader.reminder(), soonest=True, awake=True, bare=before is not None)
    name = reader.bare(as_said(when.rest, turn.utterance), "connector")
    if before is not None and not name:
        await move(items, turn, before, reader.reminder())
        return
    if before is not None and when == When(rest=when.rest):  # "no, I meant call dad"
        await items.replace(turn, before, {**before.data, "name": name})
        turn.say("reminder_set", when=said_due(turn, before, items.now(turn)), name=name)
        return
    if not name:
        name = reader.bare(await turn.ask(turn.render("what"), retries=1) or "", "connector")
        if not name:
            turn.say("kept")
            return
    if when.at is None and when.daily is None and when.day is None:
        when = await ask_when(items, turn, "when", when, soonest=True, bare=True, awake=True)
    if when.day is not None:
        zone = items.now(turn).tzinfo
        when = When(at=datetime.combine(when.day, datetime.min.time(), zone).replace(hour=_MORNING))
    await set_for(items, turn, "reminder", name, when, "" if before is None else before.id)
