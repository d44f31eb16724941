"""`hark session`: what the device remembers of its own conversation."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from hark.app.control.protocol import DeviceSession, SessionShown
from hark.cli.common import OK, print_json, print_note
from hark.cli.device_state import ask_running, with_stored_state
from hark.cli.options import add_state
from hark.model import Session

if TYPE_CHECKING:
    from hark.app.state.store import State

ABOUT: Final = """\
Shows what the device remembers of its conversation: the language, the last skills, the context of follow-up questions.
Or empties it. Asks the running assistant, which is found by the state directory. If none runs, reads and writes the
session that is stored there.

examples:
  hark session show
  hark session reset                     forget the context, the language and everything else that was said to last
"""


def add_options(command: argparse.ArgumentParser) -> None:
    add_state(command)
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    show = actions.add_parser("show", help="print it as JSON")
    show.add_argument("--format", choices=("json",), default="json", help="JSON, as always")
    actions.add_parser("reset", help="make it empty")


def session(options: argparse.Namespace) -> int:
    reset = options.action == "reset"
    answer = ask_running(options, DeviceSession(reset), changes=reset)
    found: Any = {}
    if isinstance(answer, SessionShown):
        found = answer.session
    else:
        found = with_stored_state(options, partial(_stored, reset), found)
    if reset:
        print_note("the session of the device is empty")
    else:
        print_json(found)
    return OK


def _stored(reset: bool, state: State) -> Any:
    if reset:
        state.save(Session())
    return (Session() if reset else state.restored or Session()).wire()
