"""The command line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Final

from hark import __version__
from hark.app.commands.common import ANSWERED, MISTAKE, complain, set_up_log
from hark.app.places import NoPlace

_SIGINT: Final = 130

_EXAMPLES: Final = """\
examples:
  hark run                               talk to the assistant in this terminal
  printf 'what time is it\\n' | hark run  answer each line, then leave
  hark say what time is it               one question, one answer
  hark say "what time is it" --why       ... and every step on the way to it
  hark why                               explain the last turn, from any shell
  hark settings > hark.toml              a settings file with every key
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; the exit status: 0 answered, 1 not answered, 2 something to be put right."""
    options = _parser().parse_args(arguments)
    if options.command is None:
        _parser().print_help(sys.stderr)
        return MISTAKE
    set_up_log(options.verbose)
    try:
        status = _command(options.command)(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # Who reads has read enough. Python would complain once more when it closes standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ANSWERED
    except KeyboardInterrupt:
        return _SIGINT
    except Exception as error:
        if not _is_users(error):
            raise
        complain(str(error))
        return MISTAKE
    return status


def _command(name: str) -> Callable[[argparse.Namespace], int]:
    # Each imports what it needs and no more: asking a running assistant takes a tenth of what being one takes.
    if name == "run":
        from hark.app.commands.run import run

        return run
    if name == "say":
        from hark.app.commands.say import say

        return say
    if name == "why":
        from hark.app.commands.why import why

        return why
    from hark.app.commands.show_settings import show_settings

    return show_settings
