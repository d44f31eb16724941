"""`hark token`: which clients may connect to the bus from other machines."""

from __future__ import annotations

import argparse
import sys
import time
from typing import Final

from hark.app.paths import tokens_file
from hark.app.settings import read_settings
from hark.app.tokens import Token, TokenFile
from hark.cli.common import OK, settings_path, state_path
from hark.cli.options import add_settings_file, add_state
from hark.model import SystemClock

ABOUT: Final = """\
Creates and revokes the tokens with which clients on other machines connect to the bus. A token is shown once, when it
is made; only a hash of it is stored. Without --emit and --receive it allows every topic; with them, the topics that
match, where * stands for anything. A client whose token is revoked is disconnected within a second.

examples:
  hark token add kitchen
  hark token add doorbell --emit ovos.utterance.handle --receive 'ovos.utterance.*'
  hark token list
  hark token revoke kitchen
"""


def add_options(command: argparse.ArgumentParser) -> None:
    add_settings_file(command)
    add_state(command)
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    add = actions.add_parser("add", help="make a token and print it")
    add.add_argument("name", metavar="NAME", help="the client it is for")
    add.add_argument("--emit", action="append", metavar="PATTERN", help="topics it may emit; else all")
    add.add_argument("--receive", action="append", metavar="PATTERN", help="topics it may receive; else all")
    actions.add_parser("list", help="print the tokens and what each allows")
    revoke = actions.add_parser("revoke", help="refuse a token from now on")
    revoke.add_argument("name", metavar="NAME", help="the client whose token it is")
    for action in actions.choices.values():  # people put these last, as with every other command
        for option in ("--settings", "--state"):
            action.add_argument(option, default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def token(options: argparse.Namespace) -> int:
    path, named = settings_path(options)
    file = TokenFile(tokens_file(read_settings(path, named=named).bus.tokens, state_path(options)))
    if options.action == "add":
        made = file.add(options.name, SystemClock(), options.emit, options.receive)
        print(f'Token for "{options.name}" (shown only once):', file=sys.stderr)
        print(made)
    elif options.action == "revoke":
        file.revoke(options.name)
        print(f'Token "{options.name}" revoked.', file=sys.stderr)
    else:
        for one in file.read():
            print(_line(one))
    return OK


def _line(token: Token) -> str:
    made = time.strftime("%Y-%m-%d", time.localtime(token.made))
    emits = ", ".join(token.emit) if token.emit is not None else "everything"
    receives = ", ".join(token.receive) if token.receive is not None else "everything"
    return f"{token.name}  made {made}  emits {emits}  receives {receives}"
