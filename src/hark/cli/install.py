"""`hark install`: install plugins where this Hark finds them."""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib.util import find_spec
from typing import Final

from hark import hints
from hark.cli.common import OK, USER_ERROR, print_note

ABOUT: Final = """\
Installs packages into the environment that this Hark runs in, so that it finds their plugins: with pip, or with uv
where there is no pip. "hark doctor" shows what was loaded. An extra of Hark is installed in the same way.

examples:
  hark install ./hark-kitchen-timer
  hark install --editable ./hark-kitchen-timer
  hark install 'hark-voice[nats]'
"""


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("packages", nargs="+", metavar="PACKAGE", help="a folder, a wheel, or a name")
    command.add_argument("--editable", action="store_true", help="folders stay where they are: edits take effect")
    command.add_argument("--find-links", metavar="DIR", help="a folder with wheels to install from as well")


def install(options: argparse.Namespace) -> int:
    words = [word for package in options.packages for word in (["--editable"] if options.editable else []) + [package]]
    words += ["--find-links", options.find_links] if options.find_links is not None else []
    if find_spec("pip") is not None:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    else:
        command = ["uv", "pip", "install", "--quiet", "--python", sys.executable]
    try:
        done = subprocess.run([*command, *words], check=False)  # noqa: S603 - what the user typed
    except FileNotFoundError:
        print_note("this environment has neither pip nor uv; install one of them")
        return USER_ERROR
    if done.returncode != 0:
        print_note(f"the installation failed; what {'pip' if 'pip' in command[:3] else 'uv'} said is above")
        return USER_ERROR
    print_note(f"installed; see: {hints.hark('doctor')}")
    return OK
