"""What commands share that read or change the state of the device: by the running assistant, or on disk."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, TypeVar

from hark.app.control.client import NoAnswer, connect
from hark.app.control.protocol import Answer, Request, RequestRefused
from hark.app.state.directory import Locked, StateError
from hark.cli.common import state_path
from hark.errors import UserError

if TYPE_CHECKING:
    from hark.app.state.store import State

T = TypeVar("T")


def ask_running(options: argparse.Namespace, request: Request, *, changes: bool = True) -> Answer | None:
    """What the running assistant answers; None where none runs. Raises `UserError` when it refuses or is silent.

    `changes`: the request changes something.
    """
    connection = connect(state_path(options))
    if connection is None:
        return None
    with connection:
        try:
            [answer] = connection.ask(request)
        except NoAnswer as silent:
            done = "; it may have done it all the same" if changes else ""
            raise UserError(f"the running assistant does not answer ({silent}){done}") from None
    if isinstance(answer, RequestRefused):
        raise UserError(answer.reason)
    return answer


def with_stored_state(options: argparse.Namespace, work: Callable[[State], T], otherwise: T) -> T:
    """What `work` makes of the state on disk, where no assistant runs; `otherwise` where there is none."""
    directory = state_path(options)
    if not directory.is_dir():
        return otherwise
    # Only now: asking a running assistant takes a fraction of the time.
    from hark.app.state.store import State
    from hark.model import SystemClock

    try:
        state = State(directory, SystemClock(), traces=False)
    except Locked as held:
        raise StateError(f"{held}, and does not answer; stop it, then try again") from None
    with closing(state):
        return work(state)
