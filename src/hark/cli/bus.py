"""`hark bus`: a websocket bus in a process of its own."""

from __future__ import annotations

import argparse
from typing import Final

from hark.cli.common import OK, check_applies
from hark.cli.options import add_settings_file, add_state

ABOUT: Final = """\
Runs a websocket bus, to which OVOS clients connect as they do to ovos-messagebus, and Hark's services as well. It
listens on this machine only. To accept other machines it needs a certificate and tokens; the [bus] settings name them,
and docs/bus.md shows how. Ctrl-C ends it. `hark run` has a bus of its own: `hark bus` is for services in several
processes, and for programs that need no assistant.

`hark bus pipe` connects standard input and output to a bus that runs.

examples:
  hark bus
  hark bus --port 8282
  hark bus pipe --topic 'ovos.utterance.*'
"""
PIPE: Final = """\
Sends each line of standard input to the bus: a Message as JSON. Writes what is on the bus to standard output, one
Message on each line; the first is "connected", which comes again after a lost connection. Ends when the input does,
once the bus has everything; with --until, when the Message that was waited for came, in a session of what was sent. The
exit status is 0, 1 when it did not come in time, 2 when a line was no Message or there is no bus.

examples:
  hark bus pipe --topic 'ovos.utterance.*' </dev/tty
  echo '{"type": "ovos.utterance.handle", "data": {"utterances": ["what time is it"]}}' |
    hark bus pipe --topic ovos.utterance.speak --until ovos.utterance.handled | jq -r .data.utterance
"""


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of `hark bus`."""
    command.add_argument("--host", metavar="ADDRESS", help="the address to listen at; else host in [bus]")
    command.add_argument("--port", type=_port, metavar="NUMBER", help="the port to listen at; else port in [bus]")
    actions = command.add_subparsers(dest="action", metavar="ACTION")
    pipe = actions.add_parser(
        "pipe",
        help="connect standard input and output to a bus that runs",
        description=PIPE,
    )
    pipe.add_argument("file", nargs="?", default="-", metavar="FILE", help="what to send; - is standard input")
    pipe.add_argument("--bus", metavar="URL", help="the bus: ws://... or nats://...; else the one in the settings")
    pipe.add_argument(
        "--topic", action="append", metavar="PATTERN", help="show only these topics; * stands for anything"
    )
    pipe.add_argument("--until", metavar="TOPIC", help="when the input has ended, wait for a Message on this topic")
    pipe.add_argument(
        "--timeout", type=_seconds, default=30.0, metavar="SECONDS", help="seconds to wait for it; default: 30"
    )
    add_settings_file(command)
    add_state(command)


def bus(options: argparse.Namespace) -> int:
    """Run a bus until a signal stops it, or pass Messages on to one."""
    # Imported only here: other commands build this parser too, and have to start quickly.
    if options.action == "pipe":
        check_applies(options, "bus", "host", "port")
        from hark.cli.bus_pipe import run_pipe

        return run_pipe(options)
    from hark.cli.bus_alone import run_bus

    run_bus(options)
    return OK


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return seconds


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: a number up to 65535")
    return int(text)
