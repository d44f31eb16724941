"""`hark forget`: delete what is kept of turns."""

from __future__ import annotations

import argparse
import re
import time
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final

from hark.app.control.protocol import Forget, Forgotten
from hark.app.text import counted
from hark.cli.common import OK, print_note
from hark.cli.device_state import ask_running, with_stored_state
from hark.cli.options import add_state

if TYPE_CHECKING:
    from hark.app.state.store import State

ABOUT: Final = """\
Deletes what Hark keeps of what people said: the traces of turns, in memory and on disk, and the session of the device,
which holds what skills remember of the conversation. With --before or --session it deletes the traces of those turns
only; "--session default" empties the session of the device as well. Asks the running assistant, which is found by the
state directory. If none runs, deletes the files there. What skills store themselves stays: a shopping list, timers.

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
    answer = ask_running(options, what)
    number = answer.turns if isinstance(answer, Forgotten) else with_stored_state(options, partial(_forget, what), 0)
    session = " and the session of the device" if what.empties_session else ""
    print_note(f"forgot {counted(number, 'turn')}{session}")
    return OK


def _forget(what: Forget, state: State) -> int:
    from hark.app.stored_data import forget_stored

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
