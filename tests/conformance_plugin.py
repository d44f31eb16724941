"""Ties tests to rows of the specifications: `@pytest.mark.spec("PIPELINE-1/9.5.a")`.

A row that does not exist is a collection error. With `--conformance-strict`, a run of all tests fails when a row whose
status is `test` was not shown by a test that passed; a run of some tests is not judged. The rows travel with the test
reports, so that the process that distributes tests over workers (pytest-xdist) judges the results of all of them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CLAUSES = Path(__file__).parent.parent / "conformance" / "clauses"
PROPERTY = "spec"
"""The user property of a test report that holds a row."""


def read_rows(clauses: Path) -> dict[str, dict[str, Any]]:
    """Every row of every specification, by its id."""
    documents = [tomllib.loads(path.read_text("utf-8")) for path in sorted(clauses.glob("*.toml"))]
    return {row["id"]: row for document in documents for row in document["row"]}


def rows_of(item: pytest.Item) -> Iterator[str]:
    """The rows a test names."""
    for mark in item.iter_markers("spec"):
        yield from mark.args


class Conformance:
    """Records which rows were shown in this session."""

    def __init__(self, rows: dict[str, dict[str, Any]], strict: bool) -> None:
        self.rows = rows
        self.strict = strict
        self.named: dict[str, set[str]] = {}
        """By row: the tests that name it."""
        self.shown: set[str] = set()
        """Rows with a test that passed."""
        self.missing: list[str] = []
        self.judged = False
        self._whole = True

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        unknown = []
        for item in items:
            named = frozenset(rows_of(item))
            item.user_properties += [(PROPERTY, row) for row in sorted(named)]
            unknown += [
                f"{item.nodeid}: no specification has a row {row!r}" for row in sorted(named - self.rows.keys())
            ]
        if unknown:
            raise pytest.UsageError(*unknown)

    def pytest_deselected(self) -> None:
        self._whole = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        rows = {str(row) for name, row in report.user_properties if name == PROPERTY}
        for row in rows:
            self.named.setdefault(row, set()).add(report.nodeid.partition("[")[0])
        if report.when == "call" and report.passed and not hasattr(report, "wasxfail"):
            self.shown |= rows

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        finished = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        stopped = session.shouldfail or session.shouldstop
        self.judged = self.strict and self._whole and finished and not stopped and covers_all(session.config)
        if self.judged:
            wanted = [row for row, clause in self.rows.items() if clause["status"] == "test"]
            self.missing = [row for row in wanted if row not in self.shown]
            if self.missing and exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.judged:
            return
        wanted = sum(clause["status"] == "test" for clause in self.rows.values())
        if not self.missing:
            terminalreporter.write_line(f"conformance: all {wanted} rows that can be tested were shown")
            return
        terminalreporter.section("conformance", red=True)
        for row in self.missing:
            named = sorted(self.named.get(row, ()))
            why = f"its tests did not pass: {', '.join(named)}" if named else "no test names it"
            terminalreporter.write_line(f"{row}: {why}")
        terminalreporter.write_line(f"{len(self.missing)} of {wanted} rows were not shown", red=True)


def covers_all(config: pytest.Config) -> bool:
    """Whether this run was asked for all tests there are."""
    option = config.option
    if option.collectonly or option.keyword or option.markexpr or option.ignore or option.ignore_glob:
        return False
    if option.deselect or getattr(option, "lf", False):  # a process that distributes tests is not told of deselections
        return False
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        return True
    wanted = [config.rootpath / path for path in config.getini("testpaths")]
    given = [(config.invocation_params.dir / argument).resolve() for argument in config.args]
    return all(any(path.is_relative_to(argument) for argument in given) for path in wanted)


def pytest_addoption(parser: pytest.Parser) -> None:
    """How strict to be, and about what."""
    group = parser.getgroup("conformance")
    group.addoption(
        "--conformance-strict",
        action="store_true",
        help="fail a run of all tests when a row of the specifications that can be tested was not shown",
    )
    group.addoption(
        "--conformance-clauses",
        type=Path,
        default=CLAUSES,
        metavar="DIR",
        help="where the rows are (default: %(default)s)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Start recording; a worker of pytest-xdist leaves the judgement to the process that started it."""
    strict = config.option.conformance_strict and not hasattr(config, "workerinput")
    rows = read_rows(config.option.conformance_clauses)
    config.pluginmanager.register(Conformance(rows, strict), "conformance")
