"""Where answers appear."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final, TextIO

from hark.app.words import one_line

PROMPT: Final = "> "


class Screen:
    """Standard output, an answer a line. When nobody reads it any more, `gone` is called, once and quietly."""

    def __init__(self, out: TextIO, gone: Callable[[], None], *, prompts: bool = False) -> None:
        self._out = out
        self._gone = gone
        self._is_gone = False
        self._prompts = prompts
        self.prompting = False
        """Whether a prompt is on the screen, waiting for a line."""

    def show(self, text: str) -> None:
        """Show an answer."""
        told = one_line(text)
        if self._prompts and self.prompting:
            # Over the prompt, which then comes again with what was typed so far.
            told = f"\r\x1b[K{told}\n{PROMPT}{_typed()}"
            self._write(told)
        else:
            self._write(f"{told}\n")

    def _write(self, text: str) -> None:
        if self._is_gone:
            return
        try:
            self._out.write(text)
            self._out.flush()
        except UnicodeEncodeError:
            self._write(text.encode("ascii", "replace").decode())
        except OSError:
            self._is_gone = True
            self._gone()


def _typed() -> str:
    readline = sys.modules.get("readline")
    return readline.get_line_buffer() if readline is not None else ""
