"""The first ten minutes, typed as they are written, in a clean environment; and the wheel alone, without the source."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 600.0


def clean_environment(home: Path) -> dict[str, str]:
    """What a new user has; where packages come from, and which ports are free, is this machine's business."""
    settings = home / ".config" / "hark" / "hark.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("[bus]\nport = 0\n")
    registries = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "SSL_"))}
    return {**registries, "HOME": str(home), "PATH": "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}


def run(command: list[str], environment: dict[str, str], cwd: Path) -> str:
    done = subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files of the repository, and nothing that was made in it."""
    listed = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    ).stdout.decode()
    folder = tmp_path / "clone"
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).exists() and not name.startswith(("tests/", "benchmarks/")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def test_the_ten_minutes_are_as_written(checkout: Path, tmp_path: Path) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / "start.md").read_text(), re.DOTALL)
    script = "set -eu\n" + "".join(f"{block}echo == end of block\n" for block in blocks)
    environment = {**clean_environment(tmp_path), "PYTHON": sys.executable}
    shown = run(["sh", "-c", script], environment, checkout).split("== end of block\n")
    assert "That is 144." in shown[0]
    assert shown[1].endswith("That is 144.\n")
    assert shown[2].startswith('"what is 12 times 12"')
    assert shown[3].endswith("Of course.\n")


def test_the_wheel_alone_works_in_an_empty_environment(tmp_path: Path) -> None:
    environment = {**clean_environment(tmp_path), "PYTHONPATH": ""}
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "wheels")]
    run(build, {**os.environ, **environment}, ROOT)
    [wheel] = (tmp_path / "wheels").glob("hark_voice-*.whl")
    run([sys.executable, "-m", "venv", str(tmp_path / "venv")], environment, tmp_path)
    python, hark = tmp_path / "venv" / "bin" / "python", tmp_path / "venv" / "bin" / "hark"
    run([str(python), "-m", "pip", "install", "--quiet", str(wheel)], environment, tmp_path)
    assert "That is 144." in run(["sh", "-c", f"echo what is 12 times 12 | {hark} run"], environment, tmp_path)
    assert "Timer set for 5 minutes." in run([str(hark), "say", "set a timer for five minutes"], environment, tmp_path)
    run([str(hark), "doctor"], environment, tmp_path)
    run([str(hark), "new", "skill", "kitchen-light", "--into", str(tmp_path / "light")], environment, tmp_path)
    # From the folder of the wheel, as where no registry has it.
    install = [str(hark), "install", str(tmp_path / "light"), "--find-links", str(tmp_path / "wheels")]
    run(install, environment, tmp_path)
    assert run([str(hark), "say", "greet anna"], environment, tmp_path).strip()
