"""`hark lint`: check locale folders."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Final

from hark.cli.common import FAILED, OK
from hark.cli.options import add_format
from hark.tools.lint import as_json, as_text, check

ABOUT: Final = """\
Checks the locale folders of skills and reports file, line, column, what is wrong and how to fix it. A path is a locale
folder, a skill, a folder full of skills, or one file. The exit status is 0 when there is nothing to fix, 1 when there
is, 2 when there was nothing to check; warnings count only with --strict. docs/lint.md explains every code.

examples:
  hark lint                              everything below this folder
  hark lint my-skill/locale --strict
  hark lint skills --format json | jq '.findings[].code'
"""


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("paths", nargs="*", default=["."], metavar="PATH", help="what to check; else this folder")
    add_format(command)
    command.add_argument("--strict", action="store_true", help="count warnings as well")


def lint(options: argparse.Namespace) -> int:
    report = check([Path(path) for path in options.paths])
    if options.format == "json":
        print(as_json(report))
    else:
        print(as_text(report, colours=sys.stdout.isatty() and not os.environ.get("NO_COLOR")))
    return FAILED if report.fails(options.strict) else OK
