"""The rows themselves: complete, honest about what is not tested, and in step with the tests and the page."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
CONFORMANCE = ROOT / "conformance"
SPECS = (
    "MSG-1",
    "SESSION-1",
    "SESSION-2",
    "PIPELINE-1",
    "TRANSFORM-1",
    "INTENT-1",
    "INTENT-2",
    "INTENT-3",
    "INTENT-4",
    "CONTEXT-1",
    "CONVERSE-1",
    "STOP-1",
    "FALLBACK-1",
    "COMMON-QUERY-1",
    "AUDIO-IN-1",
    "AUDIO-1",
    "SCHEDULER-1",
    "PERSONA-1",
    "TOOLS-1",
)

DOCUMENTS = {name: tomllib.loads((CONFORMANCE / "clauses" / f"{name}.toml").read_text("utf-8")) for name in SPECS}
ROWS: list[dict[str, Any]] = [row for document in DOCUMENTS.values() for row in document["row"]]
RULINGS = tomllib.loads((CONFORMANCE / "rulings.toml").read_text("utf-8"))

ALWAYS = {"id", "party", "level", "source", "text", "status"}
MORE = {"binding", "check"}
BY_STATUS = {
    "test": set(),
    "review": {"reason", "where"},
    "other-party": {"reason"},
    "ruled-out": {"ruling", "reason"},
}

every_row = pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])


# The data.


def test_there_is_one_file_for_each_specification() -> None:
    assert {path.stem for path in (CONFORMANCE / "clauses").iterdir()} == set(SPECS)
    for name, document in DOCUMENTS.items():
        assert document["spec"] == f"OVOS-{name}"
        assert set(document) == {"spec", "title", "version", "about", "row"}


def test_every_id_is_there_once_and_in_its_file() -> None:
    counts = Counter(row["id"] for row in ROWS)
    assert [row for row, count in counts.items() if count > 1] == []
    for name, document in DOCUMENTS.items():
        assert all(row["id"].startswith(f"{name}/") for row in document["row"])


@every_row
def test_a_row_says_what_it_asks_of_whom_and_how_it_stands(row: dict[str, Any]) -> None:
    assert row["status"] in BY_STATUS
    wanted = ALWAYS | BY_STATUS[row["status"]]
    # A row that is tested may have an exception by a ruling.
    excepted = {"ruling", "reason"} if row["status"] == "test" and "ruling" in row else set()
    assert wanted | excepted <= row.keys() <= wanted | excepted | MORE
    assert row["level"] in ("MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY")
    assert row["source"] in ("text", "later", "changelog", "shipped", "replaced")
    assert row.get("binding", "definition") in ("definition", "unseen")
    for name in wanted | MORE:
        assert name not in row or (row[name].strip() == row[name] and row[name])
    if "reason" in row:
        assert len(row["reason"].split()) >= 3, "a reason is a sentence"
    if "ruling" in row:
        assert row["ruling"] in RULINGS
    if "where" in row:
        assert (ROOT / row["where"]).is_file()


def test_nothing_that_binds_by_must_is_waved_through_as_not_done() -> None:
    for row in ROWS:
        if row["status"] == "review" and row["level"] in ("MUST", "MUST NOT"):
            assert not row["reason"].startswith("Not done"), row["id"]


# The fixtures.


@pytest.mark.parametrize("path", sorted((CONFORMANCE / "messages").iterdir()), ids=lambda path: path.stem)
def test_a_fixture_file_holds_named_cases_of_known_rows(path: Path) -> None:
    assert path.suffix == ".jsonl"
    cases = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    counts = Counter(case["name"] for case in cases)
    assert [name for name, count in counts.items() if count > 1] == []
    known = {row["id"] for row in ROWS}
    for case in cases:
        assert case["rows"]
        assert set(case["rows"]) <= known, case["name"]


# The page, and the marks.


def script(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "conformance"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_the_page_is_up_to_date() -> None:
    checked = script("--check")
    assert checked.returncode == 0, checked.stderr


def test_the_page_knows_the_marks_that_pytest_knows(request: pytest.FixtureRequest) -> None:
    named = json.loads(script("--marks").stdout)
    for item in request.session.items:
        if not isinstance(item, pytest.Function):  # a conversation script, which has no marks
            continue
        path = item.path.relative_to(ROOT)
        if path.name == "test_fixtures.py":
            continue  # its marks come with the cases
        parts = [*([item.cls.__name__] if item.cls is not None else []), item.originalname]
        test = "::".join([str(path), *parts])
        for mark in item.iter_markers("spec"):
            for row in mark.args:
                assert test in named.get(row, ()), f"scripts/conformance does not see that {test} shows {row}"


# The rules that the plugin enforces.

CLAUSES = """
row = [
    {id = "X-1/1.a", status = "test"},
    {id = "X-1/1.b", status = "test"},
    {id = "X-1/1.c", status = "review"},
]
"""
A = """
import pytest

@pytest.mark.spec("X-1/1.a")
def test_a(): ...
"""
B = """
import pytest

@pytest.mark.spec("X-1/1.b")
def test_b(): ...
"""
BOTH = A + B
PASSED, FAILED, REFUSED = 0, 1, 4


def run(tmp_path: Path, tests: str, *options: str, elsewhere: str = "") -> tuple[int, str]:
    """Run tests in a project of their own; the exit code and what was printed."""
    (tmp_path / "clauses").mkdir()
    (tmp_path / "clauses" / "X-1.toml").write_text(CLAUSES)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text(tests)
    if elsewhere:
        (tmp_path / "tests" / "test_elsewhere.py").write_text(elsewhere)
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = tests\nmarkers = spec(row): a row\n")
    command = [sys.executable, "-m", "pytest", "-p", "conformance_plugin", "-p", "no:cacheprovider"]
    command += [f"--conformance-clauses={tmp_path / 'clauses'}", *options]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "tests"),
        "PYTEST_ADDOPTS": "",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def test_when_every_row_is_shown_a_strict_run_passes(tmp_path: Path) -> None:
    code, told = run(tmp_path, BOTH, "--conformance-strict")
    assert code == PASSED, told
    assert "all 2 rows" in told


def test_rows_shown_by_several_workers_are_judged_together(tmp_path: Path) -> None:
    spread = ("-p", "xdist.plugin", "-n2", "--dist=loadfile", "--conformance-strict")
    code, told = run(tmp_path, A, *spread, elsewhere=B)
    assert code == PASSED, told
    assert "all 2 rows" in told


def test_a_row_that_no_worker_has_shown_fails_the_run(tmp_path: Path) -> None:
    code, told = run(tmp_path, A, "-p", "xdist.plugin", "-n2", "--conformance-strict", elsewhere="def test_it(): ...")
    assert code == FAILED, told
    assert "X-1/1.b: no test names it" in told


def test_marks_count_wherever_the_test_is(tmp_path: Path) -> None:
    code, told = run(tmp_path, A, "--conformance-strict", elsewhere=B)
    assert code == PASSED, told


def test_a_mark_for_a_row_that_does_not_exist_stops_the_run(tmp_path: Path) -> None:
    code, told = run(tmp_path, BOTH.replace("1.b", "1.z"))
    assert code == REFUSED
    assert "test_it.py::test_b" in told
    assert "X-1/1.z" in told
    assert "passed" not in told


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("def test_b(): ...", ""), "no test names it"),
        (("def test_b(): ...", 'def test_b(): pytest.skip("not today")'), "did not pass"),
        (("def test_b(): ...", "@pytest.mark.xfail\ndef test_b(): assert False"), "did not pass"),
        (("def test_b(): ...", '@pytest.mark.skipif(True, reason="no")\ndef test_b(): ...'), "did not pass"),
    ],
)
def test_a_row_that_is_not_shown_fails_a_strict_run(tmp_path: Path, change: tuple[str, str], why: str) -> None:
    code, told = run(tmp_path, A + (B.replace(*change) if change[1] else ""), "--conformance-strict")
    assert code == FAILED, told
    line = next(line for line in told.splitlines() if line.startswith("X-1/1.b: "))
    assert why in line
    assert "X-1/1.a:" not in told
    assert "X-1/1.c:" not in told, "what needs no test is not missed"


@pytest.mark.parametrize(
    "options",
    [
        ["-k", "test_a"],
        ["-m", "nothing"],
        ["tests/test_it.py::test_a"],
        ["tests/test_it.py"],
        ["--ignore=tests/test_elsewhere.py"],
        ["--deselect=tests/test_elsewhere.py::test_b"],
        ["--co"],
    ],
    ids=" ".join,
)
def test_a_run_of_some_tests_is_not_judged(tmp_path: Path, options: list[str]) -> None:
    code, told = run(tmp_path, A, "--conformance-strict", *options, elsewhere=B)
    assert code in (PASSED, 5), told
    assert "rows" not in told


def test_without_the_switch_nothing_is_judged(tmp_path: Path) -> None:
    code, told = run(tmp_path, "def test_nothing(): ...")
    assert code == PASSED, told


def test_one_test_that_passes_is_enough(tmp_path: Path) -> None:
    more = '\n\n@pytest.mark.spec("X-1/1.b")\ndef test_c(): pytest.skip("not today")\n'
    code, told = run(tmp_path, BOTH + more, "--conformance-strict", "tests")
    assert code == PASSED, told
