"""What can stand in a conversation, a line each. `str(step)` is the line as it is written."""

from __future__ import annotations

import msgspec

from hark.app.script.pattern import Pattern, Speech
from hark.app.script.times import Pause

HERE = ""
"""The device nobody has to name: it speaks in the assistant's own session."""


def _at(device: str) -> str:
    return f" ({device})" if device else ""


class Step(msgspec.Struct, frozen=True):
    """One line of a conversation."""

    line: int
    """Where it stands in its file, counted from 1."""


class Says(Step, frozen=True):
    """Somebody says something to a device; who `interrupts` does not wait until it has finished talking."""

    device: str
    text: Speech
    interrupts: bool = False

    def __str__(self) -> str:
        return f"user{_at(self.device)}{' interrupts' if self.interrupts else ''}: {self.text}"


class Answers(Step, frozen=True):
    """A device says something; when it `asks`, it listens for an answer afterwards."""

    device: str
    text: Pattern
    asks: bool = False

    def __str__(self) -> str:
        return f"hark{_at(self.device)}{' asks' if self.asks else ''}: {self.text}"


class Chatters(Step, frozen=True):
    """Whatever a device says beside, any number of times."""

    device: str

    def __str__(self) -> str:
        return f"hark{_at(self.device)}: ..."


class IsSilent(Step, frozen=True):
    """A device has nothing more to say for now."""

    device: str

    def __str__(self) -> str:
        return f"hark{_at(self.device)} says nothing"


class Happens(Step, frozen=True):
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


class NeverSaid(Step, frozen=True):
    """Words that no device may say, in the whole conversation."""

    text: Pattern

    def __str__(self) -> str:
        return f"never: {self.text}"


class Passes(Step, frozen=True):
    """Time passes."""

    pause: Pause

    def __str__(self) -> str:
        return f"[{self.pause}]"


class Restarts(Step, frozen=True):
    """The assistant is closed and started again, with what it keeps on disk."""

    def __str__(self) -> str:
        return "[restart]"


class Speaks(Step, frozen=True):
    """From here on another language is spoken to a device; without a device, to all that have none of their own."""

    device: str
    lang: str

    def __str__(self) -> str:
        return f"language{_at(self.device)}: {self.lang}"
