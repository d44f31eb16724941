"""What can be typed after the commands that ask an assistant something."""

from __future__ import annotations

import argparse
from typing import Final

from hark.cli.options import Commands, add_bus, add_command, add_lang, add_settings, add_settings_file, add_state

SAY: Final = """\
Says something to the assistant that runs, in a session of its own; when none runs, to one that is started for this
and continues the device's own session. The one that runs is found in the state directory. Where nobody has that, and
the settings name NATS servers, it is asked there; --bus names the bus on which to ask, and nobody else is asked then.
The exit status is 0 when it was answered, 1 when it was not, 2 when something has to be put right first.

examples:
  hark say what time is it
  hark say "what time is it" --why
  hark say "what time is it" --to answer.wav
  hark say what time is it --bus ws://127.0.0.1:8181/core
"""
WHY: Final = """\
Tells who did what with an utterance: which transformer changed it, who declined it and why, who answered, and how long
each step took. Asks the assistant that runs, which is found as by hark say; when none runs, looks into what the last
one left on disk.

examples:
  hark why                               the last turn
  hark why 3f2a                          the last turn whose id begins so
"""
DOCTOR: Final = """\
Tells what is loaded, in which order it would run and why, what is not loaded and why (with file, line and remedy), and
which settings have no effect. Asks the assistant that runs, which is found as by hark say; when none runs, starts one
to look at. The exit status is 1 when something needs attention.

examples:
  hark doctor
  hark doctor --json | jq .missing
  hark doctor --voice                    what could be heard and spoken with
"""


def add_say(commands: Commands[argparse.ArgumentParser]) -> None:
    """`hark say`."""
    say = add_command(commands, "say", "say one thing and print the answer", SAY)
    say.add_argument("text", nargs="+", metavar="TEXT", help="what to say")
    say.add_argument("--to", metavar="FILE", help="write the spoken answer to a WAV file; - is standard output")
    say.add_argument("--why", action="store_true", help="print every step on the way to the answer as well")
    add_settings(say)
    add_state(say)
    add_bus(say)
    add_lang(say)


def add_why(commands: Commands[argparse.ArgumentParser]) -> None:
    """`hark why`."""
    why = add_command(commands, "why", "explain a turn", WHY)
    why.add_argument("id", nargs="?", default="", metavar="ID", help="how the id of the turn begins; else the last one")
    add_settings_file(why)
    add_state(why)
    add_bus(why)


def add_doctor(commands: Commands[argparse.ArgumentParser]) -> None:
    """`hark doctor`."""
    doctor = add_command(commands, "doctor", "say what is loaded, and what is not and why", DOCTOR)
    doctor.add_argument("--json", action="store_true", help="print the report as JSON")
    doctor.add_argument(
        "--voice", action="store_true", help="load the engines of [voice] as well, and say how they are"
    )
    doctor.add_argument("--alone", action="store_true", help="do not ask the assistant that runs")
    add_settings(doctor)
    add_state(doctor)
    add_bus(doctor)
