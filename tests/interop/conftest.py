"""Peers in environments of their own, and a table of what came out of trying them.

`make interop` runs this folder; `make test` does not. A test that takes `peer` runs for each peer of the kind that it
is marked with, `@pytest.mark.peers("client")`; every test leaves a row in `.interop/results.md`.
"""

from __future__ import annotations

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
        row = Row(named, f"{trial} ({', '.join(others)})" if others else trial, report.outcome, report.duration)
        item.config.stash.setdefault(_ROWS, []).append(row)
    return report  # type: ignore[return-value]


def pytest_sessionfinish(session: pytest.Session) -> None:
    rows = session.config.stash.get(_ROWS, [])
    if rows and FOLDER.is_dir():
        lines = [f"| {row.peer} | {row.trial} | {row.outcome} | {row.seconds:.1f} s |" for row in rows]
        table = ["| peer | what was tried | outcome | took |", "|---|---|---|---:|", *lines, ""]
        (FOLDER / "results.md").write_text("\n".join(table))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    for row in config.stash.get(_ROWS, []):
        terminalreporter.write_line(f"{row.outcome:7} {row.seconds:6.1f} s  {row.peer:32} {row.trial}")
