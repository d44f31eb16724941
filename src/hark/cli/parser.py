"""What can be typed after `hark`."""

from __future__ import annotations

import argparse
from typing import Final

from hark.cli import bus, convert, test, token
from hark.cli.about_asking import add_doctor, add_say, add_why
from hark.cli.about_packages import add_lint, add_new, add_show_settings
from hark.cli.about_voice import add_devices, add_listen
from hark.cli.options import Commands, DescriptionFormatter, add_command, add_settings_file, add_state
from hark.cli.run import add_run

_EXAMPLES: Final = """\
examples:
  hark run                               talk to the assistant in this terminal
  printf 'what time is it\\n' | hark run  answer each line, then leave
  hark say what time is it               one question, one answer
  hark say "what time is it" --why       ... and every step on the way to it
  hark listen question.wav               answer a recording, aloud
  hark why                               explain the last turn, from any shell
  hark doctor                            what is loaded, in which order, and what is not and why
  hark new skill kitchen-timer           begin a plugin package
  hark lint my-skill                     what is wrong with its sentences, and how to mend it
  hark test shopping.talk                play a conversation that is written down
  hark bus                               the bus by itself, for several processes and for clients of OVOS
  hark settings > hark.toml              a settings file with every key
"""


def make_parser(version: str) -> argparse.ArgumentParser:
    """A parser for everything `hark` understands."""
    parser = argparse.ArgumentParser(
        prog="hark", description="A voice operating system.", epilog=_EXAMPLES, formatter_class=DescriptionFormatter
    )
    parser.add_argument("--version", action="version", version=f"hark {version}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    # In the order in which they are told about.
    for add in (
        add_run,
        add_say,
        add_listen,
        add_devices,
        add_why,
        add_doctor,
        add_new,
        _add_convert,
        add_lint,
        _add_test,
        _add_bus,
        _add_token,
        add_show_settings,
    ):
        add(commands)
    return parser


def _add_convert(commands: Commands[argparse.ArgumentParser]) -> None:
    convert.add_options(add_command(commands, "convert", "sentences of Home Assistant as locale files", convert.ABOUT))


def _add_test(commands: Commands[argparse.ArgumentParser]) -> None:
    test.add_options(add_command(commands, "test", "play conversation scripts", test.ABOUT))


def _add_bus(commands: Commands[argparse.ArgumentParser]) -> None:
    command = add_command(commands, "bus", "run the bus between processes by itself", bus.ABOUT)
    bus.add_options(command)
    add_settings_file(command)
    add_state(command)


def _add_token(commands: Commands[argparse.ArgumentParser]) -> None:
    command = add_command(commands, "token", "say who may connect to the bus from elsewhere", token.ABOUT)
    add_settings_file(command)
    add_state(command)
    token.add_options(command)
