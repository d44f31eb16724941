"""Finding plugins in installed packages, whatever those do when they are imported."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from hark.hosting import Refusal, discover
from hark.plugins import Plugin

SOURCE = """
from hark.plugins import DialogTransformer, PipelinePlugin, Plugin

class Shout(DialogTransformer):
    id = "shout"
    def transform(self, text, ctx):
        return text.upper()

class Asks(PipelinePlugin):
    id = "asks"
    def match(self, utterances, lang, session):
        return None

class Weather(Plugin):
    id = "weather"

class Demanding(Plugin):
    id = "demanding"
    def __init__(self, city):
        self.city = city

class Fatal(Plugin):
    id = "fatal"
    def __init__(self):
        raise SystemExit("not today")

def a_function():
    return Weather()
"""

BAD = {
    "raises_value_error": "raise ValueError('broken on import')",
    "raises_system_exit": "raise SystemExit(1)",
    "raises_keyboard_interrupt": "raise KeyboardInterrupt",
    "does_not_parse": "def (:",
    "needs_something": "import a_package_nobody_has",
    "unprintable": "class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E",
}


@pytest.fixture
def offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets what installed packages offer: by group, entry points as name and value."""
    (tmp_path / "fine_plugins_for_test.py").write_text(SOURCE)
    for name, source in BAD.items():
        (tmp_path / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    groups: dict[str, list[metadata.EntryPoint]] = {}

    def entry_points(*, group: str) -> list[metadata.EntryPoint]:
        return groups.get(group, [])

    monkeypatch.setattr(metadata, "entry_points", entry_points)

    def offer(group: str, **points: str) -> None:
        groups[group] = [metadata.EntryPoint(name, value, group) for name, value in points.items()]

    yield offer
    for name in ("fine_plugins_for_test", *BAD):
        sys.modules.pop(name, None)


def one() -> Plugin | Refusal:
    [found] = discover()
    return found


@pytest.mark.parametrize(
    ("group", "name", "plugin_id"),
    [
        ("hark.transformer.dialog", "Shout", "shout"),
        ("hark.pipeline", "Asks", "asks"),
        ("hark.skill", "Weather", "weather"),
    ],
)
def test_what_is_offered_is_made(offered: Any, group: str, name: str, plugin_id: str) -> None:
    offered(group, it=f"fine_plugins_for_test:{name}")
    plugin = one()
    assert isinstance(plugin, Plugin)
    assert plugin.id == plugin_id


def test_nothing_offered_is_nothing_found(offered: Any) -> None:
    assert list(discover()) == []


@pytest.mark.parametrize("module", BAD)
def test_a_package_that_fails_on_import_is_a_refusal(offered: Any, module: str) -> None:
    offered("hark.skill", broken=f"{module}:Skill")
    refusal = one()
    assert isinstance(refusal, Refusal)
    assert (refusal.kind, refusal.name) == ("hark.skill", "broken")
    assert refusal.reason.startswith("importing it failed: ")
    if module not in ("needs_something",):
        assert f"{module}.py:1" in refusal.where or f"{module}.py:3" in refusal.where


def test_a_missing_package_is_named_in_the_remedy(offered: Any) -> None:
    offered("hark.skill", broken="needs_something:Skill")
    refusal = one()
    assert isinstance(refusal, Refusal)
    assert "'a_package_nobody_has'" in refusal.remedy


@pytest.mark.parametrize(
    "value", ["no_such_module_at_all:X", "fine_plugins_for_test:NoSuchClass", "fine_plugins_for_test"]
)
def test_what_is_not_there_is_a_refusal(offered: Any, value: str) -> None:
    offered("hark.skill", gone=value)
    assert isinstance(one(), Refusal)


def test_what_is_no_plugin_class_is_a_refusal(offered: Any) -> None:
    offered("hark.skill", odd="fine_plugins_for_test:a_function")
    refusal = one()
    assert isinstance(refusal, Refusal)
    assert "is no plugin class" in refusal.reason


@pytest.mark.parametrize(
    ("group", "name"),
    [
        ("hark.transformer.tts", "Shout"),
        ("hark.pipeline", "Shout"),
        ("hark.pipeline", "Weather"),
        ("hark.skill", "Asks"),
        ("hark.skill", "Shout"),
    ],
)
def test_a_plugin_in_the_wrong_group_is_a_refusal(offered: Any, group: str, name: str) -> None:
    offered(group, odd=f"fine_plugins_for_test:{name}")
    refusal = one()
    assert isinstance(refusal, Refusal)
    assert refusal.remedy == "change the group"


@pytest.mark.parametrize(("name", "why"), [("Demanding", "TypeError"), ("Fatal", "SystemExit: not today")])
def test_a_plugin_that_cannot_be_made_is_a_refusal(offered: Any, name: str, why: str) -> None:
    offered("hark.skill", it=f"fine_plugins_for_test:{name}")
    refusal = one()
    assert isinstance(refusal, Refusal)
    assert refusal.reason.startswith(f"creating it failed: {why}")


def test_one_bad_package_does_not_hide_the_others(offered: Any) -> None:
    offered("hark.skill", bad="raises_system_exit:X", good="fine_plugins_for_test:Weather")
    offered("hark.transformer.dialog", good="fine_plugins_for_test:Shout")
    kinds = [type(found).__name__ for found in discover()]
    assert kinds == ["Shout", "Refusal", "Weather"]


def test_metadata_that_cannot_be_read_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def entry_points(*, group: str) -> Any:
        raise OSError("the disk is gone")

    monkeypatch.setattr(metadata, "entry_points", entry_points)
    [refusal] = discover(("hark.skill",))
    assert isinstance(refusal, Refusal)
    assert "the disk is gone" in refusal.reason
