"""Skills as packages: a small skill of OVOS, installed from a folder without any network."""

from __future__ import annotations

import asyncio
import fcntl
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
    python, launcher = made.launcher(package)
    launcher.parent.mkdir(parents=True)
    python.symlink_to("/bin/sh")  # it runs the launcher
    launcher.write_text(f'echo "$1 $XDG_CONFIG_HOME $$" >> {tmp_path}/started\nexec sleep 60\n')
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
    assert main(["skills", "update", "--state", state]) == 0
    assert "No packages" in capsys.readouterr().out


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What can be installed: entry points by name and version. Nothing is downloaded, and skills cannot be imported."""
    offered: dict[str, str] = {}

    def make_environment(folder: Path) -> None:
        (folder / "lib/python3.0/site-packages").mkdir(parents=True)
        (folder / "bin").mkdir()

    def pip_install(python: Path, requirements: list[str], **_: object) -> None:
        requirement = requirements[0]
        if requirement not in offered:
            raise UserError("no such package")
        name, _sign, version = requirement.partition("==")
        info = python.parents[1] / f"lib/python3.0/site-packages/{name}.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version or '1.0'}\n")
        (info / "entry_points.txt").write_text(offered[requirement])
        (python.parent / skill_packages.LAUNCHER).touch()

    def run(command: list[str], failure: str, **_: object) -> None:
        if command[-1] == "broken.someone":
            raise UserError(f"{failure}: ModuleNotFoundError: No module named 'mycroft'")
        if command[-1] == "slow.someone":
            raise KeyboardInterrupt

    monkeypatch.setattr(skill_packages, "_make_environment", make_environment)
    monkeypatch.setattr(skill_packages, "pip_install", pip_install)
    monkeypatch.setattr(skill_packages, "_run", run)
    return offered


def skill(name: str) -> str:
    return f"[ovos.plugin.skill]\n{name} = m:S\n"


def installed(packages: SkillPackages) -> dict[str, str]:
    """The versions that are listed, each with an environment; there is nothing else in the folder."""
    places = {place.name for place in packages.folder.iterdir() if place.is_dir()}
    assert places == {one.name for one in packages.of_ovos()}
    return {one.name: one.version for one in packages.of_ovos()}


@pytest.mark.parametrize(
    ("points", "complaint"),
    [
        ("", "no such package"),
        ("[console_scripts]\nx = m:S\n", "neither a skill of OVOS nor a plugin of Hark"),
        (
            skill("broken.someone"),
            "cannot be loaded: ModuleNotFoundError: No module named 'mycroft'; nothing was changed",
        ),
        (skill("slow.someone"), ""),
    ],
)
@pytest.mark.parametrize("requirement", ["ovos-skill-y", "ovos-skill-x==2.0"])
def test_an_installation_that_fails_changes_nothing(
    points: str, complaint: str, requirement: str, packages: SkillPackages, index: dict[str, str]
) -> None:
    if points:
        index[requirement] = points
    with pytest.raises(UserError if complaint else KeyboardInterrupt, match=complaint or None):
        packages.install(requirement)
    assert installed(packages) == {"ovos-skill-x": "1.0"}
    assert all(one.exists() for one in packages.launcher(packages.named("x.someone")))


def test_a_version_replaces_the_one_before_and_stays_disabled(packages: SkillPackages, index: dict[str, str]) -> None:
    packages.set_enabled("ovos-skill-x", False)
    index["ovos-skill-x==2.0"] = skill("x.someone")
    assert not packages.install("ovos-skill-x==2.0").enabled
    assert installed(packages) == {"ovos-skill-x": "2.0"}


def test_what_a_killed_installation_left_is_removed(packages: SkillPackages, index: dict[str, str]) -> None:
    left = packages.folder / ".staged-new"
    left.mkdir()
    index["ovos-skill-y"] = skill("y.someone")
    assert packages.install("ovos-skill-y").skill_ids == ["y.someone"]
    assert installed(packages) == {"ovos-skill-x": "1.0", "ovos-skill-y": "1.0"}


@pytest.mark.parametrize(
    ("requirement", "source"),
    [("ovos-skill-x==1.0", "ovos-skill-x"), ("./my-skill", "./my-skill"), ("git+https://x/y", "git+https://x/y")],
)
def test_the_newest_version_comes_from_where_the_package_came_from(requirement: str, source: str) -> None:
    package = SkillPackage(name="ovos-skill-x", version="1.0", origin="ovos", skill_ids=[], requirement=requirement)
    assert package.source == source


def test_one_process_installs_at_a_time(packages: SkillPackages, index: dict[str, str]) -> None:
    with (packages.folder / "packages.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(UserError, match="another process"):
            packages.install("ovos-skill-y")
