"""`hark say`: one utterance, to the running assistant or to one that is started for it."""

from __future__ import annotations

import argparse
import sys
from typing import Final

from hark import hints
from hark.app.control.client import Connection, NoAnswer, connect
from hark.app.control.protocol import Accepted, Ended, Explained, RequestRefused, Say, SpokenText, Why
from hark.app.text import lines_of, one_line, remark, why_command
from hark.cli.common import FAILED, OK, USER_ERROR, check_text, print_note, state_path
from hark.cli.options import add_bus, add_lang, add_settings, add_state
from hark.errors import UserError

ABOUT: Final = """\
Says something to the running assistant, as if a user said it to the device: it belongs to the same conversation, and a
voice assistant answers aloud as well. With --session it belongs to a conversation of its own. If no assistant runs, one
is started for this turn and continues the conversation of the device.

The running assistant is found by the state directory. If no process uses that one and the settings name NATS servers or
the url of a bus, the assistant there is asked. With --bus, only the assistant on that bus is asked. Over a bus it is a
conversation of its own. The exit status is 0 when the utterance was answered, 1 when it was not, 2 when something has
to be corrected first.

examples:
  hark say what time is it
  hark say "what time is it" --why
  hark say "what time is it" --to answer.wav
  hark say --intent clock.skill:time_here
  hark say what is 3 times 4 --session desk
  hark say what time is it --bus ws://127.0.0.1:8181/core
"""


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("text", nargs="*", metavar="TEXT", help="what to say")
    command.add_argument("--intent", metavar="SKILL:INTENT", help="call this intent by its name, whatever the text is")
    command.add_argument(
        "--slot", action="append", default=[], metavar="NAME=VALUE", help="a slot of that intent; can be repeated"
    )
    command.add_argument("--session", metavar="NAME", help="in a conversation of this name, not in that of the device")
    command.add_argument("--to", metavar="FILE", help="write the spoken answer to a WAV file; - is standard output")
    command.add_argument("--why", action="store_true", help="also print every step on the way to the answer")
    add_settings(command)
    add_state(command)
    add_bus(command)
    add_lang(command)


def say(options: argparse.Namespace) -> int:
    words_of(options)  # before anything is started
    if options.to is not None:
        if options.bus is not None:
            raise UserError("--to starts an assistant that speaks, so it does not go with --bus")
        from hark.cli.say_alone import say_alone

        return say_alone(options)
    connection = connect(state_path(options)) if options.bus is None else None
    if connection is not None:
        with connection:
            try:
                return _say_to(connection, options)
            except NoAnswer as silent:
                print_note(f"the running assistant does not answer: {silent}")
    # Only now: where an assistant runs, none has to be loaded.
    from hark.cli.elsewhere import elsewhere

    place = elsewhere(options)
    if place is not None:
        return place.say(options)
    from hark.cli.say_alone import say_alone

    return say_alone(options)


def words_of(options: argparse.Namespace) -> tuple[str, dict[str, object] | None]:
    """What to say, and the intent to call by its name; raises `UserError`."""
    text = " ".join(options.text)
    check_text(text)
    if options.intent is None:
        if options.slot:
            raise UserError("--slot fills a slot of the intent that --intent names")
        if not text.strip():
            raise UserError(f"there is nothing to say: {hints.hark('say TEXT')}, or with --intent SKILL:INTENT")
        return text, None
    skill_id, _, intent_name = options.intent.partition(":")
    if not skill_id or not intent_name:
        raise UserError(f"--intent {options.intent}: an intent is named as SKILL:INTENT")
    slots: dict[str, str] = {}
    for slot in options.slot:
        name, separator, value = slot.partition("=")
        if not name or not separator:
            raise UserError(f"--slot {slot}: a slot is given as NAME=VALUE")
        slots[name] = value
    return text or options.intent, {"skill_id": skill_id, "intent_name": intent_name, "slots": slots}


def _say_to(connection: Connection, options: argparse.Namespace) -> int:
    heard = answered = False
    try:
        text, intent = words_of(options)
        for answer in connection.ask(Say(text, options.lang, intent, options.session)):
            if isinstance(answer, Accepted):
                heard = True
            elif isinstance(answer, SpokenText):
                print(one_line(answer.text), flush=True)
                answered = True
            elif isinstance(answer, RequestRefused):
                print_note(answer.reason)
                return USER_ERROR
            elif isinstance(answer, Ended):
                story = _story(connection, answer, options)
                return print_ending(
                    answer.outcome, answer.detail, answer.utterance_id, options, story, answered=answered
                )
    except NoAnswer:
        if not heard:
            raise
        # Another assistant is not asked: this one may have done it already.
        print_note("the assistant stopped before the end of its answer")
    return FAILED


def _story(connection: Connection, ended: Ended, options: argparse.Namespace) -> str | None:
    if not options.why:
        return None
    answer = next(iter(connection.ask(Why(ended.utterance_id))), None)
    return answer.text if isinstance(answer, Explained) else "the assistant has forgotten this turn"


def print_ending(
    outcome: str, detail: str, utterance_id: str, options: argparse.Namespace, story: str | None, *, answered: bool
) -> int:
    """Print how the turn ended, with its trace if there is one, and return the exit status."""
    ending = remark(outcome, detail, why_command(utterance_id, options.state, options.bus), answered=answered)
    if ending is not None:
        print(ending)
    if story is not None:
        print(lines_of(story))
    sys.stdout.flush()
    return OK if outcome == "complete" else FAILED
