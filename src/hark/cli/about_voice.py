"""What can be typed after the commands that hear and speak. Apart from them: help needs none of what they need."""

from __future__ import annotations

import argparse
from typing import Final

from hark.cli.options import Commands, add_command, add_lang, add_settings, add_state

LISTEN: Final = """\
Takes a recording for what somebody said: recognises it, answers, and writes the spoken answer to a WAV file.
Whatever is said counts, without a wake word, unless --wake is given. The exit status is 0 when it was answered, 1
when it was not, 2 when something has to be put right first.

examples:
  hark listen question.wav                     the answer is in question.answer.wav
  hark listen question.wav --to answer.wav --why
  arecord -f S16_LE -r 16000 -d 4 -t wav | hark listen - --to answer.wav
"""
DEVICES: Final = """\
Lists the microphones and loudspeakers that the engines of [voice] find on this machine, and what keeps them from
it. The exit status is 1 when there is none to listen to, or none to play on.

example:
  hark devices
"""


def add_listen(commands: Commands[argparse.ArgumentParser]) -> None:
    """`hark listen`."""
    command = add_command(commands, "listen", "answer a recording, aloud", LISTEN)
    command.add_argument("file", metavar="FILE", help="a WAV file; - reads one from standard input")
    command.add_argument("--to", metavar="FILE", help="where the spoken answer goes; - is standard output")
    command.add_argument("--text", action="store_true", help="print the answer and do not speak it")
    command.add_argument("--wake", action="store_true", help="listen only after a wake word")
    command.add_argument("--why", action="store_true", help="print every step on the way to the answer as well")
    add_settings(command)
    add_state(command)
    add_lang(command)


def add_devices(commands: Commands[argparse.ArgumentParser]) -> None:
    """`hark devices`."""
    command = add_command(commands, "devices", "list microphones and loudspeakers", DEVICES)
    add_settings(command)
    add_lang(command)
