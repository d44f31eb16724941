"""Mistakes in a script itself."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from hark.errors import UserError


class ScriptMistake(msgspec.Struct, frozen=True):
    """One thing that is wrong: in which line, what, and what to do about it."""

    line: int
    """Counted from 1; 0 when it is about the file as a whole."""
    wrong: str
    remedy: str

    def told(self, where: str) -> str:
        """In words, for a script that is called `where`."""
        return f"{where}{f':{self.line}' if self.line else ''}: {self.wrong}; {self.remedy}"


class ScriptError(UserError, ValueError):
    """A script that cannot be played, with everything that is wrong with it."""

    def __init__(self, where: str, mistakes: Iterable[ScriptMistake]) -> None:
        self.where = where
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(mistake.told(where) for mistake in self.mistakes))


class LineError(Exception):
    """What is wrong with a part of a line, and the remedy; the reader adds the line."""

    def __init__(self, wrong: str, remedy: str) -> None:
        super().__init__(wrong)
        self.wrong = wrong
        self.remedy = remedy
