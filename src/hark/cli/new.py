"""`hark new`: start a plugin package."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Final

from hark import hints
from hark.cli.common import OK
from hark.errors import UserError
from hark.spec import TRANSFORMER_TYPES
from hark.tools.scaffold import PackageNames, write

ABOUT: Final = """\
Writes a package with a plugin that works, an entry point by which Hark finds it, and a test that passes.

examples:
  hark new skill kitchen-timer
  hark new transformer polite --into ~/plugins/polite
  hark new transformer guard --kind dialog
"""


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "kind", choices=("skill", "transformer", "pipeline"), metavar="KIND", help="the kind of plugin: %(choices)s"
    )
    command.add_argument(
        "--kind",
        dest="chain",
        choices=TRANSFORMER_TYPES,
        metavar="CHAIN",
        help="the chain of a transformer: %(choices)s; default: utterance",
    )
    command.add_argument("name", metavar="NAME", help="the name of the plugin, such as kitchen-timer")
    command.add_argument("--into", metavar="DIR", help="the folder to create; else one named after the package, here")


def new(options: argparse.Namespace) -> int:
    if options.kind != "transformer" and options.chain is not None:
        raise UserError(f"--kind names the chain of a transformer; it goes with: {hints.hark('new transformer')}")
    kind = f"transformer-{options.chain or 'utterance'}" if options.kind == "transformer" else options.kind
    names = PackageNames.of(options.name, kind)
    folder = Path(options.into) if options.into is not None else Path(names.package)
    for path in write(kind, names, folder):
        print(path)
    install, test = hints.hark("install --editable '.[dev]'", anywhere=True), hints.python("-m pytest", anywhere=True)
    print(f"\nNext: cd {shlex.quote(str(folder))} && {install} && {test} && {hints.hark('doctor', anywhere=True)}")
    return OK
