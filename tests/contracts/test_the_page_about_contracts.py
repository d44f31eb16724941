"""The one line that docs/testing.md shows works for somebody who has pytest and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "testing.md"


def test_what_the_page_shows_is_a_test_for_each_clause(tmp_path: Path) -> None:
    [block] = re.findall(r"```py\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (tmp_path / "test_decontract.py").write_text(block)
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:asyncio", "-p", "no:cacheprovider", "-W", "error", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout
    shown = re.findall(r"^test_decontract\.py::\S+ PASSED", PAGE.read_text(), re.MULTILINE)
    assert shown
    for line in shown:
        assert line in done.stdout
