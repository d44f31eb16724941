"""What all commands share: exit statuses, the paths they work with, messages and the log."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hark.app.paths import settings_file, state_directory
from hark.app.text import lines_of
from hark.cli.options import LANGUAGES
from hark.errors import UserError

if TYPE_CHECKING:
    from hark.app.settings import Settings

OK: Final = 0
FAILED: Final = 1
"""The command ran, and the answer is no: nothing matched, findings were reported, a conversation failed."""
USER_ERROR: Final = 2
"""Something has to be corrected before the command can run."""


def state_path(options: argparse.Namespace) -> Path:
    """The state directory to use."""
    return Path(options.state) if options.state is not None else state_directory(os.environ)


def settings_path(options: argparse.Namespace) -> tuple[Path, bool]:
    """The settings file to read, and whether the user named it."""
    if options.settings is not None:
        return Path(options.settings), True
    return settings_file(os.environ), False


def load_settings(options: argparse.Namespace) -> Settings:
    """The settings, in the language of --lang where the command has it; raises `UserError`."""
    from hark.app.settings import read_settings  # only here: a command that asks a running assistant needs none

    path, named = settings_path(options)
    settings = read_settings(path, named=named)
    lang = getattr(options, "lang", None)
    return settings if lang is None else settings.speaking(lang)


def check_applies(options: argparse.Namespace, command: str, *names: str) -> None:
    """Raise `UserError` where one of these options is given, which are for another `command`."""
    for name in names:
        if getattr(options, name):
            raise UserError(f"--{name.replace('_', '-')} goes with: hark {command}")


def check_text(text: str) -> None:
    """Raise `UserError` where what was typed is no text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UserError("what was typed is not UTF-8; check the settings of the terminal") from None


def print_note(text: str) -> None:
    """Print a message for the user on standard error, each line marked as Hark's."""
    for line in lines_of(text).splitlines():
        print(f"hark: {line}", file=sys.stderr)


def print_json(value: Any) -> None:
    """Print a value for programs; bytes are JSON already."""
    import msgspec  # only here: `hark --help` needs none

    encoded = value if isinstance(value, bytes) else msgspec.json.encode(value)
    print(msgspec.json.format(encoded).decode())


def note_language(lang: str) -> None:
    """Print a note where the skills that come with Hark do not speak a language."""
    if all(lang.partition("-")[0].lower() != known.partition("-")[0] for known in LANGUAGES):
        print_note(f"the skills of Hark do not speak {lang}; they speak {', '.join(LANGUAGES)}")


def set_up_log(verbose: int, *, quiet: bool = False) -> None:
    """Log to standard error: warnings, with `verbose` 1 information too, with 2 everything; errors only if `quiet`.

    Without `verbose` lines of one kind are throttled: no client, and no full disk, can fill the log.
    """
    level = logging.ERROR if quiet else (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    form = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_SafeFormatter(form))
    if not verbose:
        handler.addFilter(LogThrottle())
    logging.basicConfig(level=level, handlers=[handler])
    for name in ("httpx", "httpx2"):  # they log whole addresses, in which there may be keys
        logging.getLogger(name).setLevel(max(level, logging.WARNING))


class _SafeFormatter(logging.Formatter):
    """What clients and plugins bring into a record cannot control the terminal, or pass for a line of its own."""

    def format(self, record: logging.LogRecord) -> str:
        return lines_of(super().format(record)).replace("\n", "\n    ")


class LogThrottle(logging.Filter):
    """Lets `MOST` records of one kind pass in `EVERY` seconds; the next one says how many were left out.

    Records are of one kind if they come from the same logger with the same text, whatever their arguments.
    """

    MOST: Final = 5
    EVERY: Final = 10.0
    _KINDS: Final = 1_000

    def __init__(self) -> None:
        super().__init__()
        self._windows: dict[tuple[str, object], list[float]] = {}
        """Of each kind: when its window began, how many passed in it, and how many did not."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == "hark.processes":  # what a supervisor says of its own processes: few lines, and all count
            return True
        now, kind = time.monotonic(), (record.name, record.msg)
        window = self._windows.get(kind)
        if window is None or now - window[0] >= self.EVERY:
            if len(self._windows) >= self._KINDS:
                self._windows.clear()
            self._windows[kind] = [now, 1, 0]
            if window is not None and window[2]:
                record.msg = f"{record.msg!s} (and {window[2]:.0f} more like it)"
            return True
        window[1 if window[1] < self.MOST else 2] += 1
        return window[2] == 0
