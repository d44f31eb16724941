"""What can be typed after `hark`."""

from __future__ import annotations

import argparse
import re
from typing import Final

from hark.app.commands import bus, convert, test, token
from hark.app.commands.about_voice import DEVICES, LISTEN, add_listen_options

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
_RUN: Final = """\
Runs an assistant and lets you talk to it. In a terminal it is a conversation that Ctrl-D ends. When standard input is
not a terminal, each line is an utterance; it is answered before the next one is read, and the assistant leaves after
the last. Answers go to standard output, a line each, everything else to standard error.

examples:
  hark run
  printf 'what time is it\\nsay hello world\\n' | hark run
  hark run --dev                         while you write a plugin: the next turn uses what you saved
  hark run --stay </dev/null             as a service, until SIGTERM
  hark run --split                       in several processes: one that dies is started again
  hark run --room act --bus ws://127.0.0.1:8181/core
  hark run --voice                       by microphone and loudspeaker
  hark run --state /tmp/try --no-plugins
"""
_SAY: Final = """\
Says something to the assistant that runs, in a session of its own; when none runs, to one that is started for this
and continues the device's own session. The exit status is 0 when it was answered, 1 when it was not, 2 when something
has to be put right first.

examples:
  hark say what time is it
  hark say "what time is it" --why
  hark say "what time is it" --to answer.wav
"""
_WHY: Final = """\
Tells who did what with an utterance: which transformer changed it, who declined it and why, who answered, and how long
each step took. Asks the assistant that runs; when none runs, looks into what the last one left on disk.

examples:
  hark why                               the last turn
  hark why 3f2a                          the last turn whose id begins so
"""
_DOCTOR: Final = """\
Tells what is loaded, in which order it would run and why, what is not loaded and why (with file, line and remedy), and
which settings have no effect. Asks the assistant that runs; when none runs, starts one to look at. The exit status is 1
when something needs attention.

examples:
  hark doctor
  hark doctor --json | jq .missing
  hark doctor --voice                    what could be heard and spoken with
"""
_NEW: Final = """\
Writes a package with a plugin that works, an entry point by which Hark finds it, and a test that passes.

examples:
  hark new skill kitchen-timer
  hark new transformer polite --into ~/plugins/polite
"""
_LINT: Final = """\
Looks over the locale folders of skills: file, line, column, what is wrong, how to mend it. A path is a locale folder, a
skill, a folder full of skills, or one file. The exit status is 0 when there is nothing to mend, 1 when there is, 2 when
there was nothing to look at; warnings count only with --strict. docs/lint.md explains every code.

examples:
  hark lint                              everything below this folder
  hark lint my-skill/locale --strict
  hark lint skills --format json | jq '.findings[].code'
"""
_SETTINGS: Final = """\
Prints a settings file with every key, its default and what it is for. The file is read from
$XDG_CONFIG_HOME/hark/hark.toml, or ~/.config/hark/hark.toml, unless --settings names another.

example:
  hark settings > ~/.config/hark/hark.toml
"""

_TAG: Final = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*")


def make_parser(version: str) -> argparse.ArgumentParser:
    """A parser for everything `hark` understands."""
    parser = argparse.ArgumentParser(
        prog="hark", description="A voice operating system.", epilog=_EXAMPLES, formatter_class=_Plain
    )
    parser.add_argument("--version", action="version", version=f"hark {version}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")

    run = _command(commands, "run", "run an assistant and talk to it", _RUN)
    _add_settings(run)
    _add_state(run)
    _add_lang(run)
    run.add_argument(
        "--dev",
        action="store_true",
        help="take over what you edit meanwhile: plugins, their locale folders, the settings; what is broken is told, "
        "and the old one stays",
    )
    run.add_argument("--voice", action="store_true", help="talk by microphone and loudspeaker; see docs/voice.md")
    run.add_argument("--stay", action="store_true", help="go on when the input ends, until somebody stops it")
    run.add_argument("--split", action="store_true", help="every room in a process of its own, kept alive by this one")
    run.add_argument(
        "--room",
        action="append",
        choices=("understand", "act", "hear", "speak", "bus"),
        default=[],
        help="only this room, over the bus it shares with the others; may be given more than once",
    )
    run.add_argument("--worker", action="store_true", help="with --room understand: one of several that share the work")
    run.add_argument("--bus", metavar="URL", help="where the rooms meet; else url in [bus]")
    run.add_argument("--leash", help=argparse.SUPPRESS)

    say = _command(commands, "say", "say one thing and print the answer", _SAY)
    say.add_argument("text", nargs="+", metavar="TEXT", help="what to say")
    say.add_argument("--to", metavar="FILE", help="write the spoken answer to a WAV file; - is standard output")
    say.add_argument("--why", action="store_true", help="print every step on the way to the answer as well")
    _add_settings(say)
    _add_state(say)
    _add_lang(say)

    listen = _command(commands, "listen", "answer a recording, aloud", LISTEN)
    add_listen_options(listen)
    _add_settings(listen)
    _add_state(listen)
    _add_lang(listen)

    devices = _command(commands, "devices", "list microphones and loudspeakers", DEVICES)
    _add_settings(devices)
    _add_lang(devices)

    why = _command(commands, "why", "explain a turn", _WHY)
    why.add_argument("id", nargs="?", default="", metavar="ID", help="how the id of the turn begins; else the last one")
    _add_state(why)

    doctor = _command(commands, "doctor", "say what is loaded, and what is not and why", _DOCTOR)
    doctor.add_argument("--json", action="store_true", help="print the report as JSON")
    doctor.add_argument(
        "--voice", action="store_true", help="load the engines of [voice] as well, and say how they are"
    )
    doctor.add_argument("--alone", action="store_true", help="do not ask the assistant that runs")
    _add_settings(doctor)
    _add_state(doctor)

    new = _command(commands, "new", "begin a plugin package", _NEW)
    new.add_argument("kind", choices=("skill", "transformer", "pipeline"), help="what kind of plugin")
    new.add_argument("name", metavar="NAME", help="what it is called, such as kitchen-timer")
    new.add_argument("--into", metavar="DIR", help="the folder to write; else one of the package's name, here")

    convert.add_options(_command(commands, "convert", "sentences of Home Assistant as locale files", convert.ABOUT))

    lint = _command(commands, "lint", "look over the sentences of skills", _LINT)
    lint.add_argument("paths", nargs="*", default=["."], metavar="PATH", help="what to look at; else this folder")
    lint.add_argument("--format", choices=("text", "json"), default="text", help="for people, or for programs")
    lint.add_argument("--strict", action="store_true", help="let warnings count as well")

    test.add_options(_command(commands, "test", "play conversation scripts", test.ABOUT))

    the_bus = _command(commands, "bus", "run the bus between processes by itself", bus.ABOUT)
    bus.add_options(the_bus)
    _add_settings_file(the_bus)
    _add_state(the_bus)

    tokens = _command(commands, "token", "say who may connect to the bus from elsewhere", token.ABOUT)
    _add_settings_file(tokens)
    _add_state(tokens)
    token.add_options(tokens)

    settings = _command(commands, "settings", "print a settings file with every key", _SETTINGS)
    _add_plugins(settings)
    return parser


class _Plain(argparse.RawDescriptionHelpFormatter):
    """Keeps descriptions as they are written."""


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, short: str, long: str
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=short, description=long, formatter_class=_Plain)
    command.add_argument("-v", "--verbose", action="count", default=0, help="log more; -vv logs everything")
    return command


def _add_settings(command: argparse.ArgumentParser) -> None:
    _add_settings_file(command)
    _add_plugins(command)


def _add_settings_file(command: argparse.ArgumentParser) -> None:
    command.add_argument("--settings", metavar="FILE", help="the settings file; see: hark settings --help")


def _add_plugins(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--no-plugins", dest="plugins", action="store_false", help="only what comes with Hark, no installed plugins"
    )


def _add_state(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--state",
        metavar="DIR",
        help="where the assistant keeps its state; else $XDG_STATE_HOME/hark or ~/.local/state/hark",
    )


def _add_lang(command: argparse.ArgumentParser) -> None:
    command.add_argument("--lang", type=_lang, metavar="TAG", help="the language that is spoken, such as de-DE")


def _lang(text: str) -> str:
    if _TAG.fullmatch(text) is None:
        raise argparse.ArgumentTypeError(f'{text!r} is not a language tag such as "en-US"')
    return text
