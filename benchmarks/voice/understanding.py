"""What a whole turn makes of what was heard: which intent of which skill, with which slots."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hark.model import Message
from hark.plugins import Plugin, Turn, handles
from hark.testing import Assistant, settle
from voice.house import House
from voice.scores import plain


class Claim(NamedTuple):
    """What somebody is taken to want."""

    intent: str
    slots: tuple[tuple[str, str], ...]


def claims(house: House, all_heard: Sequence[Sequence[str]]) -> list[Claim | None]:
    """What each was taken for by the default pipeline of a house with these skills; None where nobody took it.

    Each is the list of readings that a recogniser hands on, likeliest first.
    """
    return asyncio.run(_claims(house, all_heard))


async def _claims(house: House, all_heard: Sequence[Sequence[str]]) -> list[Claim | None]:
    found: list[Claim] = []
    async with Assistant(*_skills(house, found.append)) as assistant:
        for topic, data in house.registrations():
            assistant.bus.emit(Message(topic, data))
        await settle()
        said: list[Claim | None] = []
        for number, heard in enumerate(all_heard):
            found.clear()
            if heard:
                await assistant.hears(list(heard), lang="en-US", session=f"nobody-{number}")
            said.append(found[0] if found else None)
    return said


def _skills(house: House, tell: Callable[[Claim], None]) -> list[Plugin]:
    """A skill for each that the house has, with a handler for each intent that says it was asked."""

    def handler(intent: str) -> Any:
        def work(_self: Any, turn: Turn) -> None:
            slots = sorted((name, " ".join(plain(str(value)))) for name, value in turn.slots.items())
            tell(Claim(intent, tuple(slots)))

        return handles(intent.partition(".")[2])(work)

    by_skill: dict[str, dict[str, Any]] = {}
    for intent in house.templates:
        skill, _, name = intent.partition(".")
        by_skill.setdefault(skill, {})[f"on_{name}"] = handler(intent)
    return [
        type("Told", (Plugin,), {"id": f"{skill}.skill", "quick": True, **handlers})()
        for skill, handlers in by_skill.items()
    ]
