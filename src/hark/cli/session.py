"""`hark session`: what the device remembers of its own conversation."""

from __future__ import annotations

import argparse
from contextlib import closing
from typing import Final

import msgspec

from hark.app.control.client import NoAnswer, connect
from hark.app.control.protocol import DeviceSession, RequestRefused, SessionShown
from hark.app.state.directory import Locked, StateError
from hark.cli.common import OK, state_path
from hark.cli.options import add_state
from hark.errors import UserError
from hark.model import Session, SystemClock

ABOUT: Final = """\
Shows what is kept of the session of the device, or forgets it. Asks the running assistant, which is found by the state
directory; if none runs, reads and writes the session stored there.

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
    for action in actions.choices.values():  # people put this last, as with every other command
        action.add_argument("--state", default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def session(options: argparse.Namespace) -> int:
    reset = options.action == "reset"
    found = _of_the_running(options, reset=reset)
    if found is None:
        found = _stored(options, reset=reset)
    if not reset:
        print(msgspec.json.format(found).decode())
    return OK


def _of_the_running(options: argparse.Namespace, *, reset: bool) -> bytes | None:
    connection = connect(state_path(options))
    if connection is None:
        return None
    with connection:
        try:
            [answer] = connection.ask(DeviceSession(reset))
        except NoAnswer as silent:
            raise UserError(f"the running assistant does not answer ({silent})") from None
    if isinstance(answer, RequestRefused):
        raise UserError(answer.reason)
    return bytes(answer.session) if isinstance(answer, SessionShown) else None


def _stored(options: argparse.Namespace, *, reset: bool) -> bytes:
    directory = state_path(options)
    if not directory.is_dir():
        return b"{}"
    # Only now: asking a running assistant takes a fraction of the time.
    from hark.app.state.store import State

    try:
        state = State(directory, SystemClock(), traces=False)
    except Locked as held:
        raise StateError(f"{held}, and does not answer; stop it, then try again") from None
    with closing(state):
        if reset:
            state.save(Session())
        return msgspec.json.encode((Session() if reset else state.restored or Session()).wire())
