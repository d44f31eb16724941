"""What the commands have in common: their options, and how they say that something is wrong."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from pathlib import Path
from typing import Final

from hark.app.places import settings_file, state_directory

OK: Final = 0
FAILED: Final = 1
USER_ERROR: Final = 2


def state_path(options: argparse.Namespace) -> Path:
    """The state directory to use."""
    return Path(options.state) if options.state is not None else state_directory(os.environ)


def settings_path(options: argparse.Namespace) -> tuple[Path, bool]:
    """The settings file to read, and whether the user named it."""
    if options.settings is not None:
        return Path(options.settings), True
    return settings_file(os.environ), False


def print_note(text: str) -> None:
    """Tell the user what is not as it should be."""
    for line in text.splitlines():
        print(f"hark: {line}", file=sys.stderr)


def set_up_log(verbose: int) -> None:
    """Let the log go to standard error: warnings, or more when asked for."""
    level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    form = "%(asctime)s %(levelname)s %(name)s: %(message)s" if verbose else "%(levelname)s %(name)s: %(message)s"
    logging.basicConfig(level=level, format=form, stream=sys.stderr)
