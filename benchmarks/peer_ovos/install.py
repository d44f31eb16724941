"""Make the peer's venv: `install.py FOLDER` leaves FOLDER/bin/python able to run measure.py.

Standard library only. Does nothing when FOLDER already holds what requirements.txt asks for. Padatious and what only it
needs are the part that may have to be compiled: if the whole list cannot be installed, it is tried without them, and
that is said.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import venv
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent / "requirements.txt"
PADATIOUS_ONLY = ("ovos-padatious==", "PyStemmer==")
REMEDY = (
    "Remedy: install a C compiler and Python's headers and, for a padatious release that still uses the FANN library, "
    "that library and SWIG (on Debian: apt-get install gcc python3-dev libfann-dev swig); then remove the venv and run "
    "again."
)


class InstallError(Exception):
    """The peer cannot be installed; the message says what to do."""


def ensure(folder: Path) -> list[str]:
    """Install the pinned peer into `folder` unless it is there, and return what the reader has to be told."""
    wanted = REQUIREMENTS.read_text()
    stamp = folder / "hark-bench.stamp"
    digest = hashlib.sha256(wanted.encode()).hexdigest()
    python = folder / "bin" / "python"
    if stamp.is_file() and python.exists():
        found, *notes = stamp.read_text().splitlines()
        if found == digest:
            return notes
    venv.create(folder, with_pip=True, clear=True)
    notes = []
    failure = _install(python, REQUIREMENTS)
    if failure:
        reduced = folder / "requirements-reduced.txt"
        lines = wanted.splitlines(keepends=True)
        reduced.write_text("".join(line for line in lines if not line.startswith(PADATIOUS_ONLY)))
        second = _install(python, reduced)
        if second:
            raise InstallError(f"the pinned ovos-core cannot be installed:\n{second}\n{REMEDY}")
        reason = failure.splitlines()[-1]
        notes = [f"padatious could not be installed ({reason}); measured without it. {REMEDY}"]
    stamp.write_text("\n".join([digest, *notes]) + "\n")
    return notes


def _install(python: Path, requirements: Path) -> str:
    """Run pip; empty when it worked, else the errors it printed."""
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(requirements)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    errors = [line for line in done.stderr.splitlines() if line.lstrip().lower().startswith("error")]
    return "\n".join(errors) or done.stderr[-2000:] or "pip failed without a word"


def main() -> int:
    """Make the venv and print the notes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    try:
        notes = ensure(arguments.folder)
    except InstallError as error:
        print(error, file=sys.stderr)
        return 1
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
