"""Make the venv of the other engines: `install.py FOLDER` leaves FOLDER/bin/python able to run worker.py.

Standard library only. Does nothing when FOLDER already has every pinned engine, in whatever way it got it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import venv
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent / "requirements.txt"


class InstallError(Exception):
    """The engines cannot be installed; the message is what pip said."""


def ensure(folder: Path) -> bool:
    """Install the pinned engines into `folder` unless they are there; whether anything had to be done."""
    python = folder / "bin" / "python"
    if python.exists() and not _missing(python):
        return False
    if not python.exists():
        venv.create(folder, with_pip=True)
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(REQUIREMENTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InstallError(f"the engines cannot be installed:\n{done.stderr[-3000:]}")
    return True


def _missing(python: Path) -> list[str]:
    """The pins of the first block, which are the engines themselves, that the venv does not have."""
    block = REQUIREMENTS.read_text().partition("# What is measured\n")[2].partition("\n\n")[0]
    check = (
        "import sys\nfrom importlib.metadata import PackageNotFoundError, version\n"
        "for pin in sys.argv[1:]:\n"
        "    name, _, wanted = pin.partition('==')\n"
        "    try:\n        found = version(name)\n"
        "    except PackageNotFoundError:\n        found = ''\n"
        "    if found != wanted:\n        print(pin)\n"
    )
    done = subprocess.run([str(python), "-c", check, *block.split()], capture_output=True, text=True, check=True)
    return done.stdout.split()


def main() -> int:
    """Make the venv."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    try:
        ensure(parser.parse_args().folder)
    except InstallError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
