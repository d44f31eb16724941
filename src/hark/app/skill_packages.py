"""Skills as packages: those of Hark in its own environment, those of OVOS each in an environment of its own.

The dependencies of OVOS's two lines, and of old skills, do not fit into one environment.
"""

from __future__ import annotations

import fcntl
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from secrets import token_hex
from typing import Final, Literal

import msgspec

from hark import hints
from hark.bridges.opm.catalogue import SKILL_GROUPS
from hark.bridges.opm.catalogue import skills as ovos_skills
from hark.errors import UserError
from hark.hosting.discovery import GROUPS

LAUNCHER: Final = "ovos-skill-launcher"
"""The program, of ovos-workshop, that runs one skill."""
_FRAMEWORK: Final = ("ovos-workshop>=7", "ovos-plugin-manager", "setuptools<81")
"""What every skill of OVOS needs, also where it does not say so: old frameworks do not name the plugin manager, and
many skills import `pkg_resources`, which newer setuptools have no more."""
_TRIAL: Final = f"""
import sys, ovos_workshop.skill_launcher
from importlib.metadata import entry_points
for group in {SKILL_GROUPS}:
    for point in entry_points(group=group):
        if point.name in sys.argv[1:]:
            point.load()
"""
"""What a launcher does first. Where it fails, the launcher only says that it does not know the skill."""
_STAGED: Final = ".staged-"
"""How the names of environments begin that are about to come, or to go."""
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

    @property
    def source(self) -> str:
        """Where the newest version is: the path or address it was installed from, else its name."""
        return self.requirement if "/" in self.requirement or self.requirement.startswith(".") else self.name

    @property
    def is_prerelease(self) -> bool:
        return re.search(r"\d(a|b|rc|\.dev)\d", self.version) is not None


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

    def launcher(self, package: SkillPackage) -> list[Path]:
        """The program that runs its skills, by its Python: the program itself names the place where it was made."""
        programs = self.environment(package) / "bin"
        return [programs / "python", programs / LAUNCHER]

    def install(self, requirement: str, *, prerelease: bool = False) -> SkillPackage:
        """Install a package, or replace the version that is there; raises `UserError`, with nothing changed."""
        with self._alone():
            # Named anew each time: the installer of a process that was killed may still write to its own.
            staged, replaced = (self.folder / f"{_STAGED}{token_hex(4)}" for _ in range(2))
            try:
                made = _installed(staged, requirement, prerelease=prerelease)
                if made.origin == "hark":
                    pip_install(Path(sys.executable), [requirement], prerelease=prerelease)
                    return made
                installed = self.of_ovos()
                others = [one for one in installed if one.name != made.name]
                is_enabled = all(one.enabled for one in installed if one.name == made.name)
                made = msgspec.structs.replace(made, enabled=is_enabled)
                if self.environment(made).exists():
                    self.environment(made).rename(replaced)
                staged.rename(self.environment(made))
                self._keep([*others, made])
            finally:  # also after Ctrl-C
                self._remove_staged()
        return made

    def remove(self, name: str) -> SkillPackage:
        """Remove a package with its environment."""
        package = self.named(name)
        if package.origin == "hark":
            _uninstall(package.name)
            return package
        with self._alone():
            self._keep([one for one in self.of_ovos() if one.name != package.name])
            shutil.rmtree(self.environment(package), ignore_errors=True)
        return package

    def set_enabled(self, name: str, enabled: bool) -> SkillPackage:
        """Have a skill of OVOS run, or not, from the next start on."""
        package = self.named(name)
        if package.origin == "hark":
            listed = hints.hark("doctor")
            raise UserError(
                f"{package.name} runs in Hark itself: name its skills, which {listed} lists, in [deny] skills"
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

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other processes from installing and removing meanwhile."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "packages.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UserError("another process is installing or removing skills; wait until it is done") from None
            self._remove_staged()  # what a process left that was killed
            yield

    def _remove_staged(self) -> None:
        for place in self.folder.glob(f"{_STAGED}*"):
            shutil.rmtree(place, ignore_errors=True)

    def _keep(self, packages: list[SkillPackage]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        written = self._file.with_suffix(".new")
        written.write_bytes(msgspec.json.format(msgspec.json.encode(packages)))
        written.replace(self._file)


def _installed(place: Path, requirement: str, *, prerelease: bool) -> SkillPackage:
    """Install a package in an environment of its own, with the framework if it has skills of OVOS, and try it."""
    _make_environment(place)
    python, before = place / "bin" / "python", {one.metadata["Name"] for one in _in(place)}
    pip_install(python, [requirement], prerelease=prerelease, dependencies=False)
    name = next((one.metadata["Name"] for one in _in(place) if one.metadata["Name"] not in before), requirement)
    skill_ids = sorted(skill.skill_id for skill in ovos_skills([str(_library(place))]))
    if not skill_ids:
        for one in _in(place):
            if one.metadata["Name"] == name and {point.group for point in one.entry_points} & {*GROUPS}:
                return _own(one, requirement)
        raise UserError(f"{name} has neither a skill of OVOS nor a plugin of Hark")
    _install_skill(python, requirement, prerelease=prerelease)
    version = next(one.version for one in _in(place) if one.metadata["Name"] == name)
    if not (place / "bin" / LAUNCHER).exists():
        raise UserError(f"{name} needs a version of ovos-workshop that has no {LAUNCHER}")
    try:
        _run([str(python), "-c", _TRIAL, *skill_ids], f"{name} {version} cannot be loaded", lines=1)
    except UserError as error:
        raise UserError(f"{error}; nothing was changed") from None
    return SkillPackage(name=name, version=version, origin="ovos", skill_ids=skill_ids, requirement=requirement)


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
            address = msgspec.json.decode(package.read_text("direct_url.json") or "{}").get("url")
            yield _own(package, address or package.metadata["Name"])


def _own(package: metadata.Distribution, requirement: str) -> SkillPackage:
    return SkillPackage(
        name=package.metadata["Name"],
        version=package.version,
        origin="hark",
        skill_ids=sorted(map(_plugin_id, (point for point in package.entry_points if point.group in GROUPS))),
        requirement=requirement,
    )


def _plugin_id(point: metadata.EntryPoint) -> str:
    """The id that settings name a plugin by; for one that cannot be imported, the name of its entry point."""
    try:
        return str(point.load().id)
    except BaseException:  # noqa: BLE001 - importing runs a package's code, which may raise anything
        return point.name


def _library(environment: Path) -> Path:
    return next(environment.glob("lib/python3*/site-packages"))


def _in(environment: Path) -> list[metadata.Distribution]:
    return list(metadata.distributions(path=[str(_library(environment))]))


def _make_environment(folder: Path) -> None:
    uv = shutil.which("uv")
    make = [uv, "venv", "--quiet", "--python"] if uv is not None else []
    _run([*make, sys.executable, *([] if make else ["-m", "venv"]), str(folder)], "no environment could be made")


def pip_install(python: Path, requirements: list[str], *, prerelease: bool, dependencies: bool = True) -> None:
    uv, alone = shutil.which("uv"), [] if dependencies else ["--no-deps"]
    if uv is not None:
        more = [*alone, *(["--prerelease", "allow"] if prerelease else [])]
        command = [uv, "pip", "install", "--quiet", "--upgrade", "--python", str(python)]
    else:
        more = [*alone, *(["--pre"] if prerelease else [])]
        command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]
    _run([*command, *more, *requirements], f"{requirements[0]} cannot be installed")


def _install_skill(python: Path, requirement: str, *, prerelease: bool) -> None:
    """Install a skill of OVOS with the framework, which many skills need and do not name."""
    try:
        pip_install(python, [requirement, *_FRAMEWORK], prerelease=prerelease)
    except UserError:  # an old skill, which admits an old framework only
        pip_install(python, [requirement, "ovos-workshop", *_FRAMEWORK[1:]], prerelease=prerelease)


def _uninstall(name: str) -> None:
    uv = shutil.which("uv")
    pip = [uv, "pip"] if uv is not None else [sys.executable, "-m", "pip"]
    more = ["--python", sys.executable] if uv is not None else ["--yes"]
    _run([*pip, "uninstall", "--quiet", *more, name], f"{name} cannot be removed")


def _run(command: list[str], failure: str, *, lines: int = 12) -> None:
    """Run a program; where it fails, raise `UserError` with the last lines of what it said."""
    try:
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=_LONGEST)  # noqa: S603
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout or "").strip().splitlines()[-lines:]
        raise UserError(f"{failure}:{' ' if lines == 1 else chr(10)}{chr(10).join(said)}") from None
    except subprocess.TimeoutExpired:
        raise UserError(f"{failure}: it took more than {_LONGEST / 60:.0f} minutes") from None
    except OSError as error:
        raise UserError(f"{failure}: {error}") from None
