"""`hark why`: the trace of a turn, from the running assistant or from disk."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from hark.app.control.client import Connection, NoAnswer, connect
from hark.app.control.protocol import Explained, Why
from hark.app.text import lines_of
from hark.cli.common import FAILED, OK, print_json, print_note, state_path
from hark.cli.options import add_bus, add_format, add_settings_file, add_state
from hark.errors import UserError

if TYPE_CHECKING:
    from hark.trace import TraceRecord


ABOUT: Final = """\
Explains a turn: which transformer changed the utterance, which plugins declined it and why, which one answered, and
how long each step took. Asks the running assistant, which is found in the same way as by hark say. If none runs, reads
the traces that the last one left on disk.

examples:
  hark why                               the last turn
  hark why 3f2a                          the last turn whose id begins with 3f2a
"""


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("id", nargs="?", default="", metavar="ID", help="how the id of the turn begins; else the last")
    add_settings_file(command)
    add_state(command)
    add_bus(command)
    add_format(command)


def why(options: argparse.Namespace) -> int:
    connection = connect(state_path(options)) if options.bus is None else None
    asked = _asked(connection, options.id) if connection is not None else None
    record = _looked_up(options, is_running=connection is not None) if asked is None else None
    if asked is None and record is None:
        return FAILED
    if options.format == "json":
        print_json(asked.record if asked is not None else record)
    elif asked is not None:
        print(lines_of(asked.text))
    elif record is not None:
        from hark.trace import render  # only now: a running assistant renders it itself

        print(lines_of(render(record)))
    return OK


def _asked(connection: Connection, wanted: str) -> Explained | None:
    with connection:
        try:
            for answer in connection.ask(Why(wanted)):
                if isinstance(answer, Explained):
                    return answer
        except NoAnswer as silent:
            print_note(f"the running assistant does not answer ({silent}); this is from disk")
    return None


def _looked_up(options: argparse.Namespace, *, is_running: bool) -> TraceRecord | None:
    """The trace from the bus where the assistant is elsewhere, else from disk; prints a note when there is none."""
    from hark.app.state.trace_file import find

    directory, wanted = state_path(options), options.id
    which = f'no turn with an id that begins with "{wanted}"' if wanted else "no turn"
    if options.bus is not None:
        found = _asked_elsewhere(options)
        if found is None:
            print_note(f"there is {which} on record at any assistant on {options.bus}")
        return found
    try:
        record = None if is_running else _asked_elsewhere(options)
    except UserError as trouble:
        print_note(f"{trouble}; this is from disk")
        record = None
    record = record or find(directory, wanted)
    if record is None:
        running = "The running assistant has none" if is_running else "No assistant is running"
        print_note(f"there is {which} on record. {running}, and none is on disk in {directory}")
    return record


def _asked_elsewhere(options: argparse.Namespace) -> TraceRecord | None:
    from hark.cli.elsewhere import elsewhere

    place = elsewhere(options)
    return place.find_trace(options.id) if place is not None else None
