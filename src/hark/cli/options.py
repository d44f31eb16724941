"""Options that several commands share."""

from __future__ import annotations

import argparse
import re
from typing import Final

_TAG: Final = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*")


class DescriptionFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps descriptions as they are written."""


def add_verbose(command: argparse.ArgumentParser) -> None:
    command.add_argument("-v", "--verbose", action="count", default=0, help="log more; -vv logs everything")


def add_settings(command: argparse.ArgumentParser) -> None:
    """Add --settings and --no-plugins."""
    add_settings_file(command)
    add_plugins(command)


def add_settings_file(command: argparse.ArgumentParser) -> None:
    command.add_argument("--settings", metavar="FILE", help="the settings file; see: hark settings --help")


def add_plugins(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--no-plugins", dest="plugins", action="store_false", help="only what comes with Hark, no installed plugins"
    )


def add_state(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--state",
        metavar="DIR",
        help="the state directory of the assistant; else $XDG_STATE_HOME/hark or ~/.local/state/hark",
    )


def add_lang(command: argparse.ArgumentParser) -> None:
    command.add_argument("--lang", type=_lang, metavar="TAG", help="the language to use, such as de-DE")


def add_bus(command: argparse.ArgumentParser) -> None:
    command.add_argument("--bus", metavar="URL", help="ask the assistant on this bus: ws://... or nats://...")


def _lang(text: str) -> str:
    if _TAG.fullmatch(text) is None:
        raise argparse.ArgumentTypeError(f'{text!r} is not a language tag such as "en-US"')
    return text
