"""`hark forget`: delete what is kept of turns."""

from __future__ import annotations

import argparse
import re
import time
from contextlib import closing
from datetime import datetime
from typing import Final

from hark.app.control.client import NoAnswer, connect
from hark.app.control.protocol import Forget, Forgotten, RequestRefused
from hark.app.state.directory import Locked, StateError
from hark.app.text import counted
from hark.cli.common import OK, print_note, state_path
from hark.cli.options import add_state
from hark.errors import UserError
from hark.model import SystemClock

ABOUT: Final = """\
Deletes what is kept of what people said: the traces of turns, in memory and on disk, and the session of the device,
which holds what skills remember of the conversation. With --before or --session, only the traces of these turns; the
session of the device is emptied with "--session default". Asks the running assistant, which is found by the state
directory; if none runs, deletes the files there. What skills store as their own, such as a shopping list, stays.

examples:
  hark forget                            everything
  hark forget --before 7d                all turns that are more than a week old
  hark forget --before 2026-11-01
  hark forget --session kitchen          all turns of this session
"""
_AGO: Final = re.compile(r"(\d+(?:\.\d+)?)([smhdw])")
_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--session", metavar="ID", help="only turns of this session")
    command.add_argument(
        "--before", type=_moment, metavar="WHEN", help="only turns before a date, or longer ago than 30d, 12h or 15m"
    )
    add_state(command)


def forget(options: argparse.Namespace) -> int:
    what = Forget(options.session, options.before)
    number = _of_the_running(options, what)
    if number is None:
        number = _stored(options, what)
    session = " and the session of the device" if what.empties_session else ""
    print_note(f"forgot {counted(number, 'turn')}{session}")
    return OK


def _of_the_running(options: argparse.Namespace, what: Forget) -> int | None:
    connection = connect(state_path(options))
    if connection is None:
        return None
    with connection:
        try:
            [answer] = connection.ask(what)
        except NoAnswer as silent:
            raise UserError(
                f"the running assistant does not answer ({silent}); nothing is known to be deleted"
            ) from None
    if isinstance(answer, RequestRefused):
        raise UserError(answer.reason)
    return answer.turns if isinstance(answer, Forgotten) else None


def _stored(options: argparse.Namespace, what: Forget) -> int:
    directory = state_path(options)
    if not directory.is_dir():
        return 0
    # Only now: asking a running assistant takes a fraction of the time.
    from hark.app.state.store import State
    from hark.app.stored_data import forget_stored

    try:
        state = State(directory, SystemClock(), traces=False)
    except Locked as held:
        raise StateError(f"{held}, and does not answer; stop it, then try again") from None
    with closing(state):
        return forget_stored(what, state)


def _moment(text: str) -> float:
    ago = _AGO.fullmatch(text)
    if ago is not None:
        return time.time() - float(ago[1]) * _UNITS[ago[2]]
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither a date such as 2026-11-01 nor a time such as 30d"
        ) from None
