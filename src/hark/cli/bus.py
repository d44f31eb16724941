"""`hark bus`: a websocket bus in a process of its own."""

from __future__ import annotations

import argparse
from typing import Final

from hark.cli.common import OK

ABOUT: Final = """\
Runs a websocket bus, to which OVOS clients connect as they do to ovos-messagebus, and Hark's services as well. It
listens on this machine only. To accept other machines it needs a certificate and tokens; the [bus] settings name them,
and docs/bus.md shows how. Ctrl-C ends it.

examples:
  hark bus
  hark bus --port 8282
"""


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of `hark bus`."""
    command.add_argument("--host", metavar="ADDRESS", help="the address to listen at; else host in [bus]")
    command.add_argument("--port", type=_port, metavar="NUMBER", help="the port to listen at; else port in [bus]")


def bus(options: argparse.Namespace) -> int:
    """Run a bus until the process is told to stop."""
    # Imported only here: other commands build this parser too, and have to start quickly.
    from hark.cli.bus_alone import run_bus

    run_bus(options)
    return OK


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: a number up to 65535")
    return int(text)
