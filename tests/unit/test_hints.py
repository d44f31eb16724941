"""Commands in messages work as they are printed."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

import hark
from hark import hints
from hark.cli.parser import loaded, make_parser


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A virtual environment with hark and pip in it, not on the PATH."""
    folder = tmp_path / "a venv" / "bin"
    folder.mkdir(parents=True)
    for name in ("python", "hark", "pip"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    return folder


def test_on_the_path_it_is_a_word(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(environment))
    assert hints.hark("why 3f2a") == "hark why 3f2a"
    assert hints.install_extra("nats") == "pip install 'hark-voice[nats]'"


def test_a_link_on_the_path_counts(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "hark").symlink_to(environment / "hark")
    assert hints.hark("run") == "hark run"


def test_elsewhere_it_is_a_path(environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hints.hark("run") == f"'{environment}/hark' run"
    monkeypatch.chdir(tmp_path)
    assert hints.hark("run") == "'a venv/bin/hark' run"
    assert hints.hark("run", anywhere=True) == f"'{environment}/hark' run"
    assert hints.install_extra("nats") == "'a venv/bin/python' -m pip install 'hark-voice[nats]'"


def test_another_hark_on_the_path_is_not_named(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "hark").write_text("#!/bin/sh\n")
    (tmp_path / "hark").chmod(0o755)
    assert hints.hark("run") == f"'{environment}/hark' run"


def test_without_a_command_it_is_a_module(environment: Path) -> None:
    (environment / "hark").unlink()
    assert hints.hark("run") == f"'{environment}/python' -m hark run"


def test_an_environment_without_pip_is_filled_by_uv(
    environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "uv").write_text("#!/bin/sh\n")
    (tmp_path / "uv").chmod(0o755)
    monkeypatch.setattr(hints, "find_spec", lambda _name: None)
    assert hints.install("-e .") == f"uv pip install --python '{environment}/python' -e ."


def test_no_message_has_a_command_of_its_own() -> None:
    """Errors and notes take commands from `hints`; help pages and comments in files may name them."""
    commands = "|".join(sorted({name.split()[1] for name in loaded(make_parser("0")) if " " in name}))
    command = re.compile(rf"pip install|\bhark ({commands})\b")
    root = Path(hark.__file__).parent
    found = [
        f"{file.relative_to(root)}:{call.lineno}"
        for file in root.rglob("*.py")
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and _name_of(call) in ("UserError", "print_note", "print", "Rejected", "RuntimeError")
        for part in ast.walk(call)
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and command.search(part.value)
    ]
    assert found == []


def _name_of(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def test_the_address_of_a_bus_is_shown_without_its_secrets() -> None:
    assert hints.bus_address("ws://127.0.0.1:8181/core") == "ws://127.0.0.1:8181/core"
    assert hints.bus_address(f"wss://me:word@hub.local:8182/core/{'k' * 43}") == "wss://hub.local:8182/core/…"
