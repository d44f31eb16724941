"""Hark under systemd."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from hark.app import systemd
from hark.app.systemd import Systemd, UnitOptions, closed_folder, quoted, unit_text
from hark.cli import main
from hark.errors import UserError

FAKE = """#!/bin/sh
echo "$@" >> "$CALLS"
case "$*" in *is-active*) echo active ;; *broken*) echo "Unit broken" >&2; exit 1 ;; esac
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A systemctl that records what it is asked, on a machine where systemd runs."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "systemctl").write_text(FAKE)
    (folder / "systemctl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(systemd, "RUNNING", tmp_path)
    return tmp_path / "calls"


def test_a_unit_is_installed_reported_and_removed(
    calls: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "my state"
    assert main(["service", "install", "--state", str(state)]) == 0
    unit = tmp_path / "config" / "systemd" / "user" / "hark.service"
    assert f'--state "{state}"' in unit.read_text()
    assert state.stat().st_mode & 0o777 == 0o700
    assert calls.read_text().splitlines() == ["--user daemon-reload", "--user enable --now hark.service"]
    assert main(["service", "status"]) == 0
    assert f"hark.service: active ({unit})" in capsys.readouterr().out
    assert main(["service", "remove"]) == 0
    assert not unit.exists()
    assert main(["service", "status"]) == 1
    assert main(["service", "remove"]) == 2
    assert "is not installed" in capsys.readouterr().err


def test_what_systemd_refuses_is_reported(calls: Path) -> None:
    with pytest.raises(UserError, match=r"systemctl enable broken\.service failed: Unit broken"):
        Systemd(is_system=False).install("broken.service", "", start=False)
    assert calls.exists()


def test_a_machine_without_systemd_gets_another_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(systemd, "RUNNING", tmp_path / "nowhere")
    for action in ("install", "status", "remove"):
        assert main(["service", action]) == 2
        said = capsys.readouterr().err
        assert "systemd does not run on this machine" in said
        assert "hark run --stay" in said


def test_services_and_all_of_them_are_not_one_unit(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["service", "show", "--split", "--service", "act"]) == 2
    assert "choose one" in capsys.readouterr().err
    assert main(["service", "show", "--voice", "--service", "act"]) == 2
    assert "names neither" in capsys.readouterr().err


@pytest.mark.parametrize(
    "more",
    [
        [],
        ["--split"],
        ["--voice"],
        ["--system"],
        ["--system", "--service", "act"],
        ["--service", "hear", "--service", "speak"],
    ],
)
def test_systemd_accepts_every_unit_and_it_is_hardened(
    more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["service", "show", "--state", str(tmp_path / "a state"), *more]) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    for line in (
        "NoNewPrivileges=yes",
        "ProtectSystem=strict",
        "UMask=0077",
        "StandardInput=null",
        "StandardOutput=null",
    ):
        assert line in lines
    assert f'ReadWritePaths="{tmp_path}/a state"' in lines
    assert ("User=hark" in lines) == ("--system" in more)
    verifier = shutil.which("systemd-analyze")
    if verifier is not None:
        unit = tmp_path / "hark-test.service"
        unit.write_text(text)
        done = subprocess.run([verifier, "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False)
        ours = [line for line in done.stderr.splitlines() if "hark-test" in line]
        assert (done.returncode, ours) == (0, [])


def test_a_program_that_the_user_of_the_service_cannot_reach_is_found(tmp_path: Path) -> None:
    program = tmp_path / "home" / "venv" / "bin" / "hark"
    program.parent.mkdir(parents=True)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.getuid():
            folder.chmod(folder.stat().st_mode | 0o001)
    assert closed_folder(program, uid=os.getuid() + 1) is None
    (tmp_path / "home").chmod(0o700)
    assert closed_folder(program, uid=os.getuid() + 1) == tmp_path / "home"
    assert closed_folder(program, uid=os.getuid()) is None


def test_words_of_a_command_mean_the_same_to_systemd() -> None:
    assert quoted("/home/a/100% $HOME") == '"/home/a/100%% $$HOME"'
    assert quoted("/plain/path") == "/plain/path"
    assert quoted('a "b" \\') == '"a \\"b\\" \\\\"'
    with pytest.raises(UserError, match="cannot be part of a unit file"):
        unit_text(UnitOptions(Path("/state\n[Service]\nUser=root")))
