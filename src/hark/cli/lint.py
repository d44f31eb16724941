"""`hark lint`: locale folders, looked over."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from hark.cli.common import FAILED, OK
from hark.tools.lint import as_json, as_text, check


def lint(options: argparse.Namespace) -> int:
    """Print what was found; the exit status is 1 when something has to be mended."""
    report = check([Path(path) for path in options.paths])
    if options.format == "json":
        print(as_json(report))
    else:
        print(as_text(report, colours=sys.stdout.isatty() and "NO_COLOR" not in os.environ))
    return FAILED if report.fails(options.strict) else OK
