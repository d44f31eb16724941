"""Peers in environments of their own, and a table of what came out of trying them.

`make interop` runs this folder; `make test` does not. A test that takes `peer` runs for each peer of the kind that it
is marked with, `@pytest.mark.peers("client")`; every test leaves a row in `.interop/results.md`. A test of a row of the
acceptance list is marked with it, `@pytest.mark.acceptance("A3")`; `.interop/acceptance.md` has the last outcome of
each row for both lines of OVOS, also of runs of single files.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from flow.hark_process import World, free_port

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = ROOT / ".interop"
PEERS: Final[dict[str, dict[str, Any]]] = tomllib.loads((Path(__file__).parent / "peers.toml").read_text())
ACCEPTANCE: Final = FOLDER / "acceptance.json"
COLUMNS: Final = ("stable", "prerelease", "stable, stock bus", "prerelease, stock bus")
_ROWS: Final = pytest.StashKey[list["Row"]]()


class Peer(msgspec.Struct, frozen=True):
    """Something that Hark is tried with."""

    name: str
    version: str
    folder: Path

    @property
    def python(self) -> Path:
        """The interpreter of a peer in Python."""
        return self.folder / "bin" / "python"


class Row(msgspec.Struct, frozen=True):
    """What came out of one trial."""

    peer: str
    trial: str
    outcome: str
    seconds: float
    acceptance: str = ""
    """The row of the acceptance list that it is a trial of."""
    column: str = ""


def peers(*kinds: str) -> list[Peer]:
    """The peers of these kinds, in the order of the file."""
    return [
        Peer(name, table.get("title") or ", ".join(table.get("packages") or table["modules"]), FOLDER / name)
        for name, table in PEERS.items()
        if table["kind"] in kinds
    ]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "peer" in metafunc.fixturenames:
        marker = metafunc.definition.get_closest_marker("peers")
        assert marker is not None, f"{metafunc.definition.name} takes a peer and does not say of which kind"
        scope = marker.kwargs.get("scope", "function")
        metafunc.parametrize("peer", peers(*marker.args), ids=lambda peer: peer.name, scope=scope)


class Assistant(World):
    """A machine on which `hark run` serves the bus on a port of its own."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.port = free_port()
        self.url = f"ws://127.0.0.1:{self.port}/core"
        self.write_settings("")

    def write_settings(self, text: str) -> None:
        super().write_settings(f"{text}\n[bus]\nport = {self.port}\n")


@pytest.fixture
def world(tmp_path: Path) -> Assistant:
    return Assistant(tmp_path)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report: pytest.TestReport = yield  # type: ignore[assignment]
    if report.when == "call" or report.outcome != "passed":
        callspec = getattr(item, "callspec", None)
        peer = callspec.params.get("peer") if callspec is not None else None
        others = [str(value) for name, value in callspec.params.items() if name != "peer"] if callspec else []
        trial = getattr(item, "originalname", item.name).removeprefix("test_").replace("_", " ")
        named = peer.version if isinstance(peer, Peer) else ""
        tried = f"{trial} ({', '.join(others)})" if others else trial
        row = Row(named, tried, report.outcome, report.duration, *_place(item, peer, others))
        item.config.stash.setdefault(_ROWS, []).append(row)
    return report  # type: ignore[return-value]


def _place(item: pytest.Item, peer: object, others: list[str]) -> tuple[str, str]:
    """The row and the column of the acceptance list that a test belongs to."""
    marker = item.get_closest_marker("acceptance")
    if marker is None:
        return "", ""
    line = marker.kwargs.get("line") or (peer.name.rpartition("-")[2] if isinstance(peer, Peer) else "")
    return marker.args[0], f"{line}, stock bus" if "stock bus" in others else line


def _note_acceptance(rows: list[Row]) -> None:
    """Put the outcomes of this run into the table, over those of earlier ones. A row passes if all its trials do."""
    table: dict[str, dict[str, str]] = json.loads(ACCEPTANCE.read_text()) if ACCEPTANCE.exists() else {}
    for row in rows:
        table.setdefault(row.acceptance, {}).pop(row.column, None)
    for row in rows:
        if table[row.acceptance].get(row.column, "passed") == "passed":
            table[row.acceptance][row.column] = row.outcome
    ACCEPTANCE.write_text(json.dumps(table))
    lines = [f"| row | {' | '.join(COLUMNS)} |", "|---|" + "---|" * len(COLUMNS)]
    for name in sorted(table, key=lambda name: (int("".join(filter(str.isdigit, name))), name)):
        lines.append(f"| {name} | {' | '.join(table[name].get(column, '') for column in COLUMNS)} |")
    ACCEPTANCE.with_suffix(".md").write_text("\n".join([*lines, ""]))


def pytest_sessionfinish(session: pytest.Session) -> None:
    rows = session.config.stash.get(_ROWS, [])
    if rows and FOLDER.is_dir():
        lines = [f"| {row.peer} | {row.trial} | {row.outcome} | {row.seconds:.1f} s |" for row in rows]
        table = ["| peer | what was tried | outcome | took |", "|---|---|---|---:|", *lines, ""]
        (FOLDER / "results.md").write_text("\n".join(table))
        _note_acceptance([row for row in rows if row.acceptance])


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    for row in config.stash.get(_ROWS, []):
        terminalreporter.write_line(f"{row.outcome:7} {row.seconds:6.1f} s  {row.peer:32} {row.trial}")
