"""Running a command, and how each way to fail is reported."""

from __future__ import annotations

import argparse
import gc
import io
import logging
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Final

from hark import __version__
from hark.cli.common import OK, USER_ERROR, print_note, set_up_log
from hark.cli.parser import help_arguments, make_parser
from hark.errors import UserError

log = logging.getLogger("hark.cli")

_INTERRUPTED: Final = 130


def run_command(arguments: Sequence[str] | None) -> int:
    """Run the command of these arguments, or of those of this process, and return its exit status."""
    _prepare_streams()
    try:
        try:
            return _run(_typed() if arguments is None else arguments, own_process=arguments is None)
        finally:  # also where a help page was printed, which ends by `SystemExit`
            sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()  # the program that reads the output has read enough
        return OK
    except KeyboardInterrupt:
        logging.disable()  # what was given up half-way is no fault to report
        return _INTERRUPTED
    except (UserError, OSError) as error:
        log.debug("the command failed", exc_info=error)
        reason = str(error) if isinstance(error, UserError) else _reason(error)
        print_note(f"the output cannot be written: {reason}" if _discard_output() else reason)
        return USER_ERROR


def _run(arguments: Sequence[str], *, own_process: bool) -> int:
    parser = make_parser(__version__)
    options = parser.parse_args(help_arguments(arguments))
    if options.command is None:
        parser.print_help(sys.stderr)
        return USER_ERROR
    options.verbose += options.verbose_first
    set_up_log(options.verbose, quiet=bool(options.quiet + options.quiet_first))
    command = _command(options.command)
    if own_process:
        gc.freeze()  # what was imported stays: no later look for garbage has to pass it
    return command(options)


def _typed() -> list[str]:
    """The arguments of this process: as UTF-8 where they are that, whatever the locale says."""
    arguments = sys.argv[1:]
    try:
        return [os.fsencode(argument).decode() for argument in arguments]
    except UnicodeError:  # the name of an old file, perhaps
        return arguments


def _reason(error: OSError) -> str:
    if error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror


def _discard_output() -> bool:
    """Point standard output elsewhere if it cannot be written to: Python would report that again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return True
    return False


def _command(name: str) -> Callable[[argparse.Namespace], int]:
    gc.disable()  # what is imported stays: looking for garbage among it would take a tenth of the time
    try:
        command: Callable[[argparse.Namespace], int] = getattr(import_module(f"hark.cli.{name}"), name)
    finally:
        gc.enable()
    return command


def _prepare_streams() -> None:
    """Give a process that was started without standard streams empty ones; what they cannot show becomes "?"."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, open(nowhere, mode, closefd=False))  # noqa: SIM115 - stays open
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower() != "utf-8":
            stream.reconfigure(errors="replace")  # a locale without a letter costs that letter, not the answer
