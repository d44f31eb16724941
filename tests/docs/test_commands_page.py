"""The page of all commands is what the program says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_of_commands_has_the_help_and_the_errors_of_today() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "commands", "--check"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
