"""Which plugins a process loads."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hark.app import plugin_set
from hark.app.plugin_set import plugins
from hark.builtin import DEFAULT_PLUGINS
from hark.hosting import Refusal
from hark.plugins import Plugin


def ids(*, installed: bool) -> list[str]:
    found = plugins(installed=installed)
    return [plugin.id if isinstance(plugin, Plugin) else plugin.name for plugin in found]


BUILTIN = [plugin.id for plugin in DEFAULT_PLUGINS]


def install(place: Path, name: str, entry_points: str) -> None:
    """Put a package's metadata where Python looks for it."""
    directory = place / f"{name}-1.0.dist-info"
    directory.mkdir(parents=True)
    (directory / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (directory / "entry_points.txt").write_text(entry_points)


def test_plugins_of_installed_packages_are_found_and_can_be_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "offers", "[hark.skill]\nmissing = no_such_module_anywhere:Skill\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    assert ids(installed=True) == [*BUILTIN, "missing"]
    assert ids(installed=False) == BUILTIN


def test_the_slow_search_is_avoided_where_no_package_has_plugins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def discover(_groups: object) -> list[Refusal]:
        raise AssertionError("not needed")

    install(tmp_path, "other", "[console_scripts]\nother = other:main\n")
    (tmp_path / "bare-1.0.dist-info").mkdir()
    monkeypatch.setattr(plugin_set, "discover", discover)
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "missing"), ""])
    monkeypatch.chdir(tmp_path)
    assert ids(installed=True) == BUILTIN


def test_an_archive_is_left_to_the_slow_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "some.zip"
    archive.write_bytes(b"")
    monkeypatch.setattr(plugin_set, "discover", lambda _groups: [Refusal("hark.skill", "from a search", "")])
    monkeypatch.setattr(sys, "path", [str(archive)])
    assert ids(installed=True) == [*BUILTIN, "from a search"]
