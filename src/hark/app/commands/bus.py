"""`hark bus`: the bus between processes, by itself."""

from __future__ import annotations

import argparse
from typing import Final

from hark.app.commands.common import ANSWERED

ABOUT: Final = """\
Runs the bus by itself, for rooms in processes of their own and for clients of OVOS, which connect to it as they do to
ovos-messagebus. It listens on this machine only. To let in other machines it needs a certificate and tokens; the [bus]
settings name them, and docs/bus.md shows how. Ctrl-C ends it.

examples:
  hark bus
  hark bus --port 8282
"""


def add_options(command: argparse.ArgumentParser) -> None:
    """What can be typed after `hark bus`."""
    command.add_argument("--host", metavar="ADDRESS", help="the address to listen at; else host in [bus]")
    command.add_argument("--port", type=_port, metavar="NUMBER", help="the port to listen at; else port in [bus]")


def bus(options: argparse.Namespace) -> int:
    """Run a bus until somebody stops it."""
    # Only here: other commands look at what can be typed, and are to be quick.
    from hark.app.commands.bus_alone import run_bus

    run_bus(options)
    return ANSWERED


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: a number up to 65535")
    return int(text)
