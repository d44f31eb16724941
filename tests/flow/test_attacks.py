"""A part of fuzz/run_attacks.py, which has them all: what takes little time, of each kind."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FUZZ = Path(__file__).parents[2] / "fuzz"
QUICK = {
    "bus": {
        "private topics",
        "foreign hosts",
        "a session of 3.9 MB, twice",
        "10,000 candidates",
        "utterances that are none",
        "a pipeline that leads nowhere",
        "ending the turns of others",
        "taking skills away",
        "speech with control characters",
        "2,000 queries",
    },
    "identity": {
        "calls of handlers without a turn",
        "markers with the context of others",
        "a question in the turn of another",
        "signals by way of the scheduler",
        "language tags of megabytes",
    },
    "frames": {
        "frames that break the protocol",
        "requests that are read in two ways",
        "a request behind a request",
        "private topics in binary frames",
    },
    "sessions": {"handlers that were never called", "denials in the session of another", "ids of turns that are taken"},
    "registrations": {"names that are paths and topics", "registrations of every wrong type", "personas of a client"},
    "servers": {"a bus that sends a Message of 300 MB"},
    "control": {"lines that are no requests", "300 reports that are not read", "files that others can open"},
    "files": {"links in the state directory", "a disk that fills up meanwhile", "a trace with control characters"},
    "command_line": {"words that control the terminal", "names that lead elsewhere"},
}


@pytest.fixture
def fuzz(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(FUZZ))
    import run_attacks  # type: ignore[import-not-found, unused-ignore]

    yield run_attacks
    for name in [name for name in sys.modules if name == "run_attacks" or name.partition(".")[0] == "attacks"]:
        del sys.modules[name]


@pytest.mark.parametrize("surface", QUICK)
def test_no_attack_breaks_a_promise(fuzz: Any, surface: str) -> None:
    attacks = [one for one in getattr(fuzz, surface).ATTACKS if one.name in QUICK[surface]]
    assert len(attacks) == len(QUICK[surface])
    with fuzz.running() as target:
        for attack in attacks:
            row = asyncio.run(fuzz.attempt(attack, target))
            assert row.is_kept, str(row)
