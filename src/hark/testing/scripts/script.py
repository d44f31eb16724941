"""A script: its head, its conversations, and the steps of each."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import msgspec

from hark.testing.scripts.pattern import Pattern, UserText
from hark.testing.scripts.times import Pause

HERE = ""
"""The device nobody has to name: it speaks in the assistant's own session."""


def _at(device: str) -> str:
    return f" ({device})" if device else ""


class ScriptStep(msgspec.Struct, frozen=True):
    """One line of a conversation."""

    line: int
    """Where it stands in its file, counted from 1."""


class UserSays(ScriptStep, frozen=True):
    """Somebody says something to a device; who `interrupts` does not wait until it has finished talking."""

    device: str
    text: UserText
    interrupts: bool = False

    def __str__(self) -> str:
        return f"user{_at(self.device)}{' interrupts' if self.interrupts else ''}: {self.text}"


class HarkSays(ScriptStep, frozen=True):
    """A device says something; when it `asks`, it listens for an answer afterwards."""

    device: str
    text: Pattern
    asks: bool = False

    def __str__(self) -> str:
        return f"hark{_at(self.device)}{' asks' if self.asks else ''}: {self.text}"


class HarkSaysMore(ScriptStep, frozen=True):
    """Whatever a device says beside, any number of times."""

    device: str

    def __str__(self) -> str:
        return f"hark{_at(self.device)}: ..."


class HarkIsSilent(ScriptStep, frozen=True):
    """A device has nothing more to say for now."""

    device: str

    def __str__(self) -> str:
        return f"hark{_at(self.device)} says nothing"


class EventHappens(ScriptStep, frozen=True):
    """A Message is on the bus, such as the call of a handler."""

    topic: str
    """`*` stands for anything."""
    values: tuple[tuple[str, Pattern], ...] = ()
    """What its slots or data hold, by name."""
    never: bool = False
    """Turned round: it must not happen in the whole conversation."""

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
    """The assistant is closed and started again, with what it keeps on disk."""

    def __str__(self) -> str:
        return "[restart]"


class LanguageChanges(ScriptStep, frozen=True):
    """From here on another language is spoken to a device; without a device, to all that have none of their own."""

    device: str
    lang: str

    def __str__(self) -> str:
        return f"language{_at(self.device)}: {self.lang}"


NOTHING: Final = "none"
"""`skills: none` and `settings: none`: what comes with Hark, as it comes."""
NOON: Final = datetime(2026, 1, 1, 12)


class ScriptHead(msgspec.Struct, frozen=True):
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
    head: ScriptHead
    steps: tuple[ScriptStep, ...]
    line: int = 1
    """Where it begins."""

    def langs(self) -> tuple[str, ...]:
        """Every language in which something is said, apart from the main one."""
        spoken = [step.lang for step in self.steps if isinstance(step, LanguageChanges)]
        return tuple(dict.fromkeys((*self.head.languages, *spoken)))


class Script(msgspec.Struct, frozen=True):
    """A file."""

    where: str
    """Its path, or what else it is called."""
    lines: tuple[str, ...]
    """The text, for showing it."""
    conversations: tuple[Conversation, ...]
