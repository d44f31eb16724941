"""Skills as packages: those of Hark in its own environment, those of OVOS each in an environment of its own.

The dependencies of OVOS's two lines, and of old skills, do not fit into one environment.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Final, Literal

import msgspec

from hark.bridges.opm.catalogue import skills as ovos_skills
from hark.errors import UserError
from hark.hosting.discovery import GROUPS

LAUNCHER: Final = "ovos-skill-launcher"
"""The program, of ovos-workshop, that runs one skill."""
_FRAMEWORK: Final = ("ovos-workshop>=7", "setuptools<81")
"""What every skill of OVOS needs: many import `pkg_resources`, which newer setuptools have no more."""
_LONGEST: Final = 900.0
"""Seconds an installation may take: skills of OVOS bring many packages."""


class SkillPackage(msgspec.Struct, frozen=True, kw_only=True):
    """An installed package with skills."""

    name: str
    version: str
    origin: Literal["hark", "ovos"]
    skill_ids: list[str]
    enabled: bool = True
    requirement: str = ""
    """What it was installed by: a name, perhaps with a version, or a path."""


class SkillPackages:
    """The packages that are installed, as `packages.json` in a folder of the state directory lists them."""

    def __init__(self, state: Path) -> None:
        self.folder = state.absolute() / "skills"  # programs in it are started from anywhere
        self._file = self.folder / "packages.json"

    def all(self) -> list[SkillPackage]:
        """Those of OVOS, and those of Hark in this environment."""
        return [*self.of_ovos(), *_own_packages()]

    def of_ovos(self) -> list[SkillPackage]:
        """Skills of OVOS, each with an environment of its own."""
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=list[SkillPackage])
        except FileNotFoundError:
            return []
        except (OSError, msgspec.DecodeError) as error:
            raise UserError(f"{self._file} cannot be read: {error}; remove it, and install the skills again") from None

    def environment(self, package: SkillPackage) -> Path:
        """The folder of its environment."""
        return self.folder / package.name

    def launcher(self, package: SkillPackage) -> Path:
        """The program that runs its skills."""
        return self.environment(package) / "bin" / LAUNCHER

    def install(self, requirement: str, *, prerelease: bool = False) -> SkillPackage:
        """Install a package, or replace the version that is there; raises `UserError`, with everything undone."""
        self.folder.mkdir(parents=True, exist_ok=True)
        staged = self.folder / ".new"
        shutil.rmtree(staged, ignore_errors=True)
        try:
            _make_environment(staged)
            before = set(_names(staged))
            pip_install(staged / "bin" / "python", [requirement], prerelease=prerelease)
            made = self._look_at(staged, requirement, before)
            if made.origin == "hark":
                pip_install(Path(sys.executable), [requirement], prerelease=prerelease)
                return made
            # Scripts name the Python of their environment by its path: it is made again where it stays.
            target = self.environment(made)
            shutil.rmtree(target, ignore_errors=True)
            _make_environment(target)
            _install_skill(target / "bin" / "python", requirement, prerelease=prerelease)
        finally:
            shutil.rmtree(staged, ignore_errors=True)
        if not self.launcher(made).exists():
            shutil.rmtree(self.environment(made), ignore_errors=True)
            raise UserError(f"{made.name} needs a version of ovos-workshop that has no {LAUNCHER}")
        self._keep([*(one for one in self.of_ovos() if one.name != made.name), made])
        return made

    def remove(self, name: str) -> SkillPackage:
        """Remove a package with its environment."""
        package = self.named(name)
        if package.origin == "hark":
            _uninstall(package.name)
            return package
        self._keep([one for one in self.of_ovos() if one.name != package.name])
        shutil.rmtree(self.environment(package), ignore_errors=True)
        return package

    def set_enabled(self, name: str, enabled: bool) -> SkillPackage:
        """Have a skill of OVOS run, or not, from the next start on."""
        package = self.named(name)
        if package.origin == "hark":
            ids = msgspec.json.encode(package.skill_ids).decode()
            raise UserError(
                f"{package.name} runs in Hark itself: disable its skills in the settings, [deny] skills = {ids}"
            )
        changed = msgspec.structs.replace(package, enabled=enabled)
        self._keep([changed if one.name == package.name else one for one in self.of_ovos()])
        return changed

    def named(self, name: str) -> SkillPackage:
        """The package of this name, or with a skill of this id."""
        for one in self.all():
            if _same(one.name, name) or name in one.skill_ids:
                return one
        known = ", ".join(one.name for one in self.all()) or "none"
        raise UserError(f"{name} is not installed; installed packages with skills: {known}")

    def _look_at(self, environment: Path, requirement: str, before: set[str]) -> SkillPackage:
        """The package that was asked for, as it is in this environment."""
        place = [str(_library(environment))]
        offered: dict[str, tuple[str, list[str]]] = {}
        for package, version, skill_id in ovos_skills(place):
            offered.setdefault(package, (version, []))[1].append(skill_id)
        wanted = _asked_for(requirement, offered)
        if wanted is not None:
            version, ids = offered[wanted]
            return SkillPackage(
                name=wanted, version=version, origin="ovos", skill_ids=sorted(ids), requirement=requirement
            )
        for one in metadata.distributions(path=place):
            if one.metadata["Name"] not in before and {point.group for point in one.entry_points} & {*GROUPS}:
                return _own(one, requirement)
        raise UserError(f"{requirement} has neither a skill of OVOS nor a plugin of Hark")

    def _keep(self, packages: list[SkillPackage]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        written = self._file.with_suffix(".new")
        written.write_bytes(msgspec.json.format(msgspec.json.encode(packages)))
        written.replace(self._file)


def _asked_for(requirement: str, offered: dict[str, tuple[str, list[str]]]) -> str | None:
    named = [name for name in offered if _same(requirement, name) or _same(_bare(requirement), name)]
    # A path or an address names no package.
    return next(iter(named or sorted(offered)), None)


def _bare(requirement: str) -> str:
    for sign in "=<>!~[;@ ":
        requirement = requirement.partition(sign)[0]
    return requirement


def _same(one: str, other: str) -> bool:
    return one.lower().replace("_", "-") == other.lower().replace("_", "-")


def _own_packages() -> Iterator[SkillPackage]:
    """Packages of Hark's plugins in this environment."""
    for package in metadata.distributions():
        if {point.group for point in package.entry_points} & {*GROUPS}:
            yield _own(package, package.metadata["Name"])


def _own(package: metadata.Distribution, requirement: str) -> SkillPackage:
    return SkillPackage(
        name=package.metadata["Name"],
        version=package.version,
        origin="hark",
        skill_ids=sorted(point.name for point in package.entry_points if point.group in GROUPS),
        requirement=requirement,
    )


def _library(environment: Path) -> Path:
    return next(environment.glob("lib/python3*/site-packages"))


def _names(environment: Path) -> Iterator[str]:
    for package in metadata.distributions(path=[str(_library(environment))]):
        yield package.metadata["Name"]


def _make_environment(folder: Path) -> None:
    uv = shutil.which("uv")
    if uv is not None:
        _run([uv, "venv", "--quiet", "--python", sys.executable, str(folder)])
    else:
        _run([sys.executable, "-m", "venv", str(folder)])


def pip_install(python: Path, requirements: list[str], *, prerelease: bool) -> None:
    uv = shutil.which("uv")
    if uv is not None:
        more = ["--prerelease", "allow"] if prerelease else []
        _run([uv, "pip", "install", "--quiet", "--upgrade", "--python", str(python), *more, *requirements])
        return
    more = ["--pre"] if prerelease else []
    quiet = ["--quiet", "--disable-pip-version-check", "--upgrade"]
    _run([str(python), "-m", "pip", "install", *quiet, *more, *requirements])


def _install_skill(python: Path, requirement: str, *, prerelease: bool) -> None:
    """Install a skill of OVOS with the framework, which many skills need and do not name."""
    try:
        pip_install(python, [requirement, *_FRAMEWORK], prerelease=prerelease)
    except UserError:  # an old skill, which admits an old framework only
        pip_install(python, [requirement, "ovos-workshop", *_FRAMEWORK[1:]], prerelease=prerelease)


def _uninstall(name: str) -> None:
    uv = shutil.which("uv")
    if uv is not None:
        _run([uv, "pip", "uninstall", "--quiet", "--python", sys.executable, name])
    else:
        _run([sys.executable, "-m", "pip", "uninstall", "--quiet", "--yes", name])


def _run(command: list[str]) -> None:
    try:
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=_LONGEST)  # noqa: S603
    except subprocess.CalledProcessError as error:
        said = "\n".join((error.stderr or error.stdout or "").strip().splitlines()[-12:])
        raise UserError(f"{' '.join(command[:3])} failed:\n{said}") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"{command[0]} failed: {error}") from None
