"""Timers: what runs for some time, which can be longer, shorter, paused and renamed."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Final

from hark.builtin.skills.shopping.skill import as_said
from hark.builtin.skills.timers.choice import ask_which, choose, report_all, report_none
from hark.builtin.skills.timers.items import FARTHEST, ScheduledItems
from hark.builtin.skills.timers.phrases import said_item, said_length
from hark.plugins import ScheduledCall, Turn
from hark.skills.spoken import spoken_list

_MOST_AT_ONCE: Final = 5
"""Timers that one sentence sets."""
_SHORTEST: Final = timedelta(seconds=1)


async def start(items: ScheduledItems, turn: Turn) -> None:
    """Start the timer of which the user speaks, or ask for how long; several if several lengths are said."""
    reader = items.reader(turn)
    before = await items.corrected(turn, "timer")
    length, rest = await reader.duration(turn.utterance)
    if length is None and "duration" in turn.slots:  # "for five"
        length, _ = await reader.duration(turn.slots["duration"], bare=True)
    if length is None:
        answer = await turn.ask(turn.render("how_long"), retries=1, check=partial(reader.has_length, bare=True))
        if answer is None:
            turn.say("kept")
            return
        length, _ = await reader.duration(answer, bare=True)
    elif reader.says("timers") and (second := (await reader.duration(rest))[0]) is not None:
        await _start_several(items, turn, [length, second], rest)
        return
    if length is None or not _SHORTEST <= length <= FARTHEST:
        turn.say("unclear" if length is None else "too_long")
        return
    name = await reader.name_of_timer()
    await _set(items, turn, length, name, "" if before is None else before.id)
    _report_set(turn, name, length)


async def _start_several(items: ScheduledItems, turn: Turn, lengths: list[timedelta], rest: str) -> None:
    reader = items.reader(turn)
    while len(lengths) < _MOST_AT_ONCE:
        _, rest = await reader.duration(rest)
        length, _ = await reader.duration(rest)
        if length is None:
            break
        lengths.append(length)
    if not all(_SHORTEST <= length <= FARTHEST for length in lengths):
        turn.say("too_long")
        return
    for length in lengths:
        await _set(items, turn, length)
    said = [said_length(turn, length.total_seconds()) for length in lengths]
    turn.say("timers_set", durations=spoken_list(said, turn.lang))


async def _set(items: ScheduledItems, turn: Turn, length: timedelta, name: str = "", item_id: str = "") -> None:
    await items.set(turn, item_id, "timer", name, after=length, data={"seconds": length.total_seconds()})


def _report_set(turn: Turn, name: str, length: timedelta) -> None:
    said = said_length(turn, length.total_seconds())
    if name:
        turn.say("timer_set_named", name=_capital(name), duration=said)
    else:
        turn.say("timer_set", duration=said)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


async def run(items: ScheduledItems, turn: Turn, timer: ScheduledCall, length: timedelta) -> None:
    """Let a timer run for so long from now on."""
    await items.run(turn, timer, length)
    _report_set(turn, timer.data.get("name", ""), length)


async def restart(items: ScheduledItems, turn: Turn) -> None:
    """Let the timer that is meant run from its beginning."""
    timer = await choose(items, turn, "timer")
    if timer is not None:
        await run(items, turn, timer, timedelta(seconds=timer.data["seconds"]))


async def change_length(items: ScheduledItems, turn: Turn, timer: ScheduledCall, said: str) -> None:
    """Give a timer the length that is `said`."""
    length, _ = await items.reader(turn).duration(said, bare=True)
    if length is None:
        turn.say("unclear")
    else:
        await run(items, turn, timer, length)


async def lengthen(items: ScheduledItems, turn: Turn, timer: ScheduledCall) -> None:
    """Let a timer run longer by the length in the sentence."""
    more, _ = await items.reader(turn).duration(turn.utterance, bare=True)
    if more is None:
        turn.say("unclear")
        return
    left = timedelta(seconds=items.left(timer)) + more
    await items.end_after(turn, timer, left)
    turn.say("added", left=said_length(turn, left.total_seconds()))


async def shorten(items: ScheduledItems, turn: Turn, timer: ScheduledCall) -> None:
    """Let a timer end sooner by the length in the sentence."""
    less, _ = await items.reader(turn).duration(turn.utterance, bare=True)
    left = None if less is None else timedelta(seconds=items.left(timer)) - less
    if left is None or left < _SHORTEST:
        turn.say("unclear" if left is None else "kept")
        return
    await items.end_after(turn, timer, left)
    turn.say("left", left=said_length(turn, left.total_seconds()))


async def pause(items: ScheduledItems, turn: Turn) -> None:
    """Stop the time of the timer that is meant."""
    running = [one for one in await items.chosen(turn, "timer") if one.data.get("paused") is None]
    if not running:
        turn.say("all_paused" if await items.of(turn, "timer") else "no_timer")
        return
    timer = running[0] if len(running) == 1 else await ask_which(items, turn, running)
    if timer is not None:
        left = items.left(timer)
        await items.pause(turn, timer, left)
        turn.say("paused", left=said_length(turn, left))


async def resume(items: ScheduledItems, turn: Turn) -> None:
    """Let the time of the timer that is meant go on."""
    paused = [one for one in await items.chosen(turn, "timer") if one.data.get("paused") is not None]
    if not paused:
        turn.say("none_paused")
        return
    timer = paused[0] if len(paused) == 1 else await ask_which(items, turn, paused)
    if timer is not None:
        left = items.left(timer)
        await items.end_after(turn, timer, timedelta(seconds=left), resume=True)
        turn.say("resumed", left=said_length(turn, left))


async def rename(items: ScheduledItems, turn: Turn, timer: ScheduledCall) -> None:
    """Give a timer the name that is said."""
    name = items.reader(turn).bare(as_said(turn.slots["label"], turn.utterance), "article")
    data = {**timer.data, "name": name}
    await items.replace(turn, timer, data)
    items.follow(turn, timer.id)
    turn.say("renamed", item=said_item(turn, "the", data, ""))


async def report_left(items: ScheduledItems, turn: Turn) -> None:
    """Say how long the timers still run that are meant."""
    timers = await items.chosen(turn, "timer")
    if not timers:
        await report_none(items, turn, "timer")
    elif len(timers) == 1:
        left, item = said_length(turn, items.left(timers[0])), said_item(turn, "the", timers[0].data, "")
        if timers[0].data.get("paused") is not None:
            turn.say("left_paused", left=left, item=_capital(item))
        elif timers[0].data.get("name"):
            turn.say("left_on", left=left, item=item)
        else:
            turn.say("left", left=left)
    else:
        report_all(items, turn, timers)
