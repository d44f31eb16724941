"""`hark new`: the beginning of a plugin package."""

from __future__ import annotations

import argparse
from pathlib import Path

from hark.app.commands.common import ANSWERED
from hark.app.scaffold import Names, write


def new(options: argparse.Namespace) -> int:
    """Write the package and say what to do next."""
    names = Names.of(options.name, options.kind)
    folder = Path(options.into) if options.into is not None else Path(names.package)
    for path in write(options.kind, names, folder):
        print(path)
    print(f"\nNext: cd {folder} && pip install -e '.[dev]' && pytest && hark doctor")
    return ANSWERED
