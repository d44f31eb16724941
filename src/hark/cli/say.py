"""`hark say`: one utterance, to the assistant that runs, or else to one of its own."""

from __future__ import annotations

import argparse
import sys

from hark.app.control.client import Connection, Silent, connect
from hark.app.control.protocol import Ended, Explained, Heard, Refused, Say, Spoken, Why
from hark.app.words import lines_of, one_line, remark, why_command
from hark.cli.common import FAILED, OK, USER_ERROR, print_note, state_path
from hark.errors import UserError


def say(options: argparse.Namespace) -> int:
    """Say something and print the answer."""
    if options.to is not None:
        if options.bus is not None:
            raise UserError("--to has an assistant of its own speak, so it does not go with --bus")
        from hark.cli.say_aloud import say_aloud

        return say_aloud(options)
    connection = connect(state_path(options)) if options.bus is None else None
    if connection is not None:
        with connection:
            try:
                return _say_to(connection, options)
            except Silent as silent:
                print_note(f"the assistant that runs does not answer: {silent}")
    # Only now: whoever finds an assistant running need not load one.
    from hark.cli.elsewhere import elsewhere

    place = elsewhere(options)
    if place is not None:
        return place.say(options)
    from hark.cli.say_alone import say_alone

    return say_alone(options)


def _say_to(connection: Connection, options: argparse.Namespace) -> int:
    heard = False
    try:
        for answer in connection.ask(Say(" ".join(options.text), options.lang)):
            if isinstance(answer, Heard):
                heard = True
            elif isinstance(answer, Spoken):
                print(one_line(answer.text), flush=True)
            elif isinstance(answer, Refused):
                print_note(answer.reason)
                return USER_ERROR
            elif isinstance(answer, Ended):
                story = _story(connection, answer, options)
                return print_ending(answer.outcome, answer.detail, answer.utterance_id, options, story)
    except Silent:
        if not heard:
            raise
        # Not asked again of another: it may have been done already.
        print_note("the assistant went away before the end of its answer")
    return FAILED


def _story(connection: Connection, ended: Ended, options: argparse.Namespace) -> str | None:
    if not options.why:
        return None
    answer = next(iter(connection.ask(Why(ended.utterance_id))), None)
    return answer.text if isinstance(answer, Explained) else "the assistant has forgotten this turn"


def print_ending(outcome: str, detail: str, utterance_id: str, options: argparse.Namespace, story: str | None) -> int:
    """Say how the turn ended, with its story if there is one; the exit status."""
    told = remark(outcome, detail, why_command(utterance_id, options.state, options.bus))
    if told is not None:
        print(told)
    if story is not None:
        print(lines_of(story))
    sys.stdout.flush()
    return OK if outcome == "complete" else FAILED
