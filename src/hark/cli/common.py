"""What all commands share: exit statuses, the paths they work with, messages and the log."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from pathlib import Path
from typing import Final

from hark.app.paths import settings_file, state_directory

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


def print_note(text: str) -> None:
    """Print a message for the user on standard error, each line marked as Hark's."""
    for line in text.splitlines():
        print(f"hark: {line}", file=sys.stderr)


def set_up_log(verbose: int) -> None:
    """Log to standard error: warnings, with `verbose` 1 information too, with 2 everything."""
    level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    form = "%(asctime)s %(levelname)s %(name)s: %(message)s" if verbose else "%(levelname)s %(name)s: %(message)s"
    logging.basicConfig(level=level, format=form, stream=sys.stderr)
