"""A script: its head, its conversations, and the steps of each."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import msgspec

from hark.testing.scripts.pattern import Pattern, UserText
from hark.testing.scripts.times import Pause

HERE = ""
"""The name of the default device, which uses the assistant's own session."""


def _at(device: str) -> str:
    return f" ({device})" if device else ""


class ScriptStep(msgspec.Struct, frozen=True):
    """One line of a conversation."""

    line: int
    """Its number in the file, from 1."""


class UserSays(ScriptStep, frozen=True):
    """A user says something to a device; with `interrupts`, while the device is speaking."""

    device: str
    text: UserText
    interrupts: bool = False

    def __str__(self) -> str:
        return f"user{_at(self.device)}{' interrupts' if self.interrupts else ''}: {self.text}"


class HarkSays(ScriptStep, frozen=True):
    """A device says something; with `asks`, it then listens for an answer."""

    device: str
    text: Pattern
    asks: bool = False

    def __str__(self) -> str:
        return f"hark{_at(self.device)}{' asks' if self.asks else ''}: {self.text}"


class HarkSaysMore(ScriptStep, frozen=True):
    """A device may say anything, any number of times."""

    device: str

    def __str__(self) -> str:
        return f"hark{_at(self.device)}: ..."


class HarkIsSilent(ScriptStep, frozen=True):
    """A device says nothing more for now."""

    device: str

    def __str__(self) -> str:
        return f"hark{_at(self.device)} says nothing"


class EventHappens(ScriptStep, frozen=True):
    """A Message is on the bus, such as the call of a handler."""

    topic: str
    """`*` stands for anything."""
    values: tuple[tuple[str, Pattern], ...] = ()
    """Values of its slots or data, by name."""
    never: bool = False
    """Whether the event must not happen in the whole conversation."""

    def __str__(self) -> str:
        values = "".join(f", {name} = {value}" for name, value in self.values)
        return f"{'never ' if self.never else ''}happens: {self.topic}{values}"


class NeverSaid(ScriptStep, frozen=True):
    """Words that no device may say, in the whole conversation."""

    text: Pattern

    def __str__(self) -> str:
        return f"never: {self.text}"


class TimePasses(ScriptStep, frozen=True):
    """Time passes."""

    pause: Pause

    def __str__(self) -> str:
        return f"[{self.pause}]"


class AssistantRestarts(ScriptStep, frozen=True):
    """The assistant is stopped and started again with the state it stored."""

    def __str__(self) -> str:
        return "[restart]"


class LanguageChanges(ScriptStep, frozen=True):
    """From here on the users of a device speak another language; of the default device, of all without their own."""

    device: str
    lang: str

    def __str__(self) -> str:
        return f"language{_at(self.device)}: {self.lang}"


NOTHING: Final = "none"
"""`skills: none` and `settings: none`: only builtin plugins, and default settings."""
NOON: Final = datetime(2026, 1, 1, 12)


class ScriptHead(msgspec.Struct, frozen=True):
    """The assistant a conversation is played on."""

    language: str | None = None
    """The language of the assistant; None: that of its settings."""
    languages: tuple[str, ...] = ()
    """Further languages that it understands; those of the script are added."""
    timezone: str = "UTC"
    """The time zone of the devices, as an IANA name."""
    now: datetime = NOON
    """The local time at which the conversation begins."""
    skills: tuple[str, ...] | None = None
    """Plugins beside those that come with Hark; None: those that are installed."""
    settings: str | None = None
    """A settings file; None: that of the caller."""


class Conversation(msgspec.Struct, frozen=True):
    """Lines that are played in order on an assistant of their own."""

    name: str
    """Its title; empty when the file is one conversation without title."""
    head: ScriptHead
    steps: tuple[ScriptStep, ...]
    line: int = 1
    """Its first line."""

    def langs(self) -> tuple[str, ...]:
        """The languages of its users, apart from the main one."""
        spoken = [step.lang for step in self.steps if isinstance(step, LanguageChanges)]
        return tuple(dict.fromkeys((*self.head.languages, *spoken)))


class Script(msgspec.Struct, frozen=True):
    """A file of conversations."""

    where: str
    """Its path, or another name."""
    lines: tuple[str, ...]
    """Its text, for reports."""
    conversations: tuple[Conversation, ...]
