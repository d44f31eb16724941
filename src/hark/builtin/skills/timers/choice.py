"""Which timer, alarm or reminder the user means, and what there is to choose from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hark.builtin.skills.timers.items import JUST_SET, ScheduledItems
from hark.builtin.skills.timers.phrases import ItemKind, said_due, said_item, said_length
from hark.plugins import ScheduledCall, Turn
from hark.skills.spoken import spoken_list

_PLACES: Final[Mapping[str, int]] = {"first": 0, "second": 1, "third": 2, "last": -1}
"""Vocabularies of ordinals, and which one they mean of those that were set."""


async def choose(items: ScheduledItems, turn: Turn, kind: ItemKind) -> ScheduledCall | None:
    """The one that the user means; else the user is told that there is none, or asked."""
    found = await items.chosen(turn, kind)
    if not found:
        await report_none(items, turn, kind)
        return None
    return found[0] if len(found) == 1 else await ask_which(items, turn, found)


async def ask_which(items: ScheduledItems, turn: Turn, found: Sequence[ScheduledCall]) -> ScheduledCall | None:
    """Ask which of several is meant."""
    said = _named(items, turn, found)
    question = turn.render("which", first=", ".join(said[:-1]), last=said[-1])
    chosen = await turn.ask_choice(said, question)
    if chosen is None:
        turn.say("kept")
        return None
    return found[said.index(chosen)]


async def report_none(items: ScheduledItems, turn: Turn, kind: ItemKind) -> None:
    """Say that there is none, or none of that name."""
    if await items.of(turn, kind):
        name = turn.slots.get("name", "")
        if name:
            turn.say("no_such", name=name)
        else:  # what the conversation was about is over, others are not meant
            turn.say("kept")
    else:
        turn.say(f"no_{kind}")


def report_all(items: ScheduledItems, turn: Turn, found: Sequence[ScheduledCall], nothing: str = "") -> None:
    """Say what there is, or how many there are; `nothing` is the dialog for none."""
    if not found:
        turn.say(nothing)
        return
    now, reader = items.now(turn), items.reader(turn)
    if reader.says("first") or reader.says("next"):
        found = found[:1]
    said = []
    for one in found:
        item = said_item(turn, "a", one.data, said_due(turn, one, now))
        if one.data["kind"] == "timer":
            item = turn.render("with_left", item=item, left=said_length(turn, items.left(one)))
        said.append(item)
    values = {"items": spoken_list(said, turn.lang)}
    if len(found) > 1 and reader.says("how_many"):
        turn.say("have_several", values, count=len(found))
    else:
        turn.say("have", values)


async def cancel_chosen(items: ScheduledItems, turn: Turn, kind: ItemKind) -> None:
    """Cancel the one that the user means, or all of a kind."""
    if items.reader(turn).says("all") and not turn.slots.get("name"):
        found = await items.of(turn, kind)
        if not found:
            turn.say(f"no_{kind}")
            return
    else:
        one = await choose(items, turn, kind)
        if one is None:
            return
        found = [one]
    await cancel(items, turn, found)


async def cancel_just_set(items: ScheduledItems, turn: Turn) -> None:
    """Cancel what was set just now, or all of its kind: "cancel both"."""
    one = await items.just_set(turn)
    if one is None:
        turn.say("kept")
        return
    everything = items.reader(turn).says("all")
    await cancel(items, turn, await items.of(turn, one.data["kind"]) if everything else [one])
    turn.forget(JUST_SET)


async def cancel_by_place(items: ScheduledItems, turn: Turn) -> None:
    """Cancel the first, second, third or last of those that the conversation is about, as they were set."""
    set_last = await items.just_set(turn)
    kind: ItemKind = "timer" if set_last is None else set_last.data["kind"]
    found = sorted(await items.of(turn, kind), key=lambda one: one.data.get("set", 0.0))
    place = _PLACES.get(next(filter(items.reader(turn).says, _PLACES), ""), -1)
    if not found:
        turn.say(f"no_{kind}")
    elif not -1 <= place < len(found):
        turn.say("kept")
    else:
        await cancel(items, turn, [found[place]])


async def cancel(items: ScheduledItems, turn: Turn, found: Sequence[ScheduledCall]) -> None:
    """Cancel these, and say so."""
    said = _named(items, turn, found)
    for one in found:
        await items.cancel(one)
    turn.say("cancelled", items=spoken_list(said, turn.lang))


def _named(items: ScheduledItems, turn: Turn, found: Sequence[ScheduledCall]) -> list[str]:
    now = items.now(turn)
    return [said_item(turn, "the", one.data, said_due(turn, one, now)) for one in found]
