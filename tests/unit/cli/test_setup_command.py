"""hark setup: what it writes into the settings file, and what it leaves alone."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from hark.app.settings import read_settings
from hark.app.settings.edit import with_values
from hark.cli import main

BEFORE = '# mine\n[limits]\nmatch = 3.0 # keep\n\n[home] # here\nnames = [\n  "A",\n  "B",\n]\nclock = 12\n'


def test_options_are_written_and_the_rest_of_the_file_stays(tmp_path: Path) -> None:
    file = tmp_path / "hark.toml"
    file.write_text(BEFORE)
    options = ["--lang", "de-DE", "--place", "Köln", "--name", "Nadia, Computer", "--wake-word", "okay nabu"]
    assert main(["setup", "--yes", "--settings", str(file), "--latitude", "50.9", *options]) == 0
    text = file.read_text("utf-8")
    assert "# mine\n[limits]\nmatch = 3.0 # keep\n" in text
    assert "clock = 12\n" in text
    settings = read_settings(file, named=True)
    assert settings.assistant.lang == "de-DE"
    assert settings.home.names == ("Nadia", "Computer")
    assert (settings.home.place, settings.home.latitude) == ("Köln", 50.9)
    assert settings.wake["main"].phrase == "okay nabu"


@pytest.mark.parametrize("wrong", [["--time-zone", "Mars/Olympus"], ["--latitude", "north"], ["--latitude", "99"]])
def test_a_wrong_value_changes_nothing(tmp_path: Path, wrong: list[str]) -> None:
    file = tmp_path / "hark.toml"
    file.write_text(BEFORE)
    assert main(["setup", "--yes", "--settings", str(file), *wrong]) == 2
    assert file.read_text() == BEFORE


def test_without_a_terminal_it_asks_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "hark.toml"
    assert main(["setup", "--settings", str(file)]) == 2
    assert "--yes" in capsys.readouterr().err
    assert main(["setup", "--first-run", "--settings", str(file)]) == 0
    assert not file.exists()


@pytest.mark.parametrize(("answer", "questions"), [("n", 1), ("", 10)], ids=["declined", "every default kept"])
def test_a_first_run_is_offered_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, questions: int
) -> None:
    file = tmp_path / "hark" / "hark.toml"
    asked: list[str] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda prompt: asked.append(prompt) or answer)
    assert main(["setup", "--first-run", "--settings", str(file)]) == 0
    assert main(["setup", "--first-run", "--settings", str(file)]) == 0
    assert len(asked) == questions
    assert read_settings(file, named=True).home.place == ""


def test_answers_are_asked_for_again_until_they_can_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "hark.toml"
    answers = iter(["", "Boston", "Nope/Zone", "America/New_York", "", "25", "24", "Nadia", "", "", "ollama"])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _prompt: next(answers))
    assert main(["setup", "--settings", str(file)]) == 0
    written = tomllib.loads(file.read_text())
    home = written["home"]
    assert written["plugins"] == {"persona": {"endpoint": "ollama"}}
    assert home == {"place": "Boston", "time_zone": "America/New_York", "clock": 24, "names": ["Nadia"]}


def test_values_go_below_their_header_or_into_a_new_table() -> None:
    text = with_values('[home]\n#place = ""\n', {("home", "place"): "Faro", ("wake", "main", "phrase"): "hey"})
    assert text == '[home]\nplace = "Faro"\n#place = ""\n\n[wake.main]\nphrase = "hey"\n'
