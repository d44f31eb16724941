"""`hark token`: which clients may connect to the bus from other machines."""

from __future__ import annotations

import argparse
import sys
import time
from typing import Final

from hark import hints
from hark.app.paths import tokens_file
from hark.app.tokens import Token, TokenFile
from hark.cli.common import OK, load_settings, print_json, state_path
from hark.cli.options import add_format, add_settings_file, add_state
from hark.model import SystemClock

ABOUT: Final = """\
Makes tokens with which clients connect to the bus, from other machines or under a name of their own, and revokes them.
A token is shown once, when it is made; only a hash of it is stored. It allows every topic but the private ones of
Hark's own services; --service allows those as well. --emit and --receive allow only the topics that match, where *
stands for anything. --source and --session allow only Messages of these sources and sessions. A client whose token is
revoked is disconnected within a second.

examples:
  hark token add kitchen
  hark token add doorbell --emit ovos.utterance.handle --receive 'ovos.utterance.*'
  hark token add bedroom --source bedroom --session bedroom
  hark token add speaker --service       for hark run --service speak, on another machine
  hark token list
  hark token revoke kitchen
"""
_LIMITS: Final = ("emit", "receive", "sources", "sessions")


def add_options(command: argparse.ArgumentParser) -> None:
    add_settings_file(command)
    add_state(command)
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    add = actions.add_parser("add", help="make a token and print it")
    add.add_argument("name", metavar="NAME", help="the client it is for")
    add.add_argument("--emit", action="append", metavar="PATTERN", help="topics it may emit; else all")
    add.add_argument("--receive", action="append", metavar="PATTERN", help="topics it may receive; else all")
    add.add_argument("--source", action="append", metavar="NAME", help="the source its Messages must have; else any")
    add.add_argument("--session", action="append", metavar="ID", help="the session its Messages must be of; else any")
    add.add_argument("--service", action="store_true", help="for a service of Hark: private topics as well")
    add_format(actions.add_parser("list", help="print which tokens there are and what they allow"))
    revoke = actions.add_parser("revoke", help="accept a token no longer")
    revoke.add_argument("name", metavar="NAME", help="the client it was made for")


def token(options: argparse.Namespace) -> int:
    file = TokenFile(tokens_file(load_settings(options).bus.tokens, state_path(options)))
    if options.action == "add":
        made = file.add(
            options.name,
            SystemClock(),
            options.emit,
            options.receive,
            sources=options.source,
            sessions=options.session,
            service=options.service,
        )
        print(f'Token for "{options.name}" (shown only once):', file=sys.stderr)
        print(made)
    elif options.action == "revoke":
        file.revoke(options.name)
        print(f'Token "{options.name}" revoked.', file=sys.stderr)
    elif options.format == "json":
        print_json([_public(one) for one in file.read()])
    else:
        tokens = file.read()
        print("\n".join(map(_line, tokens)) or f"There are no tokens. One is made with: {hints.hark('token add NAME')}")
    return OK


def _public(token: Token) -> dict[str, object]:
    """What may be shown of a token."""
    return {name: getattr(token, name) for name in ("name", "made", *_LIMITS, "service")}


def _line(token: Token) -> str:
    made = time.strftime("%Y-%m-%d", time.localtime(token.made))
    emits = ", ".join(token.emit) if token.emit is not None else "everything"
    receives = ", ".join(token.receive) if token.receive is not None else "everything"
    line = f"{token.name}  made {made}  emits {emits}  receives {receives}"
    if token.sources is not None:
        line += f"  source {', '.join(token.sources)}"
    if token.sessions is not None:
        line += f"  session {', '.join(token.sessions)}"
    return line + ("  a service of Hark" if token.service else "")
