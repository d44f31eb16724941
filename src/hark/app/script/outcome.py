"""How a conversation went."""

from __future__ import annotations

import msgspec


class Difference(msgspec.Struct, frozen=True):
    """Where a conversation did not go as written."""

    line: int
    """The line of the script that does not hold."""
    what: str
    """In a few words."""
    expected: str = ""
    """What the line says."""
    said: tuple[str, ...] = ()
    """What Hark said in place of it, or beside it; a device other than the first is named."""
    happened: tuple[str, ...] = ()
    """What did happen, where something else was to happen."""
    hint: str = ""
    """What may help."""
    why: str = ""
    """The story of the last turn, as `hark why` tells it."""


class Differs(Exception):
    """A conversation does not go as written."""

    def __init__(self, difference: Difference) -> None:
        super().__init__(difference.what)
        self.difference = difference


class Played(msgspec.Struct, frozen=True):
    """A conversation that was played."""

    script: str
    """The file it is in."""
    name: str
    """Its title, if it has one."""
    seconds: float
    """How long it took, by the clock on the wall."""
    difference: Difference | None = None
    """What was not as written; None when it went well."""

    @property
    def passed(self) -> bool:
        """Whether it went as written."""
        return self.difference is None
