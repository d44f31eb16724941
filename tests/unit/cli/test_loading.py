"""Commands load what they need and no more: that is most of the time they would take."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hark.cli import main


def loaded_by(program: str) -> set[str]:
    untraced = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {program}; print(*sys.modules, file=sys.stderr)"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env=untraced,
    )
    return set(done.stderr.split())


@pytest.mark.parametrize("command", ["say", "why"])
def test_asking_does_not_load_an_assistant(command: str) -> None:
    loaded = loaded_by(f"import hark.cli, hark.cli.{command}")
    assert not loaded & {"asyncio", "hark.app.runtime", "hark.bus", "tomllib", "importlib.metadata"}


def test_a_command_is_loaded_only_when_it_is_used() -> None:
    loaded = loaded_by("import hark.cli, hark.cli.parser as parser; parser.make_parser('1').format_help()")
    commands = {"run", "say", "listen", "devices", "why", "doctor", "new", "convert", "lint", "test", "bus", "token"}
    assert not loaded & {f"hark.cli.{name}" for name in commands}


def test_help_on_running_does_not_load_an_assistant() -> None:
    assert not loaded_by("import hark.cli.run") & {"asyncio", "hark.model", "hark.bus", "tomllib"}


@pytest.mark.parametrize(
    "command",
    ["run", "say", "listen", "devices", "why", "doctor", "new", "convert", "lint", "test", "bus", "token", "settings"],
)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main([command, "--help"])
    shown = capsys.readouterr().out
    assert left.value.code == 0
    assert shown.startswith(f"usage: hark {command} ")
    assert "--verbose" in shown
    assert "example" in shown


@pytest.mark.parametrize(
    ("command", "word"), [(["token"], "ACTION"), (["convert"], "DIRECTION"), (["token", "add"], "NAME")]
)
def test_what_is_missing_is_named_in_plain_words(
    command: list[str], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(command)
    assert left.value.code == 2
    assert word in capsys.readouterr().err
