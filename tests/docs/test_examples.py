"""Everything the documentation shows runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    pytest.param(block, id=f"{page.name}-{number}")
    for page in PAGES
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL), 1)
]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs_and_says_something(path: Path) -> None:
    done = subprocess.run([sys.executable, "-W", "error", path], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_examples_are_there() -> None:
    assert len(EXAMPLES) >= 2
    assert len(BLOCKS) >= 6


@pytest.mark.parametrize("block", BLOCKS)
async def test_what_a_page_shows_holds(block: str) -> None:
    names: dict[str, object] = {"__name__": "shown_on_a_page"}
    exec(compile(block, "a page of the documentation", "exec"), names)
    for name, value in names.items():
        if name.startswith("test_"):
            await value()  # type: ignore[operator]
