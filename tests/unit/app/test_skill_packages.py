"""Skills as packages: a small skill of OVOS, installed from a folder without any network."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from flow.hark_process import eventually
from hark.app import skill_packages
from hark.app.processes.skill_processes import SkillProcesses
from hark.app.settings.tables import BusTable
from hark.app.skill_packages import SkillPackage, SkillPackages
from hark.cli import main
from hark.errors import UserError
from hark.model import SystemClock


@pytest.fixture
def packages(tmp_path: Path) -> SkillPackages:
    """One skill of OVOS whose launcher writes down how it was started, and waits."""
    made = SkillPackages(tmp_path / "state")
    package = SkillPackage(name="ovos-skill-x", version="1.0", origin="ovos", skill_ids=["x.someone"])
    launcher = made.launcher(package)
    launcher.parent.mkdir(parents=True)
    launcher.write_text(f'#!/bin/sh\necho "$1 $XDG_CONFIG_HOME $$" >> {tmp_path}/started\nexec sleep 60\n')
    launcher.chmod(0o755)
    (made.folder / "packages.json").write_text(
        '[{"name": "ovos-skill-x", "version": "1.0", "origin": "ovos", "skill_ids": ["x.someone"]}]'
    )
    return made


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


async def test_a_skill_is_started_restarted_and_stopped(
    packages: SkillPackages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    processes = SkillProcesses(packages, BusTable(port=9_191), SystemClock())
    processes.start()
    assert processes.names == ["x.someone"]
    await asyncio.to_thread(eventually, lambda: len(lines(tmp_path / "started")) == 1)
    first = lines(tmp_path / "started")[0].split()
    os.kill(int(first[-1]), signal.SIGKILL)
    await asyncio.to_thread(eventually, lambda: len(lines(tmp_path / "started")) == 2)
    second = lines(tmp_path / "started")[1].split()
    assert first[:2] == second[:2] == ["x.someone", str(packages.folder / "config")]
    assert '"port": 9191' in "".join(lines(packages.folder / "config" / "mycroft" / "mycroft.conf"))
    await processes.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(int(second[-1]), 0)


async def test_a_disabled_skill_is_not_started(packages: SkillPackages, tmp_path: Path) -> None:
    assert not packages.set_enabled("x.someone", False).enabled
    processes = SkillProcesses(packages, BusTable(), SystemClock())
    processes.start()
    assert processes.names == []
    assert packages.set_enabled("ovos_skill_x", True).enabled
    await processes.stop()


def test_packages_are_listed_and_removed(packages: SkillPackages, capsys: pytest.CaptureFixture[str]) -> None:
    state = str(packages.folder.parent)
    assert main(["skills", "list", "--state", state]) == 0
    assert "ovos-skill-x" in capsys.readouterr().out
    assert main(["skills", "remove", "ovos-skill-x", "--state", state]) == 0
    assert packages.of_ovos() == []
    assert not (packages.folder / "ovos-skill-x").exists()
    assert main(["skills", "remove", "ovos-skill-x", "--state", state]) == 2
    assert "is not installed" in capsys.readouterr().err


def test_an_installation_that_fails_leaves_nothing(
    packages: SkillPackages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise UserError("no such package")

    monkeypatch.setattr(skill_packages, "pip_install", fails)
    monkeypatch.setattr(
        skill_packages, "_make_environment", lambda folder: (folder / "lib/python3.0/site-packages").mkdir(parents=True)
    )
    with pytest.raises(UserError, match="no such package"):
        packages.install("ovos-skill-y")
    assert [one.name for one in packages.of_ovos()] == ["ovos-skill-x"]
    assert not (packages.folder / ".new").exists()
