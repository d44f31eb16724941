"""`hark why`: the story of a turn, from the assistant that runs or from disk."""

from __future__ import annotations

import argparse

from hark.app.commands.common import ANSWERED, UNANSWERED, complain, state_of
from hark.app.control.client import Silent, connect
from hark.app.control.protocol import Explained, Why
from hark.app.words import lines_of


def why(options: argparse.Namespace) -> int:
    """Explain the last turn, or the one whose id begins as told."""
    directory = state_of(options)
    wanted = options.id
    connection = connect(directory)
    if connection is not None:
        with connection:
            try:
                for answer in connection.ask(Why(wanted)):
                    if isinstance(answer, Explained):
                        print(lines_of(answer.text))
                        return ANSWERED
            except Silent as silent:
                complain(f"the assistant that runs does not answer ({silent}); this is from disk")
    # Only now, for the same reason as in `say`.
    from hark.app.state.trace_file import find
    from hark.trace import render

    record = find(directory, wanted)
    if record is not None:
        print(lines_of(render(record)))
        return ANSWERED
    which = f"no turn whose id begins with {wanted}" if wanted else "no turn"
    running = "the assistant that runs had none" if connection is not None else "no assistant is running"
    complain(f"there is {which} on record: {running}, and there is none on disk in {directory}")
    return UNANSWERED
