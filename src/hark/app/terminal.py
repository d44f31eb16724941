"""The terminal as it was, whatever happens while somebody is typing."""

from __future__ import annotations

import sys
from typing import Any, TextIO

from hark.app.screen import PROMPT


class Terminal:
    """Standard input and output, if there is a person; puts the terminal back in order at the end."""

    def __init__(self, source: TextIO, out: TextIO) -> None:
        self.is_interactive = source.isatty()
        self._shows_prompt = out.isatty()
        self._source = source
        self._modes: Any = None

    def __enter__(self) -> Terminal:
        if self.is_interactive:
            import termios

            self._modes = termios.tcgetattr(self._source)
            _load_editing()
        return self

    def __exit__(self, *_: object) -> None:
        if self._modes is not None:
            import termios

            # A line that was being typed has left the terminal in the state of the line editor.
            termios.tcsetattr(self._source, termios.TCSADRAIN, self._modes)
            print(file=sys.stderr)

    def read(self) -> str | None:
        """A line from the person; raises `EOFError` when they leave."""
        if self._shows_prompt:
            return input(PROMPT)
        print(PROMPT, end="", file=sys.stderr, flush=True)
        return input()


def _load_editing() -> None:
    """Editing and history of what is typed, where the system has it."""
    try:
        import readline  # noqa: F401 - input() uses it from now on
    except ImportError:
        return
