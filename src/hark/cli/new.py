"""`hark new`: the beginning of a plugin package."""

from __future__ import annotations

import argparse
from pathlib import Path

from hark.cli.common import OK
from hark.tools.scaffold import PackageNames, write


def new(options: argparse.Namespace) -> int:
    """Write the package and say what to do next."""
    names = PackageNames.of(options.name, options.kind)
    folder = Path(options.into) if options.into is not None else Path(names.package)
    for path in write(options.kind, names, folder):
        print(path)
    print(f"\nNext: cd {folder} && pip install -e '.[dev]' && pytest && hark doctor")
    return OK
