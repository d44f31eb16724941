"""Options that several commands share."""

from __future__ import annotations

import argparse
import re
import textwrap
from typing import Any, Final

from hark.errors import UserError

_TAG: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")
_EXAMPLE: Final = re.compile(r"(  \S.*?) {2,}(\S.*)")

LANGUAGES: Final = ("de-DE", "en-US", "es-ES", "fr-FR", "it-IT", "pt-PT")
"""The languages that Hark's own skills have sentences in."""


class DescriptionFormatter(argparse.HelpFormatter):
    """Wraps paragraphs at the width of the terminal, and keeps blocks with indented lines, such as examples.

    An example and what is said about it, two spaces or more apart, are on lines of their own where they are too long.
    """

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text
        blocks = text.strip("\n").split("\n\n")
        return "\n\n".join(_fitted(block, width) if "\n " in block else fill(block, width, indent) for block in blocks)

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        if isinstance(action, argparse._SubParsersAction):  # argparse forgets that their names are indented once more
            longest = max(map(len, action.choices), default=0)
            self._action_max_length = max(self._action_max_length, longest + 2 * self._indent_increment)

    def _format_args(self, action: argparse.Action, default_metavar: str) -> str:
        shown = super()._format_args(action, default_metavar)
        return (
            f"[{shown}]"
            if action.nargs == argparse.PARSER and action.dest == "action" and not action.required
            else shown
        )


def _fitted(block: str, width: int) -> str:
    lines = []
    for line in block.splitlines():
        example = _EXAMPLE.fullmatch(line) if len(line) > width else None
        lines.append(line if example is None else example[1])
        if example is not None:
            lines += textwrap.wrap(
                example[2], width, initial_indent=" " * 6, subsequent_indent=" " * 6, break_on_hyphens=False
            )
    return "\n".join(lines)


def add_verbosity(command: argparse.ArgumentParser, *, shown: bool = True, first: bool = False) -> None:
    """Add -v and -q; those before the command are the `first` ones."""
    default: Any = 0 if shown else argparse.SUPPRESS
    ending = "_first" if first else ""
    more, less = ("log more; -vv logs everything", "log errors only") if shown else (argparse.SUPPRESS,) * 2
    command.add_argument("-v", "--verbose", action="count", default=default, dest=f"verbose{ending}", help=more)
    command.add_argument("-q", "--quiet", action="count", default=default, dest=f"quiet{ending}", help=less)


def add_format(command: argparse.ArgumentParser, *, json_alias: bool = False) -> None:
    """Add --format; `json_alias`: and --json, as it was named first."""
    command.add_argument(
        "--format", choices=("text", "json"), default="text", help="for people, or for programs; default: text"
    )
    if json_alias:
        command.add_argument("--json", dest="format", action="store_const", const="json", help=argparse.SUPPRESS)


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
    command.add_argument("--lang", type=_lang, metavar="TAG", help=f"the language: {', '.join(LANGUAGES)}, ...")


def add_bus(command: argparse.ArgumentParser) -> None:
    command.add_argument("--bus", metavar="URL", help="ask the assistant on this bus: ws://... or nats://...")


def check_services(options: argparse.Namespace) -> None:
    """Raise `UserError` where --service, --split and --voice have no meaning together."""
    if options.service and options.split:
        raise UserError("--split runs every service; --service runs some of them: choose one")
    if options.voice and options.service and not {"hear", "speak"} & {*options.service}:
        raise UserError("--voice is for the services hear and speak, and --service names neither")


def _lang(text: str) -> str:
    if _TAG.fullmatch(text) is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a language tag; Hark comes with {', '.join(LANGUAGES)}")
    return text
