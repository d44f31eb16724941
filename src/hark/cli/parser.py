"""The parser of the command line."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any, Final

from hark.cli.options import DescriptionFormatter, add_settings_file, add_state, add_verbose

_EXAMPLES: Final = """\
examples:
  hark run                               talk to the assistant in this terminal
  printf 'what time is it\\n' | hark run  answer each line, then exit
  hark say what time is it               one question, one answer
  hark say "what time is it" --why       ... and every step on the way to it
  hark listen question.wav               answer a recording by voice
  hark why                               explain the last turn, from any shell
  hark doctor                            what is loaded, in which order, and what is not and why
  hark new skill kitchen-timer           start a plugin package
  hark lint my-skill                     what is wrong with its sentences, and how to fix it
  hark test shopping.talk                play a written conversation
  hark bus                               only the bus, for several processes and for clients of OVOS
  hark setup                             language, place, units, the assistant's name
  hark settings > hark.toml              a settings file with every key
"""
_COMMANDS: Final = {
    "run": "run an assistant and talk to it",
    "say": "say one thing and print the answer",
    "listen": "answer a recording by voice",
    "devices": "list microphones and loudspeakers",
    "why": "explain a turn",
    "explain": "compare a sentence with all intents",
    "doctor": "report what is loaded, and what is not and why",
    "transformers": "list the transformers of each chain, or try one",
    "skills": "install and remove skills: packages of Hark, and of OVOS as they are",
    "migrate": "move over from OVOS: what becomes of each skill, plugin and setting",
    "session": "show or reset the session of the device",
    "forget": "delete what is kept of what people said",
    "new": "start a plugin package",
    "convert": "convert sentences of Home Assistant to locale files, and back",
    "lint": "check the sentences of skills",
    "test": "play conversation scripts",
    "bus": "run only the bus between processes",
    "token": "manage the tokens of clients on other machines",
    "service": "run it under systemd",
    "setup": "ask for language, place, units and name, and write them into the settings file",
    "settings": "print a settings file with every key",
}
"""Each command with a line for `hark --help`, in the order of that page; the rest is in its module."""


class _CommandParser(argparse.ArgumentParser):
    """The parser of one command. The module of the command is imported when the parser is used.

    So `hark --help` imports none of them, and `hark say` only its own: that is most of the time they take.
    """

    def __init__(self, *, module: str = "", **options: Any) -> None:
        super().__init__(formatter_class=DescriptionFormatter, **options)
        self._module = module

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self._module:
            command = import_module(f"hark.cli.{self._module}")
            self.description = command.ABOUT
            add_verbose(self)
            command.add_options(self)
            if self._module == "bus":
                add_settings_file(self)
                add_state(self)
            self._module = ""
        return super().parse_known_args(args, namespace)


def make_parser(version: str) -> argparse.ArgumentParser:
    """A parser for all commands."""
    parser = argparse.ArgumentParser(
        prog="hark", description="A voice operating system.", epilog=_EXAMPLES, formatter_class=DescriptionFormatter
    )
    parser.add_argument("--version", action="version", version=f"hark {version}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands", parser_class=_CommandParser)
    for name, short in _COMMANDS.items():
        commands.add_parser(name, help=short, module=name)
    return parser
