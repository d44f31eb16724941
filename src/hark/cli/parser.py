"""The parser of the command line."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, Final, NoReturn

from hark.cli.options import LANGUAGES, DescriptionFormatter, add_verbosity

_EXAMPLES: Final = """\
examples:
  hark run                               talk to it in this terminal
  printf 'what time is it\\n' | hark run  answer each line, then exit
  hark say what time is it               one question, one answer
  hark say "what time is it" --why       ... and every step on the way to it
  hark listen question.wav               answer a recording by voice
  hark why                               explain the last turn, from any shell
  hark doctor                            what is loaded, what is not, and why
  hark new skill kitchen-timer           start a plugin package
  hark lint my-skill                     what is wrong with its sentences
  hark test shopping.talk                play a written conversation
  hark bus                               only the bus, for other programs
  hark setup                             language, place, units and name
  hark settings > hark.toml              a settings file with every key
"""
COMMANDS: Final = {
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
    "tools": "list the tools of personas, or call one",
    "session": "show or reset the session of the device",
    "forget": "delete what is kept of what people said",
    "new": "start a plugin package",
    "install": "install plugins where Hark finds them",
    "convert": "convert sentences of Home Assistant to locale files, and back",
    "lint": "check the sentences of skills",
    "test": "play conversation scripts",
    "bus": "run only the bus between processes",
    "token": "manage the tokens of clients on other machines",
    "service": "run it under systemd",
    "setup": "ask for language, place, units and name, and write them into the settings file",
    "settings": "print a settings file with every key; check or show yours",
    "completion": "print a script that completes commands and options in your shell",
    "help": "show the help of a command",
}
"""Each command with a line for `hark --help`, in the order of that page; the rest is in its module."""
_MISSING: Final = "the following arguments are required: "
_NEVER_EMPTY: Final = ("FILE", "DIR", "PATH", "PACKAGE", "SRC", "DEST", "LOCALE", "PYTHON", "URL", "ID", "SENTENCE")
"""Metavars of values that mean nothing when they are empty: an unset variable of a shell script, most often."""
_ANYWHERE: Final = ("--settings", "--state")
"""Options that people put behind the action as well, which is last: `hark token list --state DIR`."""


class _Parser(argparse.ArgumentParser):
    """A parser that suggests what is meant."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        near = _suggested(str(value), known) or f"; there are: {', '.join(known)}"
        if isinstance(action, argparse._SubParsersAction):
            raise argparse.ArgumentError(None, f"{str(value)!r} is not a command{near}")
        raise argparse.ArgumentError(action, f"{str(value)!r} is not a possible value{near}")

    def _get_values(self, action: argparse.Action, arg_strings: Any) -> Any:
        if action.metavar in _NEVER_EMPTY and "" in arg_strings:
            raise argparse.ArgumentError(action, "it is empty")
        return super()._get_values(action, arg_strings)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self._check_options_before_the_command(args)
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:  # said here, by the command they were given to, which knows its options
            options = [option for option in self._option_string_actions if option.startswith("--")]
            self.error(
                f"unknown {'option' if unknown[0].startswith('-') else 'argument'} {unknown[0]}"
                + (_suggested(unknown[0].partition("=")[0], options) if unknown[0].startswith("-") else "")
            )
        return found, unknown

    def _check_options_before_the_command(self, typed: Any) -> None:
        """An unknown option is named. Else argparse takes its value for the command, and complains about that."""
        commands = {name: parser for action in self._subparser_actions() for name, parser in action.choices.items()}
        for word in typed or () if commands else ():
            option = word.partition("=")[0]
            if word in commands or word == "--":
                return
            if option.startswith("--") and not any(known.startswith(option) for known in self._option_string_actions):
                for name in (name for name in commands if name in typed):
                    if isinstance(commands[name], _CommandParser):
                        commands[name].load()
                    if option in commands[name]._option_string_actions:
                        self.error(f"{option} goes behind the command: {self.prog} {name} {option}")
                self.error(f"unknown option {option}{_suggested(option, self._option_string_actions)}")

    def _subparser_actions(self) -> list[argparse._SubParsersAction[Any]]:
        return [action for action in self._actions if isinstance(action, argparse._SubParsersAction)]

    def error(self, message: str) -> NoReturn:
        missing = message.removeprefix(_MISSING).split(", ") if message.startswith(_MISSING) else []
        for action in self._actions:
            choices = ", ".join(LANGUAGES if action.dest == "lang" else map(str, action.choices or ()))
            if choices and str(action.metavar) in missing:
                message += f"; {action.metavar} is one of: {choices}"
            elif choices and message == f"argument {'/'.join(action.option_strings)}: expected one argument":
                message += f", such as {choices}"
        super().error(message)


def _suggested(typed: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches  # only for mistakes

    names = {name.lstrip("-"): name for name in known}  # the dashes alone make no two options alike
    near = get_close_matches(typed.lstrip("-"), names, 1)
    return f'; did you mean "{names[near[0]]}"?' if near else ""


class _CommandParser(_Parser):
    """The parser of one command. The module of the command is imported when the parser is used.

    So `hark --help` imports none of them, and `hark say` only its own: that is most of the time they take.
    """

    def __init__(self, *, module: str = "", **options: Any) -> None:
        super().__init__(formatter_class=DescriptionFormatter, **options)
        self._module = module

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self.load()
        return super().parse_known_args(args, namespace)

    def load(self) -> None:
        """Add the options of the command."""
        if self._module == "help":
            self.description = "Shows the help of a command, as COMMAND --help does; without one, the list of commands."
            self.add_argument("command", nargs="*", metavar="COMMAND", help="such as run, or token add")
            self._module = ""
        if self._module:
            command = import_module(f"hark.cli.{self._module}")
            self.description = command.ABOUT
            command.add_options(self)
            add_verbosity(self)
            for parser in _below(self):
                add_verbosity(parser, shown=False)
                for option in _ANYWHERE:
                    if option in self._option_string_actions and option not in parser._option_string_actions:
                        parser.add_argument(option, default=argparse.SUPPRESS, help=argparse.SUPPRESS)
            self._module = ""


def _below(parser: argparse.ArgumentParser) -> Iterable[argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.values()


def loaded(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of all commands with their options, by what is typed; for help pages and completion."""
    found: dict[str, argparse.ArgumentParser] = {parser.prog: parser}
    for one in _below(parser):
        if isinstance(one, _CommandParser):
            one.load()
        found |= loaded(one)
    return found


def help_arguments(arguments: Sequence[str]) -> list[str]:
    """`help X` as `X --help`."""
    words = [word for word in arguments if word not in ("-v", "-q", "--verbose", "--quiet")]
    is_asked = words[:1] == ["help"] and not any(word.startswith("-") for word in words)
    return [*words[1:], "--help"] if is_asked else list(arguments)


def make_parser(version: str) -> argparse.ArgumentParser:
    """A parser for all commands."""
    parser = _Parser(
        prog="hark", description="A voice operating system.", epilog=_EXAMPLES, formatter_class=DescriptionFormatter
    )
    parser.add_argument("--version", action="version", version=f"hark {version}")
    add_verbosity(parser, first=True)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands", parser_class=_CommandParser)
    for name, short in COMMANDS.items():
        commands.add_parser(name, help=short, module=name)
    return parser
