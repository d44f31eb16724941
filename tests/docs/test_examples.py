"""Everything the documentation shows runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
README_BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs_and_says_something(path: Path) -> None:
    done = subprocess.run([sys.executable, "-W", "error", path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_examples_are_there() -> None:
    assert EXAMPLES
    assert README_BLOCKS


@pytest.mark.parametrize("number", range(len(README_BLOCKS)))
async def test_a_block_of_the_readme_holds(number: int) -> None:
    names: dict[str, object] = {"__name__": f"readme_{number}"}
    exec(compile(README_BLOCKS[number], f"README.md block {number}", "exec"), names)
    tests = [value for name, value in names.items() if name.startswith("test_")]
    for test in tests:
        await test()  # type: ignore[operator]
