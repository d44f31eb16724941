"""A script: what has to be there, and the conversations."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import msgspec

from hark.app.script.steps import Speaks, Step

NOTHING: Final = "none"
"""`skills: none` and `settings: none`: what comes with Hark, as it comes."""
NOON: Final = datetime(2026, 1, 1, 12)


class Head(msgspec.Struct, frozen=True):
    """What a conversation is played on."""

    language: str | None = None
    """The language of the assistant; None: what its settings say."""
    languages: tuple[str, ...] = ()
    """Further languages that it understands; those in which the script speaks are among them anyway."""
    timezone: str = "UTC"
    """Where the devices are, as an IANA name."""
    now: datetime = NOON
    """When the conversation begins, there."""
    skills: tuple[str, ...] | None = None
    """Plugins beside those that come with Hark; None: those that are installed."""
    settings: str | None = None
    """A settings file; None: whatever the user has."""


class Conversation(msgspec.Struct, frozen=True):
    """Lines that are played in order on an assistant of their own."""

    name: str
    """As it is titled; empty when the file is one conversation without title."""
    head: Head
    steps: tuple[Step, ...]
    line: int = 1
    """Where it begins."""

    def langs(self) -> tuple[str, ...]:
        """Every language in which something is said, apart from the main one."""
        spoken = [step.lang for step in self.steps if isinstance(step, Speaks)]
        return tuple(dict.fromkeys((*self.head.languages, *spoken)))


class Script(msgspec.Struct, frozen=True):
    """A file."""

    where: str
    """Its path, or what else it is called."""
    lines: tuple[str, ...]
    """The text, for showing it."""
    conversations: tuple[Conversation, ...]
