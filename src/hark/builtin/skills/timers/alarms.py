"""Alarms, and what they share with reminders: to be due at a moment, once or on days of the week."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from hark.builtin.skills.timers.choice import cancel
from hark.builtin.skills.timers.items import FARTHEST, ScheduledItems, local_due
from hark.builtin.skills.timers.phrases import ItemKind, said_length, said_moment, said_repeat, zone_name
from hark.builtin.skills.timers.when import DAYS, When
from hark.plugins import ScheduledCall, Turn


async def set_alarm(items: ScheduledItems, turn: Turn) -> None:
    """Set the alarm of which the user speaks, or ask when."""
    # "An alarm for nine" is the next nine there is; one who wants to be woken at nine is asleep before.
    soonest = "alarm" in turn.utterance.casefold()
    reader = items.reader(turn)
    when = await reader.when(turn.utterance, bare=True, soonest=soonest)
    if when.at is None and when.daily is None:
        when = await ask_when(items, turn, "what_time", when, bare=True)
    before = await items.corrected(turn, "alarm")
    await set_for(items, turn, "alarm", reader.name(), when, "" if before is None else before.id)


async def skip(items: ScheduledItems, turn: Turn) -> None:
    """Leave out the alarms of a day, or the next one: those that repeat ring again after it."""
    now, alarms = items.now(turn), await items.of(turn, "alarm")
    when = await items.reader(turn).when(turn.slots.get("day", turn.utterance).replace("'s", ""))
    day = when.at.date() if when.at is not None else when.day
    meant = [one for one in alarms if day is None or local_due(one, now).date() == day][: None if day else 1]
    for one in meant:
        due, days = local_due(one, now), one.data.get("days")
        if days:
            await items.replace(turn, one, {**one.data, "skipped": due.timestamp()})
            later = (due + timedelta(days=number) for number in range(1, 8))
            after = next(moment for moment in later if DAYS[moment.weekday()] in days)
            turn.say("skipped", when=said_moment(turn, due, now), next=said_moment(turn, after, now))
        else:
            await cancel(items, turn, [one])
    if not meant:
        turn.say("no_such" if alarms else "no_alarm", name=turn.slots.get("day", ""))


async def set_for(items: ScheduledItems, turn: Turn, kind: ItemKind, name: str, when: When, item_id: str = "") -> None:
    """Set an alarm or a reminder for the time that was said, and say so."""
    now = items.now(turn)
    due = when.at
    if when.daily is not None:
        first = await items.set(
            turn,
            item_id,
            kind,
            name,
            daily=when.daily,
            days=when.days,
            zone=zone_name(turn),
            data={"days": list(when.days)},
        )
        said = said_repeat(turn, when.days, (first or now).astimezone(now.tzinfo))
    elif due is None:
        turn.say("kept" if turn.is_withdrawn else "unclear")
        return
    elif due <= now or due - now > FARTHEST:
        turn.say("past" if due <= now else "too_long")
        return
    elif when.after is not None:
        await items.set(turn, item_id, kind, name, after=when.after, data={"relative": True})
        said = turn.render("when_in", duration=said_length(turn, when.after.total_seconds()))
        if kind == "alarm":  # one who sleeps wants to know the hour
            said = said_moment(turn, due, now)
    else:
        await items.set(turn, item_id, kind, name, at=due)
        said = said_moment(turn, due, now)
    if kind == "alarm":
        values: dict[str, Any] = {"when": said, **({"name": name} if name else {})}
        turn.say("alarm_set_named" if name else "alarm_set", values)
    else:
        turn.say("reminder_set", when=said, name=name)


async def move(items: ScheduledItems, turn: Turn, one: ScheduledCall, said: str) -> None:
    """Let an alarm or a reminder ring at another time; one that has days keeps them, unless others are said."""
    reader, now = items.reader(turn), items.now(turn)
    later, earlier = reader.says("later"), reader.says("earlier")
    by, _ = await reader.duration(said) if later or earlier else (None, "")
    if by is not None:  # "half an hour later"
        when = When(at=local_due(one, now) + (by if later else -by))
    else:
        when = await reader.when(said, bare=True)
    if when.at is None and when.daily is None:
        turn.say("unclear")
        return
    if when.dayless:
        # "Change that to 9:30": the one that is nearest to the time before.
        half_round = timedelta(hours=6 if turn.home.clock == 12 else 12)
        near = items.reader(turn, local_due(one, now) - half_round)
        at = (await near.when(said, bare=True, soonest=True)).at or now
        when = when._replace(at=at if at > now else at + timedelta(days=1))
    days = tuple(one.data.get("days", ()))
    if when.at is not None and when.after is None and days:
        when = When(daily=when.at.time().replace(tzinfo=None), days=days)
    await set_for(items, turn, one.data["kind"], one.data.get("name", ""), when, one.id)


async def ask_when(
    items: ScheduledItems,
    turn: Turn,
    question: str,
    known: When,
    *,
    bare: bool = False,
    soonest: bool = False,
    awake: bool = False,
) -> When:
    """Ask for the time; the days that were said before count."""

    def fits(said: str) -> bool:
        when = items.reader(turn).time_in(said, bare=bare, soonest=soonest, awake=awake)
        return when.at is not None or when.daily is not None or when.day is not None

    answer = await turn.ask(turn.render(question), retries=1, check=fits)
    if answer is None:
        return When()
    found = await items.reader(turn).when(answer, bare=bare, soonest=soonest, awake=awake)
    if found.at is not None and known.days:
        return When(daily=found.at.time().replace(tzinfo=None), days=known.days)
    if found.at is not None and known.day is not None:
        return When(at=datetime.combine(known.day, found.at.time(), found.at.tzinfo))
    return found
