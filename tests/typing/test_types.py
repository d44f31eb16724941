"""The types of the public surface: what authors write is accepted, their mistakes are found where they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from mypy import api

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FOUND = re.compile(r"(?P<path>.+?):(?P<line>\d+): error: .*\[(?P<code>[a-z-]+)\]$")
EXPECTED = re.compile(r"# E: ([a-z, -]+)$")

Fault = tuple[str, int, str]
"""File, line and mypy's code."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> set[Fault]:
    """What a strict type checker says of all of it, as it would of a third party's plugins."""
    cache = tmp_path_factory.mktemp("mypy")
    config = cache / "mypy.ini"
    config.write_text(f"[mypy]\nstrict = true\nmypy_path = {ROOT / 'src'}\n")
    files = [str(path) for path in (*(HERE / "good").glob("*.py"), *(HERE / "bad").glob("*.py"))]
    flags = ["--config-file", str(config), "--cache-dir", str(cache), "--enable-error-code", "unused-awaitable"]
    output, complaints, _ = api.run([*flags, "--no-error-summary", "--hide-error-context", *files])
    assert not complaints
    faults = [FOUND.match(line) for line in output.splitlines() if ": error: " in line]
    assert None not in faults, output
    return {(_name(Path(fault["path"])), int(fault["line"]), fault["code"]) for fault in faults if fault}


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _expected() -> Iterator[Fault]:
    for path in (HERE / "bad").glob("*.py"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if marked := EXPECTED.search(line):
                for code in marked[1].split(","):
                    yield _name(path), number, code.strip()


def test_what_authors_write_is_accepted(found: set[Fault]) -> None:
    assert not {fault for fault in found if fault[0].startswith("good/")}


def test_their_mistakes_are_found_where_they_are(found: set[Fault]) -> None:
    assert {fault for fault in found if fault[0].startswith("bad/")} == set(_expected())


def test_there_are_mistakes_to_find() -> None:
    assert len(set(_expected())) >= 15
