"""Mistakes in a script itself."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from hark.errors import UserError


class ScriptMistake(msgspec.Struct, frozen=True):
    """A mistake in a script: its line, what is wrong, and what to do about it."""

    line: int
    """Counted from 1; 0 when it is about the file as a whole."""
    wrong: str
    remedy: str

    def message(self, where: str) -> str:
        """The text for the user; `where` is the path of the script."""
        return f"{where}{f':{self.line}' if self.line else ''}: {self.wrong}; {self.remedy}"


class ScriptError(UserError, ValueError):
    """A script that cannot be played, with all mistakes in it."""

    def __init__(self, where: str, mistakes: Iterable[ScriptMistake]) -> None:
        self.where = where
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(mistake.message(where) for mistake in self.mistakes))


class LineError(Exception):
    """A mistake in a part of a line; the parser adds the line number."""

    def __init__(self, wrong: str, remedy: str) -> None:
        super().__init__(wrong)
        self.wrong = wrong
        self.remedy = remedy
