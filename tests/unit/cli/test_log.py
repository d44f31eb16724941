"""The log on standard error."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest

from hark.cli.common import LogThrottle, set_up_log

StartLog = Callable[[int], None]


@pytest.fixture
def start_log(monkeypatch: pytest.MonkeyPatch) -> StartLog:
    def start(verbose: int) -> None:
        monkeypatch.setattr(logging.root, "handlers", [])
        monkeypatch.setattr(logging.root, "level", logging.WARNING)
        set_up_log(verbose)

    return start


def flood(number: int, text: str = "an utterance was refused: %s") -> None:
    for count in range(number):
        logging.getLogger("hark.test").error(text, count)


def test_a_thousand_lines_of_one_kind_are_five(start_log: StartLog, capsys: pytest.CaptureFixture[str]) -> None:
    start_log(0)
    flood(1_000)
    flood(2, "something else: %s")
    lines = capsys.readouterr().err.splitlines()
    assert len([line for line in lines if "refused" in line]) == LogThrottle.MOST
    assert len([line for line in lines if "something else" in line]) == 2


def test_the_next_line_says_how_many_were_left_out(
    start_log: StartLog, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("hark.cli.common.time.monotonic", lambda: now)
    start_log(0)
    flood(105)
    now += LogThrottle.EVERY
    flood(1)
    assert capsys.readouterr().err.endswith("an utterance was refused: 0 (and 100 more like it)\n")


def test_who_wants_every_line_gets_it(start_log: StartLog, capsys: pytest.CaptureFixture[str]) -> None:
    start_log(1)
    flood(50)
    assert len(capsys.readouterr().err.splitlines()) == 50


def test_what_a_client_sends_cannot_pass_for_a_line_of_the_log_or_steer_the_terminal(
    start_log: StartLog, capsys: pytest.CaptureFixture[str]
) -> None:
    start_log(0)
    logging.getLogger("hark.test").warning("topic %s", "a\nERROR hark.bus: forged\x1b[2J\u202e")
    assert capsys.readouterr().err.endswith(" WARNING hark.test: topic a\n    ERROR hark.bus: forged [2J\n")
