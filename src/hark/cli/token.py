"""`hark token`: who may connect to the bus from elsewhere."""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING, Final

from hark.app.places import tokens_file
from hark.cli.common import OK, settings_path, state_path

if TYPE_CHECKING:
    from hark.app.tokens import Token

ABOUT: Final = """\
Gives out tokens with which clients on other machines are let onto the bus, and takes them back. A token is shown once,
when it is made; what is kept is enough to know it again. Without --emit and --receive it allows everything; with them,
the topics that fit, where * stands for anything. A client whose token is revoked is disconnected within a second.

examples:
  hark token add kitchen
  hark token add doorbell --emit ovos.utterance.handle --receive 'ovos.utterance.*'
  hark token list
  hark token revoke kitchen
"""


def add_options(command: argparse.ArgumentParser) -> None:
    """What can be typed after `hark token`."""
    deeds = command.add_subparsers(dest="deed", metavar="DEED", required=True)
    add = deeds.add_parser("add", help="make a token and print it")
    add.add_argument("name", metavar="NAME", help="who it is for")
    add.add_argument("--emit", action="append", metavar="PATTERN", help="topics it may emit; else all")
    add.add_argument("--receive", action="append", metavar="PATTERN", help="topics it may receive; else all")
    deeds.add_parser("list", help="print who has a token and what it allows")
    revoke = deeds.add_parser("revoke", help="let nobody in with a token any more")
    revoke.add_argument("name", metavar="NAME", help="whose token")
    for deed in deeds.choices.values():  # people put these last, as with every other command
        for option in ("--settings", "--state"):
            deed.add_argument(option, default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def token(options: argparse.Namespace) -> int:
    """Do with the tokens what was asked for."""
    # Only here: other commands look at what can be typed, and are to be quick.
    from hark.app.settings import read_settings
    from hark.app.tokens import TokenFile
    from hark.model import SystemClock

    path, named = settings_path(options)
    file = TokenFile(tokens_file(read_settings(path, named=named).bus.tokens, state_path(options)))
    if options.deed == "add":
        made = file.add(options.name, SystemClock(), options.emit, options.receive)
        print(f"the token of {options.name}; it is not shown again:", file=sys.stderr)
        print(made)
    elif options.deed == "revoke":
        file.revoke(options.name)
        print(f"nobody is let in with the token of {options.name} any more", file=sys.stderr)
    else:
        for one in file.read():
            print(_line(one))
    return OK


def _line(token: Token) -> str:
    made = time.strftime("%Y-%m-%d", time.localtime(token.made))
    emits = ", ".join(token.emit) if token.emit is not None else "everything"
    receives = ", ".join(token.receive) if token.receive is not None else "everything"
    return f"{token.name}  made {made}  emits {emits}  receives {receives}"
