"""What can be wrong with a locale folder, and with asking for something in it."""

from __future__ import annotations

from pathlib import Path


class MalformedResource(ValueError):
    """A file of a locale folder, or the folder, breaks a rule: where, and which."""

    def __init__(self, reason: str, path: Path, line: int = 0, column: int = 0) -> None:
        place = ":".join(str(part) for part in (path, line, column) if part)
        super().__init__(f"{place}: {reason}")
        self.reason = reason
        self.path = path
        self.line = line
        """From 1; 0 when it is about the whole file."""
        self.column = column
        """From 1, in characters; 0 when it is about the whole line."""


class MissingResource(LookupError):
    """Something was asked for that no folder has; the text says where it was looked for."""


class UnfilledSlot(ValueError):
    """A phrase was to be said without a value for one of its slots; nothing is said."""

    def __init__(self, slot: str, name: str, path: Path, line: int) -> None:
        super().__init__(f"{path}:{line}: the slot {{{slot}}} has no value; give it one: {slot}=...")
        self.slot = slot
        self.name = name
        """The dialog."""
        self.path = path
        self.line = line
