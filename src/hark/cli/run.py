"""`hark run`: its options, and which kind of run they ask for."""

from __future__ import annotations

import argparse
import logging
from typing import Final

from hark.cli.options import add_lang, add_settings, add_state, check_services
from hark.errors import UserError

ABOUT: Final = """\
Runs an assistant that you can talk to. In a terminal it is a conversation that Ctrl-D ends. When standard input is
not a terminal, each line is an utterance; it is answered before the next one is read, and the assistant exits after
the last. Answers go to standard output, one line each; everything else goes to standard error.

examples:
  hark run
  printf 'what time is it\\nsay hello world\\n' | hark run
  hark run --dev                         while you write a plugin: the next turn uses what you saved
  hark run --stay </dev/null             as a service, until SIGTERM
  hark run --split                       in several processes: one that dies is started again
  hark run --split --workers 2           ... two of which understand
  hark run --service understand --service act --bus ws://127.0.0.1:8181/core
  hark run --voice                       by microphone and loudspeaker
  hark run --state /tmp/try --no-plugins
"""
_MOST_WORKERS: Final = 99
_SERVICES: Final = ("understand", "act", "hear", "speak", "schedule", "edge")


def add_options(command: argparse.ArgumentParser) -> None:
    add_settings(command)
    add_state(command)
    add_lang(command)
    command.add_argument(
        "--dev",
        action="store_true",
        help="reload what you edit meanwhile: plugins, their locale folders, the settings; what is broken is "
        "reported, and the old version stays",
    )
    command.add_argument("--voice", action="store_true", help="talk by microphone and loudspeaker; see docs/voice.md")
    command.add_argument("--stay", action="store_true", help="keep running when the input ends, until a signal")
    command.add_argument(
        "--split", action="store_true", help="every service in a process of its own, restarted when it dies or hangs"
    )
    command.add_argument(
        "--service",
        action="append",
        choices=_SERVICES,
        default=[],
        metavar="SERVICE",
        help="only this service (%(choices)s), over the bus it shares with the others; may be given more than once. "
        "edge is the websocket server of an assistant at NATS",
    )
    command.add_argument(
        "--room", action="append", dest="service", choices=_SERVICES, help=argparse.SUPPRESS
    )  # before 0.2
    command.add_argument(
        "--worker", action="store_true", help="with --service understand: one of several that share the work"
    )
    command.add_argument(
        "--workers", type=_count, metavar="N", help="with --split: so many processes share the work of understand"
    )
    command.add_argument(
        "--bus",
        metavar="URL",
        help="where the services meet: ws://... or nats://...; else servers in [nats], or url in [bus]",
    )
    command.add_argument("--parent-watch", help=argparse.SUPPRESS)
    command.add_argument("--part", default="", help=argparse.SUPPRESS)
    command.add_argument("--broker-user", nargs=2, help=argparse.SUPPRESS)


def run(options: argparse.Namespace) -> int:
    _check_options(options)
    # Imported where they are needed: help needs none of them, and one process not what several need.
    from hark.cli.common import load_settings

    if options.dev:
        logging.getLogger("hark.hosting.pace").setLevel(logging.INFO)
    settings = load_settings(options)
    if options.service:
        from hark.cli.run_services import run_services

        return run_services(options, settings)
    if options.split:
        from hark.cli.run_split import run_split

        return run_split(options, settings)
    from hark.cli.run_local import run_local

    return run_local(options, settings)


def _check_options(options: argparse.Namespace) -> None:
    """Raise `UserError` for options that have no meaning together."""
    if options.workers is not None and not options.split:
        raise UserError("--workers goes with --split; single workers are started with --service understand --worker")
    check_services(options)
    if options.worker and not options.service:
        raise UserError("--worker goes with --service understand")
    if options.stay and options.service:
        raise UserError("--stay has no meaning with --service: a service stays until a signal")
    if options.bus is not None and not (options.service or options.split):
        raise UserError("--bus goes with --service or --split; an assistant in one process has a bus of its own")


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= _MOST_WORKERS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {_MOST_WORKERS}")
    return int(text)
