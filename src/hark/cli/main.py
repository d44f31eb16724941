"""The command line."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Final

from hark import __version__
from hark.cli.common import OK, USER_ERROR, print_note, set_up_log
from hark.cli.parser import make_parser
from hark.errors import UserError

log = logging.getLogger("hark.app")

_INTERRUPTED: Final = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; the exit status: 0 answered, 1 not answered, 2 something to be put right."""
    _open_missing_streams()
    parser = make_parser(__version__)
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help(sys.stderr)
        return USER_ERROR
    set_up_log(options.verbose)
    try:
        status = _command(options.command)(options)
        sys.stdout.flush()
    except BrokenPipeError:
        _give_up_output()  # who reads has read enough
        return OK
    except KeyboardInterrupt:
        return _INTERRUPTED
    except (UserError, OSError) as error:
        log.debug("what went wrong", exc_info=error)
        print_note(str(error))
        _give_up_output()
        return USER_ERROR
    return status


def _give_up_output() -> None:
    """Python would complain once more when it closes an output that cannot be written to."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _command(name: str) -> Callable[[argparse.Namespace], int]:
    # Each imports what it needs and no more: asking a running assistant takes a fraction of what being one takes.
    place = "show_settings" if name == "settings" else name
    command: Callable[[argparse.Namespace], int] = getattr(import_module(f"hark.cli.{place}"), place)
    return command


def _open_missing_streams() -> None:
    """A process may be started without them; then there is nothing to read, and nobody reads what is written."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, open(nowhere, mode, closefd=False))  # noqa: SIM115 - stays open
