"""`hark test`: play conversation scripts."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hark.cli.common import FAILED, OK, USER_ERROR, load_settings, print_note, settings_path
from hark.cli.options import add_format
from hark.cli.startup import mute_refusal_log
from hark.errors import UserError
from hark.testing.scripts.report import as_json, headline, indented, summary
from hark.testing.scripts.runner import ScriptRunner
from hark.testing.scripts.setup import Setup

if TYPE_CHECKING:
    from hark.testing.scripts.voice import VoiceSetup

ABOUT: Final = """\
Plays conversation scripts on an assistant without microphone and loudspeaker, on a clock that jumps. A path is a
script, or a folder with scripts; their names end in .talk. The exit status is 0 when every conversation went as
written, 1 when one did not, 2 when a script cannot be read or there is none. docs/scripts.md explains them.

examples:
  hark test tests/talk
  hark test shopping.talk -k milk        only conversations with milk in path or title
  hark test tests/talk --format json | jq '.conversations[] | select(.passed | not)'
  hark test shopping.talk --aloud        spoken and heard, with the engines of your settings
"""


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("paths", nargs="+", metavar="PATH", help="scripts, or folders with scripts")
    command.add_argument(
        "-k", dest="name", metavar="NAME", default="", help="only conversations with this in path or title"
    )
    add_format(command)
    command.add_argument("--settings", metavar="FILE", help="the settings file, where a script names no other")
    command.add_argument(
        "--no-plugins", dest="plugins", action="store_false", help="only what comes with Hark, no installed plugins"
    )
    command.add_argument("--aloud", action="store_true", help="speak what users say, and listen to it")
    command.add_argument("--listen-back", action="store_true", help="with --aloud: recognise what Hark says as well")
    command.add_argument("--voice", metavar="ENGINE", help="with --aloud: the engine that speaks for the users")


def test(options: argparse.Namespace) -> int:
    voice = _voice_setup(options)
    setup = Setup(load_settings(options), settings_path(options)[0], installed=options.plugins)
    runner = ScriptRunner(setup, print_note, voice)
    mute_refusal_log()
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - classes that scripts name are found as by python -m
    results = []
    for script, played in runner.play(map(Path, options.paths), options.name):
        results.append(played)
        if options.format == "text":
            print(headline(played), flush=True)
            if played.difference is not None:
                print(indented(script, played.difference), flush=True)
    if voice is not None:
        voice.close()
    print(as_json(results) if options.format == "json" else summary(results))
    if not results and options.name and not runner.has_errors:
        print_note(f"no conversation has {options.name!r} in its path or title")
    if runner.has_errors or not results:
        return USER_ERROR
    return OK if all(played.passed for played in results) else FAILED


def _voice_setup(options: argparse.Namespace) -> VoiceSetup | None:
    if not options.aloud:
        if options.listen_back or options.voice:
            raise UserError("--listen-back and --voice go with --aloud")
        return None
    # Only here: scripts that are played as text do not load the voice packages.
    from hark.app.voice.sound_files import progress
    from hark.testing.scripts.voice import VoiceSetup

    return VoiceSetup(options.voice, listen_back=options.listen_back, report=progress())
