"""`hark new` writes a package that installs into a clean venv, is found by its entry point, and passes its test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

import hark
from hark.cli import main
from hark.errors import UserError
from hark.tools.scaffold import KINDS, PackageNames


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a venv of its own, which sees Hark and the tools that build and test packages, from here."""
    folder = tmp_path_factory.mktemp("clean") / "venv"
    venv.create(folder, with_pip=False)
    tools = "\n".join(path for path in sys.path if path.endswith("site-packages"))
    source = Path(hark.__file__).parents[1]
    (next(folder.glob("lib/python*/site-packages")) / "tools.pth").write_text(f"{tools}\n{source}\n")
    return folder / "bin" / "python"


def _run(*command: object, cwd: Path | None = None, **environment: str) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=cwd,
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **environment},
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_package_installs_is_found_and_passes_its_test(kind: str, clean: Path, tmp_path: Path) -> None:
    folder = tmp_path / "package"
    what, _, chain = kind.partition("-")
    assert main(["new", what, *(["--kind", chain] if chain else []), "kitchen timer", "--into", str(folder)]) == 0
    pip = (sys.executable, "-m", "pip", "--python", clean)
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "wheels", cwd=folder)
    (wheel,) = (tmp_path / "wheels").glob("*.whl")
    _run(*pip, "install", "--quiet", "--no-deps", "--no-index", "--force-reinstall", wheel)
    names = PackageNames.of("kitchen timer", kind)
    places = {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    report = json.loads(_run(clean, "-m", "hark", "doctor", "--json", **places))
    loaded = [member["id"] for chain in report["chains"] for member in chain["members"]]
    loaded += [skill["member"]["id"] for skill in report["skills"]] + report["never_asked"]
    assert names.id in loaded
    assert report["missing"] == []
    tests = _run(clean, "-m", "pytest", "-q", "--rootdir", folder, "-c", folder / "pyproject.toml", folder)
    assert " passed" in tests, tests
    assert "failed" not in tests, tests
    assert "error" not in tests, tests
    _run(*pip, "uninstall", "--quiet", "-y", names.package)


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "here").mkdir()
    assert main(["new", "skill", "timer", "--into", str(tmp_path / "here")]) == 2
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize("typed", ["", "...", "9lives", "ünï"])
def test_what_cannot_be_a_name_is_refused_with_an_example(typed: str) -> None:
    with pytest.raises(UserError, match="kitchen-timer"):
        PackageNames.of(typed, "skill")


@pytest.mark.parametrize("typed", ["kitchen timer", "KitchenTimer", "kitchen-timer", "hark-kitchen_timer"])
def test_however_it_is_typed_the_names_are_the_same(typed: str) -> None:
    expected = PackageNames("hark-kitchen-timer", "hark_kitchen_timer", "KitchenTimer", "kitchen-timer.skill")
    assert PackageNames.of(typed, "skill") == expected


def test_the_wheel_has_every_template(tmp_path: Path) -> None:
    source = Path(hark.__file__).parents[2]
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path, cwd=source)
    (wheel,) = tmp_path.glob("*.whl")
    folder = source / "src" / "hark" / "tools" / "scaffold" / "templates"
    templates = {str(path.relative_to(source / "src")) for path in folder.rglob("*") if path.is_file()}
    assert templates
    assert templates <= set(ZipFile(wheel).namelist())
