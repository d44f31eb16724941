"""What people say at home, put to an assistant with the builtin skills and a small home (`benchmarks/people`).

`talk.txt` holds sentences that are no commands: none may be claimed. `near.txt` holds sentences one word away from a
command: the command may not run, its opposite never. The assistant is the one that ships, with every matcher.
"""

from __future__ import annotations

import asyncio
import logging
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hark.builtin import DEFAULT_PLUGINS, MATCHERS
from hark.model import Session
from hark.plugins import Plugin, Turn
from hark.skills import Skill, intent
from hark.testing import Assistant

FOLDER = Path(__file__).parent.parent / "people"


@dataclass
class HouseholdResult:
    """The sentences that were claimed, with what claimed them."""

    talk: int = 0
    claimed: list[tuple[str, str]] = field(default_factory=list)
    near: int = 0
    obeyed: list[tuple[str, str]] = field(default_factory=list)
    """The command they resemble ran."""
    reversed: list[tuple[str, str]] = field(default_factory=list)
    """The command of the opposite meaning ran."""
    others: list[tuple[str, str]] = field(default_factory=list)
    """Something else ran, which may well be right."""


def home_skill() -> Skill:
    """A skill with the intents of `home.toml`."""
    home = tomllib.loads((FOLDER / "home.toml").read_text(encoding="utf-8"))

    def handler(name: str, samples: list[str]) -> Any:
        def handle(self: Skill, turn: Turn) -> str:
            return name

        handle.__name__ = name
        return intent(*samples)(handle)

    async def start(self: Skill) -> None:
        await Skill.start(self)
        for name, values in home["entities"].items():
            self.register_entity(name, *values)

    handlers = {name: handler(name, samples) for name, samples in home["intents"].items()}
    made: Skill = type("Home", (Skill,), {"id": home["skill_id"], "lang": "en-US", "start": start, **handlers})()
    return made


def lines(name: str) -> list[str]:
    """The lines of a file, without comments."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


async def play() -> HouseholdResult:
    """Say every sentence once, each in a session of its own."""
    result = HouseholdResult()
    # The matchers come with the assistant, in the order of the default pipeline.
    plugins: list[Plugin] = [made() for made in DEFAULT_PLUGINS if made not in MATCHERS]
    async with Assistant(*plugins, home_skill()) as assistant:

        async def ran(text: str, number: int) -> str:
            session = Session(f"s{number}", lang="en-US")
            await assistant.hears(text, lang="en-US", session=session)
            matched = assistant.of("ovos.intent.matched")[-1:] if len(assistant.messages) else []
            found = [message for message in matched if message.session_id == session.session_id]
            label = f"{found[0].data.get('skill_id')}:{found[0].data.get('intent_name')}" if found else ""
            assistant.messages.clear()
            return label

        number = 0
        for text in lines("talk.txt"):
            number += 1
            result.talk += 1
            label = await ran(text, number)
            if label:
                result.claimed.append((text, label))
        for line in lines("near.txt"):
            number += 1
            result.near += 1
            text, _, rest = line.partition(" -> ")
            command, _, opposite = rest.partition(" | ")
            label = await ran(text, number)
            if label == command.strip():
                result.obeyed.append((text, label))
            elif opposite.strip() and label == opposite.strip():
                result.reversed.append((text, label))
            elif label:
                result.others.append((text, label))
    return result


def table() -> str:
    """The figures as a table, and the sentences that were claimed."""
    logging.disable(logging.WARNING)
    result = asyncio.run(play())
    logging.disable(logging.NOTSET)
    lines = [
        "| sentences | number | claimed | % |",
        "|---|---|---|---|",
        f"| no commands | {result.talk} | {len(result.claimed)} | {100 * len(result.claimed) / result.talk:.1f} |",
        f"| near a command | {result.near} | {len(result.obeyed)} | {100 * len(result.obeyed) / result.near:.1f} |",
        f"| near a command, the opposite | {result.near} | {len(result.reversed)} | "
        f"{100 * len(result.reversed) / result.near:.1f} |",
        "",
        *[f"- {text!r}: {label}" for text, label in result.claimed + result.obeyed + result.reversed],
    ]
    return "\n".join(lines)
