"""`hark explain`, as a user runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hark.cli import main


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_explain_shows_the_intent_its_score_and_what_is_left_over(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "tell me a purple joke"]) == 0
    told = capsys.readouterr().out
    assert "purple (unknown)" in told
    (near,) = [line for line in told.splitlines() if line.strip().startswith("jokes.skill:joke ")]
    assert "has tell, me, a, joke" in near
    assert "leaves over purple" in near


def test_explain_says_so_when_a_sentence_fits_as_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "what time is it"]) == 0
    assert "clock.skill:time_here, as written" in capsys.readouterr().out


def test_explain_takes_a_language(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--lang", "de-DE", "wie spät ist es"]) == 0
    assert "clock.skill:time_here, as written" in capsys.readouterr().out


def test_explain_leaves_out_what_is_put_around_a_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "hey jarvis could you please tell me the time"]) == 0
    told = capsys.readouterr().out
    assert "taken as: tell me the time" in told
    assert "clock.skill:time_here, as written" in told
